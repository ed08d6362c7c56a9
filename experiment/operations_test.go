package experiment

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
	"tare/test/simtest"
	"tare/workload"
)

// containersPlan makes containers on some networks.
func containersPlan(networks, workloads []string, paths ...string) result.Plan {
	p := result.Plan{Networks: result.NetworksNamed(networks...), Paths: paths, Axes: result.PlanAxes{"nic": {"full", "tso"}}, EncapNIC: []string{"plain"}, Seed: 1}
	for _, w := range workloads {
		p.Workloads = append(p.Workloads, result.WorkloadPlan{Name: w, Flows: 3})
	}
	return Complete(p)
}

// cellNames are the networks of a plan's groups, by path.
func cellNames(p result.Plan) map[string]string {
	names := map[string]string{}
	for _, g := range groupsOf(p) {
		var all []string
		for _, c := range g.places {
			all = append(all, c.network.Name)
		}
		names[g.path] += strings.Join(all, " ") + ";"
	}
	return names
}

// TestContainersAreMadeOnce on each path whatever the interfaces are, and
// without a path once on each engine.
func TestContainersAreMadeOnce(t *testing.T) {
	networks := []string{"containerd-bridge", "docker-nat", "docker-bridge", "vxlan", catalog.Baseline}
	got := cellNames(containersPlan(networks, []string{"attach"}, catalog.CrossHost, catalog.SamePod, catalog.PublishedPort))
	want := map[string]string{
		catalog.CrossHost:     "host host containerd-bridge vxlan;",
		catalog.PublishedPort: "host host containerd-bridge docker-nat;",
	}
	for _, path := range catalog.Paths() {
		if got[path] != want[path] {
			t.Errorf("attach on %s: %q, want %q", path, got[path], want[path])
		}
	}
	got = cellNames(containersPlan(networks, []string{"lifecycle"}, catalog.CrossHost))
	if len(got) != 1 || got[catalog.NoNetwork] != "host host docker-bridge containerd-bridge;" {
		t.Errorf("lifecycle: %v", got)
	}
	got = cellNames(containersPlan([]string{catalog.Baseline, "vxlan"}, []string{"lifecycle"}, catalog.CrossHost))
	if len(got) != 1 || got[catalog.NoNetwork] != "host host;" {
		t.Errorf("lifecycle without an engine: %v", got)
	}
	if err := Check(containersPlan([]string{"vxlan"}, []string{"lifecycle"}, catalog.CrossHost)); err == nil || !strings.Contains(err.Error(), "add docker-host") {
		t.Errorf("a plan without an engine: %v", err)
	}
}

func TestWorkersAreParametersOfTheirCells(t *testing.T) {
	p := containersPlan([]string{"vxlan"}, []string{"attach"}, catalog.CrossHost)
	g := groupsOf(p)[0]
	values := params(p, g, g.places[0], true)
	labtest.Equal(t, "workers", values["workers"], 3)
	labtest.Equal(t, "flows", values["flows"], nil)
	labtest.Equal(t, "size", values["size"], nil)
	labtest.Equal(t, "warmup", values["warmup"], nil)
}

// TestPercentilesOfAllOperations: if no window holds enough operations for a
// percentile, it is taken over those of all windows, with their number, an interval
// and no toll.
func TestPercentilesOfAllOperations(t *testing.T) {
	r := synthetic(t, containersPlan([]string{"bridge"}, []string{"attach"}, catalog.SameHost))
	feed(r, 8, func(block int, _ group, p place) (result.Sample, bool) {
		var each []float64
		for n := range 5 {
			each = append(each, float64(1+block*5+n))
		}
		return result.Sample{
			Metrics: map[string]float64{"latency_p50": each[2]}, Series: map[string][]float64{"latency": each}, Counters: map[string]float64{},
		}, true
	})
	r.weigh()
	m := weighed(t, r, "bridge", "latency_p90")
	labtest.Equal(t, "p90 of 1 to 40", m.Value, 36)
	labtest.Equal(t, "operations of the p90", m.N, 40)
	labtest.Equal(t, "toll of the p90", m.Toll, nil)
	if m.Low == nil {
		t.Fatalf("the p90 has no interval: %+v", m)
	}
	labtest.LessThan(t, "low end of the p90", *m.Low, 36)
	labtest.MoreThan(t, "high end of the p90", *m.High, 36)
	if m, has := find(r, "bridge", "latency_p99"); has {
		t.Errorf("40 operations have no p99, yet: %+v", m)
	}
	if m := weighed(t, r, catalog.Baseline, "latency_p90"); m.N != 80 {
		t.Errorf("p90 of both baselines: %+v", m)
	}
	if m := weighed(t, r, "bridge", "latency_p50"); m.Toll == nil || m.N != 8 {
		t.Errorf("the median is each block's: %+v", m)
	}
}

// makingSite makes containers; where one fails, fault is the reason.
type makingSite struct {
	*simtest.Site
	fault func(cluster string) error
}

func (s makingSite) Attach(_ context.Context, cluster, _ string) (workload.Operation, error) {
	return workload.Operation{Create: 2 * time.Millisecond, Answer: time.Millisecond, Remove: time.Millisecond}, s.fault(cluster)
}

func (s makingSite) Lifecycle(context.Context, string) (workload.Operation, error) {
	return workload.Operation{Create: time.Millisecond, Remove: time.Millisecond}, nil
}

// A container that fails ends its cell with the engine's error; the other cells go on.
func TestFailedContainerEndsItsCell(t *testing.T) {
	p := containersPlan([]string{"docker-nat", "nat"}, []string{"attach"}, catalog.PublishedPort)
	p.Blocks, p.Duration = 2, 0.005
	o := silent(p)
	o.Site = makingSite{newSimSite(t, even().Measure), func(cluster string) error {
		if cluster == "docker-nat" {
			return errors.New("port is already allocated")
		}
		return nil
	}}
	res, err := Run(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range res.Cells {
		failed := c.Status == result.StatusFailed && strings.Contains(c.Reason, "port is already allocated")
		if failed != (c.Network == "docker-nat") || !failed && len(c.Samples) == 0 {
			t.Errorf("%s is %s: %s, with %d samples", c.Network, c.Status, c.Reason, len(c.Samples))
		}
	}
}
