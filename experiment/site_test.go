package experiment

import (
	"io"
	"net/netip"
	"testing"
	"testing/synctest"

	"tare/catalog"
	"tare/network"
	"tare/result"
	"tare/site"
	"tare/test/simtest"
)

// simulated runs a test in virtual time, as agents that are simulated need it.
func simulated(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// simPlan weighs veth and bridge in short slots.
func simPlan() result.Plan {
	return Complete(result.Plan{
		Networks: result.NetworksNamed("veth", "bridge"), Paths: []string{catalog.SameHost},
		Workloads: []result.WorkloadPlan{{Name: "tcp_rr"}}, Axes: result.PlanAxes{"nic": {"full"}, "cc": {"cubic"}},
		Blocks: 6, Warmup: 0.002, Duration: 0.020, Seed: 1,
	})
}

// even is a world in which every network is like its host, with little noise.
func even() simtest.World {
	return simtest.World{Value: 50e-6, Block: 0.01, Slot: 0.01, CC: "cubic", Seed: 1}
}

// simRun is a run at simulated places, and what it reported.
type simRun struct {
	Options
	site     *simtest.Site
	saved    []string // Finished of each result that was saved
	progress []Progress
}

func newSimRun(t testing.TB, plan result.Plan, m simtest.Model) *simRun {
	t.Helper()
	run := &simRun{site: newSimSite(t, m)}
	run.Options = Options{
		Site: run.site, Topology: simLab(plan), Tool: result.Tool{Version: "1.2.3"},
		Save: func(res *result.Result) error {
			run.saved = append(run.saved, res.Finished)
			return res.Write(io.Discard)
		},
		Progress: func(p Progress) { run.progress = append(run.progress, p) },
	}
	return run
}

func newSimSite(t testing.TB, m simtest.Model) *simtest.Site {
	s := simtest.New(m)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// simLab is the plan's lab at simulated places.
func simLab(plan result.Plan) site.Topology {
	topology := emptyLab(plan)
	addr := netip.AddrFrom4([4]byte{10, 0, 0, 1})
	for n := range topology.Clusters {
		u := &topology.Clusters[n]
		u.Paths = map[string]network.Ends{}
		for _, path := range catalog.Paths() {
			u.Paths[path] = network.Ends{Client: "h1/c1", Server: "h1/c2", Bind: addr, Dial: addr}
		}
	}
	return topology
}

// mustRun measures a plan in a run.
func (run *simRun) mustRun(t testing.TB, plan result.Plan) *result.Result {
	t.Helper()
	res, err := Run(t.Context(), plan, run.Options)
	if err != nil {
		t.Fatal(err)
	}
	return readable(t, res)
}

// cellOf gives a network's cell.
func cellOf(t testing.TB, res *result.Result, net string) *result.Cell {
	t.Helper()
	for n := range res.Cells {
		if res.Cells[n].Network == net {
			return &res.Cells[n]
		}
	}
	t.Fatalf("no cell of %s", net)
	return nil
}
