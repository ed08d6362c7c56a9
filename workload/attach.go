package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// attach makes containers, attaches each to the network, waits for the first
// packet answered, and removes them.
func attach() Workload {
	return Workload{
		Cycle: attachAndRemove,
	}
}

// attachAndRemove measures a window of attaching. Where an engine makes the
// containers, a window without a network comes before or after it, as chance
// decides: what attaching takes longer is the network's share.
func attachAndRemove(ctx context.Context, run Run, a Attacher) (Tally, error) {
	var without operations
	bare := func() (err error) {
		if run.Share {
			if without, err = operate(ctx, run, a.Lifecycle); err != nil {
				err = fmt.Errorf("container without a network: %w", err)
			}
		}
		return err
	}
	before := rand.IntN(2) == 0
	if before {
		if err := bare(); err != nil {
			return Tally{}, err
		}
	}
	all, err := metered(ctx, run, a.Attach)
	if err != nil {
		return Tally{}, err
	}
	if !before {
		if err := bare(); err != nil {
			return Tally{}, err
		}
	}
	t := all.tally()
	t.Counters["create_p50"] = all.median(func(done Operation) time.Duration { return done.Create })
	t.Counters["answer_p50"] = all.median(func(done Operation) time.Duration { return done.Answer })
	if run.Share {
		t.Metrics["latency_lifecycle"] = without.median(Operation.latency)
		t.Metrics["latency_network"] = t.Metrics["latency_p50"] - t.Metrics["latency_lifecycle"]
		t.Counters["operations_lifecycle"] = float64(len(without.done))
	}
	return t, nil
}
