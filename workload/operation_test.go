package workload

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tare/test/labtest"
)

// scripted answers with operations of chosen lengths, and errors in between.
type scripted struct {
	mu       sync.Mutex
	asked    []string
	attach   func(n int) (Operation, error)
	bareTook time.Duration
}

func (s *scripted) Attach(context.Context) (Operation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, "attach")
	return s.attach(len(s.asked))
}

func (s *scripted) Lifecycle(context.Context) (Operation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, "lifecycle")
	return Operation{Create: s.bareTook, Remove: time.Millisecond}, nil
}

// alike is an operation that is always as long.
func alike(int) (Operation, error) {
	return Operation{Create: 30 * time.Millisecond, Answer: 10 * time.Millisecond, Remove: 20 * time.Millisecond}, nil
}

// inWindow is a run whose windows' edges are counted.
func inWindow(workers int, duration time.Duration, edges *int) Run {
	return Run{Flows: workers, Duration: duration, Edge: func(bool) { *edges++ }}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// TestEveryWorkerMakesOne also in a window that is over at once, and the parts
// of an operation are distinguished.
func TestEveryWorkerMakesOne(t *testing.T) {
	for _, workers := range []int{1, 10} {
		edges := 0
		s := &scripted{attach: alike}
		tally, err := whole("attach").Cycle(context.Background(), inWindow(workers, 0, &edges), s)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.asked) != workers || tally.Work != float64(workers) || edges != 2 {
			t.Errorf("%d workers asked for %v, work %v, %d edges", workers, s.asked, tally.Work, edges)
		}
		for name, want := range map[string]float64{"latency_p50": 0.040, "latency_mean": 0.040, "latency_remove": 0.020} {
			if got := tally.Metrics[name]; !near(got, want) {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
		if rate := tally.Metrics["rate"]; !near(rate*tally.Window.Seconds(), float64(workers)) {
			t.Errorf("rate %v over %v", rate, tally.Window)
		}
		if len(tally.Series["latency"]) != workers {
			t.Errorf("series %v", tally.Series)
		}
		if _, has := tally.Metrics["latency_network"]; has {
			t.Error("a network without an engine has no share")
		}
	}
}

// after takes so long by the clock of a bubble.
func after(d time.Duration) { <-time.After(d) }

// TestNoneBeginsAfterTheWindow: of operations of 15 ms four begin within 50.
func TestNoneBeginsAfterTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		edges := 0
		s := &scripted{attach: func(n int) (Operation, error) {
			after(15 * time.Millisecond)
			return alike(n)
		}}
		tally, err := whole("attach").Cycle(t.Context(), inWindow(1, 50*time.Millisecond, &edges), s)
		if err != nil {
			t.Fatal(err)
		}
		labtest.Equal(t, "operations", len(s.asked), 4)
		labtest.Equal(t, "window", tally.Window, 60*time.Millisecond)
	})
}

// TestShare pairs each window with one of containers without a network, in
// either order.
func TestShare(t *testing.T) {
	first := map[string]bool{}
	for range 40 {
		edges := 0
		s := &scripted{attach: alike, bareTook: 25 * time.Millisecond}
		run := inWindow(1, 0, &edges)
		run.Share = true
		tally, err := whole("attach").Cycle(context.Background(), run, s)
		if err != nil {
			t.Fatal(err)
		}
		for metric, want := range map[string]float64{"latency_lifecycle": 0.025, "latency_network": 0.015} {
			if got := tally.Metrics[metric]; !near(got, want) {
				t.Errorf("%s is %v, want %v", metric, got, want)
			}
		}
		labtest.Equal(t, "work", tally.Work, 1)
		labtest.Equal(t, "number of edges", edges, 2)
		first[s.asked[0]] = true
	}
	if !first["attach"] || !first["lifecycle"] {
		t.Errorf("always the same comes first: %v", first)
	}
}

// TestFailuresAreCountedSeparately: what failed is counted by its cause and is in no
// latency.
func TestFailuresAreCountedSeparately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		edges := 0
		s := &scripted{attach: func(n int) (Operation, error) {
			after(time.Millisecond)
			if n%2 == 0 {
				return Operation{}, errors.New("no address is left")
			}
			return alike(n)
		}}
		tally, err := whole("attach").Cycle(t.Context(), inWindow(1, 20*time.Millisecond, &edges), s)
		if err != nil {
			t.Fatal(err)
		}
		labtest.Equal(t, "failed", tally.Counters["failed: no address is left"], 10)
		labtest.Equal(t, "operations", tally.Counters["operations"], 10)
		labtest.Near(t, "mean", tally.Metrics["latency_mean"], 0.040, 1e-9)
		if !slices.Contains(tally.Warnings, "failed-operations: no address is left") {
			t.Errorf("warnings %q", tally.Warnings)
		}
	})
}

// TestWindowWithoutSuccess fails with the engine's words, and does not ask for
// ever.
func TestWindowWithoutSuccess(t *testing.T) {
	edges := 0
	s := &scripted{attach: func(int) (Operation, error) { return Operation{}, errors.New("image is gone") }}
	_, err := whole("attach").Cycle(context.Background(), inWindow(2, time.Minute, &edges), s)
	if err == nil || !strings.Contains(err.Error(), "image is gone") || len(s.asked) != 2*failuresInRow {
		t.Errorf("%v after %d tries", err, len(s.asked))
	}
}

// TestLongWindowNeedsNoSeries has its own p99, and so none of its operations
// one by one.
func TestLongWindowNeedsNoSeries(t *testing.T) {
	all := operations{done: slices.Repeat([]Operation{{Create: time.Millisecond}}, 1000), took: time.Second}
	tally := all.tally()
	if _, has := tally.Metrics["latency_p99"]; !has || len(tally.Series) != 0 {
		t.Errorf("%v %v", tally.Metrics, tally.Series)
	}
}
