package agent

import (
	"context"
	"sync"

	"tare/workload"
)

// join waits for both ends of a run, and returns what they measured. When one
// end fails the other cannot succeed: it is cancelled, and the error is that of
// the end that failed first. Both ends must return when their context ends.
func join(ctx context.Context, serving, sending func(context.Context) (workload.Tally, error)) (out Outcome, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var first sync.Once
	var both sync.WaitGroup
	wait := func(end func(context.Context) (workload.Tally, error), tally *workload.Tally) {
		both.Go(func() {
			t, failed := end(ctx)
			if *tally = t; failed != nil {
				first.Do(func() { err = failed })
				cancel()
			}
		})
	}
	wait(serving, &out.Server)
	wait(sending, &out.Client)
	both.Wait()
	if err != nil {
		return Outcome{}, err
	}
	return out, nil
}
