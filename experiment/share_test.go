package experiment

import (
	"context"
	"errors"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// TestLabRunPausesBetweenMachines: a run that sends between machines pauses to stay within its
// share, and one within a machine does not.
func TestLabRunPausesBetweenMachines(t *testing.T) {
	for _, apart := range []bool{true, false} {
		plan := loopPlan(t)
		plan.Blocks, plan.MaxRate = 20, 1e5
		run := newLoopRun(t, plan)
		run.Topology.Places = []result.Place{{Name: "h1/c1", Boot: "a"}, {Name: "h1/c2", Boot: map[bool]string{true: "b", false: "a"}[apart]}}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		paused := false
		run.Progress = func(p Progress) {
			if p.Pause > 0 {
				paused = true
				cancel()
			}
		}
		_, err := Run(ctx, plan, run.Options)
		labtest.Equal(t, "it pauses", paused, apart)
		labtest.Equal(t, "it can be interrupted meanwhile", errors.Is(err, context.Canceled), apart)
	}
}
