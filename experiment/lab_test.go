package experiment

import (
	"slices"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/site"
	"tare/test/labtest"
	"tare/wire"
)

// labPlan has the networks of the lab that tests share.
func labPlan() result.Plan {
	return Complete(result.Plan{
		Networks: result.NetworksNamed("veth", "bridge", "route", "vxlan", "macvlan", "nat"), Paths: catalog.Paths(),
		Workloads: []result.WorkloadPlan{{Name: "tcp_rr"}, {Name: "tcp_stream"}}, Axes: result.PlanAxes{"nic": {"full"}}, EncapNIC: []string{"tso"},
	})
}

// TestLabRunsReadTheirPath is one lab, in which whatever needs a kernel is measured, followed,
// examined and at last broken.
func TestLabRunsReadTheirPath(t *testing.T) {
	labtest.NoLeaks(t)
	l, err := site.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	spec := Spec(labPlan(), 2, 2)
	names, more := brokenClusters(spec.Clusters)
	spec.Clusters = append(spec.Clusters, more...)
	if err := l.Build(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	t.Run("each cell is measured", func(t *testing.T) { cellsAreMeasured(t, l) })
	t.Run("interfaces are chosen", func(t *testing.T) { interfacesAreChosen(t, l) })
	t.Run("samples count what was lost", func(t *testing.T) { samplesCountWhatWasLost(t, l) })
	t.Run("hops are named", func(t *testing.T) { hopsAreNamed(t, l) })
	t.Run("the ledger of bridge", func(t *testing.T) { ledgerBalances(t, l, "bridge", catalog.SameHost, "h1/c2", "input") })
	t.Run("the ledger of route", func(t *testing.T) { ledgerBalances(t, l, "route", catalog.CrossHost, "h2", "forward") })
	t.Run("readings show what is on the path", func(t *testing.T) { readingsShowWhatIsOnThePath(t, l) })
	t.Run("broken hops are named", func(t *testing.T) { brokenHopsAreNamed(t, l, names) })
}

// cellsAreMeasured weighs networks with real agents, in slots.
func cellsAreMeasured(t *testing.T, l *site.Lab) {
	plan := labPlan()
	plan.Networks, plan.Paths, plan.EncapNIC = result.NetworksNamed("veth", "bridge"), []string{catalog.SameHost}, nil
	plan.Workloads, plan.Blocks, plan.Looks, plan.Duration, plan.Warmup = plan.Workloads[:1], 3, false, 0.12, 0.03
	res := measuredIn(t, l, plan)
	for _, net := range []string{catalog.Baseline, "veth", "bridge"} {
		cell := cellOf(t, res, net)
		labtest.Equal(t, net+": status "+cell.Reason, cell.Status, result.StatusOK)
		labtest.AtLeast(t, net+": samples", len(cell.Samples), 1)
		for _, s := range cell.Samples {
			labtest.Equal(t, net+": in slots", s.Slots != nil, true)
			labtest.MoreThan(t, net+": round trips", s.Metrics["rate"], 0)
			labtest.AtLeast(t, net+": readings of its path", len(s.Readings), 1)
		}
	}
}

// interfacesAreChosen: a lab of a plan has a tunnel once for each model of the interface, and a
// path of either can be examined.
func interfacesAreChosen(t *testing.T, l *site.Lab) {
	examined := 0
	for _, built := range l.Topology.Clusters {
		if built.Name != "vxlan" && built.Name != "vxlan-tso" {
			continue
		}
		ends := built.Paths[catalog.CrossHost]
		all, err := Examine(t.Context(), l, l.Topology, Asked{Pair: &Pair{From: built.Name + "." + ends.Client, To: built.Name + "." + ends.Server, Path: catalog.CrossHost}})
		if err != nil || len(all) != 1 || all[0].NIC != built.Axes.Text("nic") || len(all[0].Trials) == 0 || all[0].Trials[0].Error != "" {
			t.Errorf("%s with nic %s: %+v: %v", built.Name, built.Axes.Text("nic"), all, err)
		}
		labtest.Equal(t, built.Name+": the machine's table of neighbours was counted", slices.ContainsFunc(all[0].Readings, func(r result.Reading) bool {
			return r.At == "" && r.Source == "/proc/net/stat/arp_cache"
		}), true)
		labtest.Equal(t, built.Name+": MTU within", all[0].Inner, wire.InnerMTU(built.Axes.Count("mtu"), wire.VXLAN()))
		examined++
	}
	labtest.Equal(t, "tunnels that were examined", examined, 2)
}
