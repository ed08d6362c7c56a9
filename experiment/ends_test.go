package experiment

import (
	"strings"
	"testing"

	"tare/probe"
	"tare/result"
)

// Each cell records how its ends were confined.
func TestLabRunWritesDownHowTheEndsAreConfined(t *testing.T) {
	plan := loopPlan(t)
	plan.Blocks = 1
	run := newLoopRun(t, plan)
	res, err := Run(t.Context(), plan, run.Options)
	if err != nil {
		t.Fatal(err)
	}
	here := probe.Confined("/")
	for _, cell := range readable(t, res).Cells {
		switch {
		case cell.Client == nil:
			t.Errorf("cell.Client is nil; %s: client %+v, server %+v, want %+v", cell.Network, cell.Client, cell.Server, here)
		case *cell.Client != (result.End{At: "h1/c1", Seccomp: here.Seccomp, CPUs: here.CPUs}):
			t.Errorf("*cell.Client is %v, want %v; %s: client %+v, server %+v, want %+v", *cell.Client, (result.End{At: "h1/c1", Seccomp: here.Seccomp, CPUs: here.CPUs}), cell.Network, cell.Client, cell.Server, here)
		case cell.Server == nil:
			t.Errorf("cell.Server is nil; %s: client %+v, server %+v, want %+v", cell.Network, cell.Client, cell.Server, here)
		case *cell.Server != (result.End{At: "h1/c2", Seccomp: here.Seccomp, CPUs: here.CPUs}):
			t.Errorf("*cell.Server is %v, want %v; %s: client %+v, server %+v, want %+v", *cell.Server, (result.End{At: "h1/c2", Seccomp: here.Seccomp, CPUs: here.CPUs}), cell.Network, cell.Client, cell.Server, here)
		}
	}
}

// An end that may run on other CPUs than its host's fails the cell, and the
// error names both ends.
func TestLabRunRefusesOtherCPUs(t *testing.T) {
	plan := loopPlan(t)
	plan.Blocks = 1
	run := newLoopRun(t, plan)
	for n := range run.Topology.Clusters {
		u := &run.Topology.Clusters[n]
		u.CPUs = map[string]string{"h1": probe.Confined("/").CPUs}
		if u.Network == "veth" {
			u.CPUs["h1"] = "1023"
		}
	}
	res, err := Run(t.Context(), plan, run.Options)
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range res.Cells {
		if failed := cell.Status == result.StatusFailed; failed != (cell.Network == "veth") {
			t.Errorf("%s: %s %s", cell.Network, cell.Status, cell.Reason)
		}
	}
	veth := cellOf(t, res, "veth")
	for _, text := range []string{"other CPUs than their hosts", "h1/c1 on ", "h1/c2 on ", "its host on 1023"} {
		if !strings.Contains(veth.Reason, text) {
			t.Errorf("%q does not contain %q", veth.Reason, text)
		}
	}
}
