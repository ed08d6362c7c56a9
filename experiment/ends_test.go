package experiment

import (
	"strings"
	"testing"

	"tare/probe"
	"tare/result"
	"tare/test/labtest"
)

// Each cell records how its ends are confined. One whose ends may run on other CPUs than
// their host's fails, and the error names both ends.
func TestEndsKeepToTheirHostsCPUs(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		plan.Blocks = 1
		run := newSimRun(t, plan, even().Measure)
		run.site.Confinement = probe.Confinement{Seccomp: "filter", CPUs: "0-1"}
		for n := range run.Topology.Clusters {
			u := &run.Topology.Clusters[n]
			u.CPUs = map[string]string{"h1": "0-1"}
			if u.Network == "veth" {
				u.CPUs["h1"] = "3"
			}
		}
		for _, cell := range run.mustRun(t, plan).Cells {
			labtest.Equal(t, cell.Network+" fails", cell.Status == result.StatusFailed, cell.Network == "veth")
			if cell.Client == nil || cell.Server == nil {
				t.Fatalf("%s: client %+v, server %+v, want both", cell.Network, cell.Client, cell.Server)
			}
			labtest.Equal(t, cell.Network+": client", *cell.Client, result.End{At: "h1/c1", Seccomp: "filter", CPUs: "0-1"})
			labtest.Equal(t, cell.Network+": server", *cell.Server, result.End{At: "h1/c2", Seccomp: "filter", CPUs: "0-1"})
			for _, text := range []string{"other CPUs than their hosts", "h1/c1 on 0-1, its host on 3", "h1/c2 on 0-1, its host on 3"} {
				labtest.Equal(t, cell.Network+": "+text, strings.Contains(cell.Reason, text), cell.Network == "veth")
			}
		}
	})
}
