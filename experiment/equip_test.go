package experiment

import (
	"errors"
	"strings"
	"testing"

	"tare/engine"
	"tare/result"
	"tare/workload"
)

// TestCompleteGivesEveryNumberOfConnectionsACell reads the plan that a workload
// with several numbers of connections gives.
func TestCompleteGivesEveryNumberOfConnectionsACell(t *testing.T) {
	for _, kind := range workload.All() {
		if len(kind.FlowsDefault) < 2 {
			continue
		}
		var flows []int
		for _, w := range Complete(result.Plan{Workloads: []result.WorkloadPlan{{Name: kind.Name}}}).Workloads {
			if w.Name == kind.Name {
				flows = append(flows, w.Flows)
			}
		}
		if len(flows) != len(kind.FlowsDefault) {
			t.Errorf("%s is measured with %v connections, want %v", kind.Name, flows, kind.FlowsDefault)
		}
		again := Complete(Complete(result.Plan{Workloads: []result.WorkloadPlan{{Name: kind.Name}}}))
		if once := Complete(result.Plan{Workloads: []result.WorkloadPlan{{Name: kind.Name}}}); len(again.Workloads) != len(once.Workloads) {
			t.Errorf("%s: completing twice gives %d workloads, once %d", kind.Name, len(again.Workloads), len(once.Workloads))
		}
	}
}

// TestEquipNamesWhatIsMissing equips plans where no program can be found.
func TestEquipNamesWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, kind := range workload.All() {
		for _, tool := range kind.DrivenBy {
			_, err := Equip(result.Plan{Workloads: []result.WorkloadPlan{{Name: kind.Name, Tool: tool.Name}}})
			missing := new(engine.MissingError)
			if !errors.As(err, &missing) || missing.Get == "" || !strings.Contains(err.Error(), missing.Get) {
				t.Errorf("%s with %s: %v: want what is missing and how to get it", kind.Name, tool.Name, err)
			}
		}
	}
}
