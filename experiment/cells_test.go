package experiment

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/site"
	"tare/test/labtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares text with a file in testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s differs (go test -update writes it anew); got\n%s", path, text)
	}
}

func TestCellsOfTheQuickPlan(t *testing.T) {
	p := Complete(Quick())
	var b strings.Builder
	for _, g := range groupsOf(p) {
		fmt.Fprintf(&b, "%s %s nic %s\n", g.path, g.workload.Name, g.axes.Text("nic"))
		for _, c := range g.places {
			fmt.Fprintln(&b, strings.TrimRight(fmt.Sprintf("  %s on %s %s", c.network.Name, c.cluster, c.layout), " "))
		}
	}
	golden(t, "quick_cells.txt", b.String())
	b.Reset()
	for _, spec := range Spec(p, 2, 2).Clusters {
		fmt.Fprintf(&b, "%s: %s nic %s mtu %d baseline %t\n", spec.Name, spec.Network, spec.Axes.Text("nic"), spec.Axes.Count("mtu"), spec.Baseline)
	}
	golden(t, "quick_underlays.txt", b.String())
}

// TestLinksAreAnAxis: every network is measured on every link rate, and so is its
// host; a network with its own link only on that.
func TestLinksAreAnAxis(t *testing.T) {
	p := Complete(result.Plan{
		Networks: []result.NetworkPlan{{Name: "vxlan"}, {Name: "route", Link: 5e7}}, Paths: []string{catalog.CrossHost},
		Workloads: []result.WorkloadPlan{{Name: "tcp_stream"}}, Axes: result.PlanAxes{"link": {1e8, 1e9}},
	})
	var got []string
	for _, g := range groupsOf(p) {
		for _, c := range g.places {
			got = append(got, fmt.Sprintf("%s %v", c.cluster, result.BitsPerSecond(c.axes.Number("link"))))
		}
	}
	want := []string{
		"host 100mbit", "host-b 100mbit", "vxlan 100mbit", "route 50mbit",
		"host-1gbit 1gbit", "host-1gbit-b 1gbit", "vxlan-1gbit 1gbit",
	}
	if !slices.Equal(got, want) {
		t.Errorf("cells %q, want %q", got, want)
	}
	if spec := Spec(p, 2, 2); len(spec.Clusters) != len(want) {
		t.Errorf("%d clusters, want %d", len(spec.Clusters), len(want))
	}
}

// TestFramesOfAProgramHaveClustersForThemselves, whose devices take them, where other modes are
// measured beside; a lab that is up serves one of the two.
func TestFramesOfAProgramHaveClustersForThemselves(t *testing.T) {
	live := result.WorkloadPlan{Name: "udp_pps", Mode: "xdp"}
	plan := result.Plan{Networks: []result.NetworkPlan{{Name: "route"}}, Paths: []string{catalog.CrossHost}, Workloads: []result.WorkloadPlan{live}}
	clusters := func(p result.Plan) string {
		var all []string
		for _, spec := range Spec(Complete(p), 2, 2).Clusters {
			all = append(all, fmt.Sprintf("%s:%t", spec.Name, spec.Live))
		}
		return strings.Join(all, " ")
	}
	labtest.Equal(t, "clusters of one mode", clusters(plan), "host:true host-b:true route:true")
	plan.Workloads = append(plan.Workloads, result.WorkloadPlan{Name: "udp_pps"})
	labtest.Equal(t, "clusters of both", clusters(plan), "host-live:true host-live-b:true route-live:true host:false host-b:false route:false")
	if _, err := Narrow(plan, site.Topology{}); err == nil || !strings.Contains(err.Error(), "run it alone") {
		t.Errorf("in a lab that is up: %v", err)
	}
	live.Flows = 2
	plan.Workloads = []result.WorkloadPlan{live}
	if err := Check(Complete(plan)); err == nil || !strings.Contains(err.Error(), "leave flows out") {
		t.Errorf("two flows: %v", err)
	}
}

func TestEveryGroupHasItsBaselineTwice(t *testing.T) {
	p := Complete(Quick())
	p.Axes = p.Axes.With("nic", "full", "frames")
	spec := Spec(p, 2, 2)
	for _, g := range groupsOf(p) {
		layouts, clusters := "", map[string]bool{}
		for _, c := range g.places {
			layouts += c.layout
			if clusters[c.cluster] {
				t.Errorf("%s %s: %s is there twice", g.path, g.axes.Text("nic"), c.cluster)
			}
			clusters[c.cluster] = true
			n := slices.IndexFunc(spec.Clusters, func(spec site.ClusterSpec) bool { return spec.Name == c.cluster })
			if n < 0 || spec.Clusters[n].Network != c.network.Name || spec.Clusters[n].Axes.Text("nic") != g.axes.Text("nic") {
				t.Errorf("%s is not set up for %s under nic %s", c.cluster, c.network.Name, g.axes.Text("nic"))
			}
		}
		if layouts != layoutA+layoutB {
			t.Errorf("%s %s: baselines %q", g.path, g.axes.Text("nic"), layouts)
		}
	}
}

