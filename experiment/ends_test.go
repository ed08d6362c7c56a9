package experiment

import (
	"strings"
	"testing"

	"tare/probe"
	"tare/result"
	"tare/test/labtest"
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
		if cell.Client == nil || cell.Server == nil {
			t.Fatalf("%s: client %+v, server %+v, want both", cell.Network, cell.Client, cell.Server)
		}
		labtest.Equal(t, cell.Network+": client", *cell.Client, result.End{At: "h1/c1", Seccomp: here.Seccomp, CPUs: here.CPUs})
		labtest.Equal(t, cell.Network+": server", *cell.Server, result.End{At: "h1/c2", Seccomp: here.Seccomp, CPUs: here.CPUs})
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
