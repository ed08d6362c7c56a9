package report

import (
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
	"tare/weigh"
)

func TestIdleDaemonsAreSaidWhereTheyMatter(t *testing.T) {
	for want, used := range map[string]*result.Daemons{
		"idle daemons of other networks took 0.8 % of a CPU (dockerd 0.5 %, bird 0.2 %, containerd 0.1 %)": {
			CPU: 0.0081, Each: map[string]float64{"containerd": 0.001, "bird": 0.002, "dockerd": 0.005, "ovs-vswitchd": 0.0001},
		},
		"idle daemons of other networks took 0.2 % of a CPU": {CPU: 0.002, Each: map[string]float64{}},
		"": {CPU: 0.0009, Each: map[string]float64{"dockerd": 0.0009}},
	} {
		if got := wordsOf(English).idleDaemons(used); got != want {
			t.Errorf("%+v: %q, want %q", used, got, want)
		}
	}
	if got := wordsOf(English).idleDaemons(nil); got != "" {
		t.Errorf("without daemons: %q", got)
	}
}

func TestCostOfALabIsSaid(t *testing.T) {
	for want, env := range map[string]result.Environment{
		" Lab: up in 12.5 s, 1200 MB.": {LabUp: 12.5, LabMemoryBytes: 1200 << 20},
		" Lab: up in 80.0 ms.":         {LabUp: 0.08},
		"":                             {},
	} {
		if got := wordsOf(English).labCost(env); got != want {
			t.Errorf("%+v: %q, want %q", env, got, want)
		}
		if got := wordsOf(English).machine(env); !strings.HasSuffix(got, want) {
			t.Errorf("%+v: %q", env, got)
		}
	}
}

func TestProgramsOfApplicationsAreSaid(t *testing.T) {
	cell := func(server, tool string) *result.Cell {
		return &result.Cell{Workload: "http", Params: result.Params{"server": server, "tool": tool}}
	}
	versions := map[string]string{"nginx": "1.22.1", "wrk": "4.1.0", "dockerd": "20.10"}
	loads := []*weigh.Group{{Cells: []*result.Cell{cell("nginx", "tare"), cell("nginx", "tare")}}, {Cells: []*result.Cell{cell("nginx", "wrk")}}}
	if got, want := wordsOf(English).applications(loads, versions), "Applications: http of nginx 1.22.1 by tare, http of nginx 1.22.1 by wrk 4.1.0."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := wordsOf(English).applications([]*weigh.Group{{Cells: []*result.Cell{{Workload: "tcp_rr"}}}}, versions); got != "" {
		t.Errorf("without applications: %q", got)
	}
}

func TestLinkIsDescribed(t *testing.T) {
	for want, plan := range map[string]result.Plan{
		"link 1.00 Gbit/s, delay 20.0 ms, loss 0.1 %, reorder 1 %": {Axes: result.PlanAxes{"link": {1e9}, "delay": {0.02}, "loss": {0.001}, "reorder": {0.01}}},
		"delay 5.00 ms": {Axes: result.PlanAxes{"delay": {0.005}}},
	} {
		labtest.Equal(t, "link", wordsOf(English).linkText(plan), want)
	}
}