func TestBaselineAlone(t *testing.T) {
	p := Complete(result.Plan{Networks: []result.NetworkPlan{{Name: "host"}}})
	paths := map[string]bool{}
	for _, g := range groupsOf(p) {
		paths[g.path] = true
		if len(g.places) != 2 {
			t.Errorf("%s: %d cells", g.path, len(g.places))
		}
	}
	if len(paths) != 2 || !paths[catalog.SameHost] || !paths[catalog.CrossHost] {
		t.Errorf("paths %v", paths)
	}
	if got, want := SizeOf(p), int64(2*2*2*p.Blocks); got != want { // paths, workloads, layouts
		t.Errorf("%d samples, want %d", got, want)
	}
}

func TestParamsOfACell(t *testing.T) {
	p := Complete(result.Plan{
		Networks: []result.NetworkPlan{{Name: "vxlan"}}, Paths: []string{catalog.CrossHost}, Axes: result.PlanAxes{"link": {1e9}, "mtu": {9000.0}},
		Workloads: []result.WorkloadPlan{{Name: "udp_stream", Rate: result.Rate{Value: 5e6}, Size: 200}},
	})
	g := groupsOf(p)[0]
	got := params(p, g, g.places[2], false)
	for name, want := range map[string]any{
		"nic": "frames", "mtu": 9000.0, "pin": "apart", "rps": false, "cc": "cubic", "link": 1e9, "flows": 1, "size": 200, "rate": 5e6,
		"warmup": float64(p.Warmup), "duration": float64(p.Duration),
	} {
		if got[name] != want {
			t.Errorf("%s is %v (%T), want %v", name, got[name], got[name], want)
		}
	}
	p = Complete(result.Plan{Networks: p.Networks, Paths: p.Paths, Workloads: []result.WorkloadPlan{{Name: "tcp_rr"}}, Axes: result.PlanAxes{"delay": {0.02}, "loss": {0.001}}})
	g = groupsOf(p)[0]
	got = params(p, g, g.places[2], false)
	for name, want := range map[string]any{"nic": "frames", "delay": 0.02, "loss": 0.001, "reorder": nil, "link": nil, "design": nil, "duration": 2.0} {
		if got[name] != want {
			t.Errorf("of a long path: %s is %v (%T), want %v", name, got[name], got[name], want)
		}
	}
	p.Paths = []string{catalog.SameHost}
	g = groupsOf(p)[0]
	labtest.Equal(t, "design within a host, which has no link", params(p, g, g.places[2], false)["design"], any(result.DesignSlots))
	run := runOf(p, result.WorkloadPlan{Name: "udp_pps"})
	labtest.Equal(t, "mode of udp_pps", run.Mode, "mmsg")
	labtest.Equal(t, "size of udp_pps", run.Size, 64)
	labtest.Equal(t, "flows of udp_pps", run.Flows, 1)
	labtest.Equal(t, "rate of udp_pps", run.Rate, 0)
}

func TestSkipLeavesOutAndSaysSo(t *testing.T) {
	p := Complete(Quick())
	before := len(p.Networks)
	less := Skip(p, "vxlan", "no module")
	if len(p.Networks) != before || len(p.Skipped) != 0 {
		t.Error("the plan itself was changed")
	}
	if len(less.Networks) != before-1 || slices.ContainsFunc(less.Networks, func(n result.NetworkPlan) bool { return n.Name == "vxlan" }) {
		t.Errorf("networks %v", less.Networks)
	}
	if len(less.Skipped) != 1 || less.Skipped[0] != (result.SkippedNetwork{Name: "vxlan", Reason: "no module"}) {
		t.Errorf("skipped %+v", less.Skipped)
	}
	if again := Skip(less, "vxlan", "no module, again"); len(again.Skipped) != 1 {
		t.Errorf("skipped twice: %+v", again.Skipped)
	}
}

func TestNarrowTakesTheLabAsItIs(t *testing.T) {
	built := func(name, net string, baseline bool, err string) site.Built {
		return site.Built{ClusterSpec: site.ClusterSpec{Name: name, Network: net, Axes: result.Params{"nic": "tso", "mtu": 1400.0, "link": 1e9}, Baseline: baseline}, Error: err}
	}
	set := site.Topology{
		Spec: site.Spec{CC: "reno", Pin: "same"},
		Clusters: []site.Built{
			built("vxlan", "vxlan", false, ""), built("nat", "nat", false, "no nftables"),
			built("host", "host", true, ""), built("host-b", "host", true, ""),
		},
	}
	p, err := Narrow(Quick(), set)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Networks) != 2 || p.Networks[0].Name != "host" || p.Networks[1].Name != "vxlan" {
		t.Errorf("networks %+v", p.Networks)
	}
	labtest.Equal(t, "CC", p.Axes.Word("cc"), "reno")
	labtest.Equal(t, "pin", p.Axes.Word("pin"), "same")
	labtest.Equal(t, "RPS", p.Axes.Word("rps"), rpsOff)
	labtest.Equal(t, "MTU", p.Axes.Number("mtu"), 1400)
	labtest.Equal(t, "link", p.Axes.Number("link"), 1e9)
	if quick := Complete(Quick()); p.Duration <= quick.Duration {
		t.Errorf("two networks get windows of %v s", p.Duration)
	}
	asked := Quick()
	asked.Networks = []result.NetworkPlan{{Name: "host"}, {Name: "nat"}}
	if _, err := Narrow(asked, set); err == nil || !strings.Contains(err.Error(), "network nat is not in this lab") {
		t.Errorf("a network that the lab does not have: %v", err)
	}
}
