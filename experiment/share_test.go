package experiment

import (
	"context"
	"errors"
	"testing"
	"time"

	"tare/result"
	"tare/test/labtest"
)

// TestShare sends as fast as it goes for a tenth of the time, and as much as it may after that.
func TestShare(t *testing.T) {
	now := time.Unix(0, 0)
	s := newShare(1e9, now)
	labtest.Equal(t, "pause before anything", s.pause(now), 0)
	s.spend(10e9, now)
	labtest.Equal(t, "pause after ten seconds' worth", s.pause(now), 0)
	s.spend(3e9, now)
	labtest.Equal(t, "pause after 3 Gbit more", s.pause(now), 3*time.Second)
	labtest.Equal(t, "pause 2 s later", s.pause(now.Add(2*time.Second)), time.Second)
	labtest.Equal(t, "pause 3 s later", s.pause(now.Add(3*time.Second)), 0)
	later := now.Add(time.Hour)
	s.spend(11e9, later)
	labtest.Equal(t, "pause an hour later: time that was not used is not kept", s.pause(later), time.Second)
	unbound := newShare(0, now)
	unbound.spend(1e15, now)
	labtest.Equal(t, "pause without a bound", unbound.pause(now), 0)
}

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
