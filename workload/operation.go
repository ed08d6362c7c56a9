package workload

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"tare/traffic"
)

// Attacher makes one more container and takes it back, of a network that is set up.
// Several may ask at once.
type Attacher interface {
	// Attach makes a container, attaches it to the network, waits for the first
	// packet answered, and removes it.
	Attach(ctx context.Context) (Operation, error)
	// Lifecycle makes a container of the network's engine without a network,
	// and removes it; where the network has no engine, a process in new
	// namespaces.
	Lifecycle(ctx context.Context) (Operation, error)
}

// Operation is how long the parts of one container's life took.
type Operation struct {
	Create time.Duration `json:"create"` // until it was started, and attached where it is
	Answer time.Duration `json:"answer"` // from then until the first packet was answered; 0: none was sent
	Remove time.Duration `json:"remove"`
}

// latency is how long the container took until it could be used.
func (o Operation) latency() time.Duration { return o.Create + o.Answer }

// failuresInRow is after how many consecutive failures a worker gives its
// window up: what refuses at once would else be asked all the time.
const failuresInRow = 3

// operations are those of a window.
type operations struct {
	done     []Operation
	failures map[string]int // by cause
	last     error          // of them
	took     time.Duration  // from the first one's start to the last one's end
}

// operate has the run's workers do one operation after another, each at least
// one; none is started after the window's end.
func operate(ctx context.Context, run Run, once func(context.Context) (Operation, error)) (operations, error) {
	all := operations{failures: map[string]int{}}
	var mu sync.Mutex
	var wait sync.WaitGroup
	begun := time.Now()
	for range run.Flows {
		wait.Go(func() {
			for failed := 0; failed < failuresInRow; {
				done, err := once(ctx)
				mu.Lock()
				if err == nil {
					all.done, failed = append(all.done, done), 0
				} else {
					all.failures[err.Error()]++
					all.last, failed = err, failed+1
				}
				mu.Unlock()
				if ctx.Err() != nil || time.Since(begun) >= run.Duration {
					return
				}
			}
		})
	}
	wait.Wait()
	all.took = time.Since(begun)
	switch {
	case ctx.Err() != nil:
		return all, ctx.Err()
	case len(all.done) == 0:
		return all, all.last
	}
	return all, nil
}

// metered is operate with the run's hook at both edges.
func metered(ctx context.Context, run Run, once func(context.Context) (Operation, error)) (operations, error) {
	run.Edge(false)
	defer run.Edge(true)
	return operate(ctx, run, once)
}

// tally is what a window of operations comes to. The latencies of a window that
// holds too few for a percentile are in its series, one by one.
func (o operations) tally() Tally {
	t := Tally{
		Metrics:  map[string]float64{"rate": float64(len(o.done)) / o.took.Seconds()},
		Counters: map[string]float64{"operations": float64(len(o.done))},
		Window:   o.took, Work: float64(len(o.done)),
	}
	latencies := traffic.NewHistogram()
	var each []float64
	for _, done := range o.done {
		latencies.Record(done.latency())
		each = append(each, done.latency().Seconds())
	}
	addPercentiles(t.Metrics, "latency", latencies)
	if _, enough := latencies.Quantile(0.99); !enough {
		t.Series = map[string][]float64{"latency": each}
	}
	t.Metrics["latency_p50"] = o.median(Operation.latency)
	t.Metrics["latency_remove"] = o.median(func(done Operation) time.Duration { return done.Remove })
	for _, cause := range slices.Sorted(maps.Keys(o.failures)) {
		t.Counters["failed: "+cause] = float64(o.failures[cause])
		t.Warnings = append(t.Warnings, "failed-operations: "+cause)
	}
	return t
}

// median is that of a part of all operations, in seconds: of two or three it is
// still the window's middle.
func (o operations) median(part func(Operation) time.Duration) float64 {
	parts := make([]time.Duration, len(o.done))
	for n, done := range o.done {
		parts[n] = part(done)
	}
	slices.Sort(parts)
	middle := len(parts) / 2
	if len(parts)%2 == 0 {
		return ((parts[middle-1] + parts[middle]) / 2).Seconds()
	}
	return parts[middle].Seconds()
}
