package experiment

import (
	"context"
	"errors"
	"testing"
	"time"

	"tare/result"
	"tare/test/labtest"
)

// A run that sends between machines pauses to stay within its share, and one within a machine
// does not. It can be interrupted meanwhile.
func TestRunPausesBetweenMachines(t *testing.T) {
	for _, apart := range []bool{true, false} {
		simulated(t, func(t *testing.T) {
			plan := simPlan()
			plan.Workloads, plan.MaxRate = []result.WorkloadPlan{{Name: "tcp_stream"}}, 1e9
			w := even()
			w.Value = 10e9
			run := newSimRun(t, plan, w.Measure)
			run.Topology.Places = []result.Place{{Name: "h1/c1", Boot: "a"}, {Name: "h1/c2", Boot: map[bool]string{true: "b", false: "a"}[apart]}}
			var paused time.Duration
			report := run.Progress
			run.Progress = func(p Progress) { paused += p.Pause; report(p) }
			began := time.Now()
			run.mustRun(t, plan)
			labtest.Equal(t, "it pauses", paused > 0, apart)
			if took := time.Since(began); apart {
				labtest.Between(t, "paused of all", paused.Seconds()/took.Seconds(), 0.5, 0.9)
			}
		})
	}
}

func TestPauseCanBeInterrupted(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		plan.Workloads, plan.MaxRate = []result.WorkloadPlan{{Name: "tcp_stream"}}, 1e6
		w := even()
		w.Value = 10e9
		run := newSimRun(t, plan, w.Measure)
		run.Topology.Places = []result.Place{{Name: "h1/c1", Boot: "a"}, {Name: "h1/c2", Boot: "b"}}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var stopped time.Time
		run.Progress = func(p Progress) {
			if p.Pause > 0 {
				stopped = time.Now()
				cancel()
			}
		}
		_, err := Run(ctx, plan, run.Options)
		labtest.Equal(t, "it ends with the interruption", errors.Is(err, context.Canceled), true)
		labtest.Equal(t, "it ends after", time.Since(stopped), 0)
	})
}
