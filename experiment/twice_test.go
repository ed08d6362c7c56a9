package experiment

import (
	"testing"

	"tare/result"
	"tare/test/labtest"
	"tare/workload"
)

// A plan with several mistakes names the same one each time.
func TestTheFirstMistakeIsNamed(t *testing.T) {
	for range 20 {
		plan := Quick()
		plan.Paths = append(plan.Paths, plan.Paths[0])
		plan.Axes = plan.Axes.With("nic", "full", "full").With("ip", 4.0, 4.0)
		labtest.Contains(t, "what is wrong", checkTwice(plan).Error(), "path "+plan.Paths[0]+" is there twice")
		kind, _ := workload.Find("tcp_rr")
		w := result.WorkloadPlan{Name: "tcp_rr", Bytes: 9, Reverse: true, CC: "bbr"}
		labtest.Contains(t, "what is wrong", checkExtras(w, kind).Error(), "bytes of tcp_rr")
	}
}
