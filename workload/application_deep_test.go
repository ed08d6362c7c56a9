package workload

import (
	"context"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/catalog"
	"tare/test/labtest"
	"tare/traffic"
)

// onOneCPU binds the whole test to a CPU, as a lab binds what runs in a host:
// where the scheduler is free, a select takes 80 us or 400 by what it chose.
func onOneCPU(t *testing.T) {
	t.Helper()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	bind := func(set *unix.CPUSet) {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		for _, thread := range threads {
			id, err := strconv.Atoi(thread.Name())
			if err == nil {
				err = unix.SchedSetaffinity(id, set)
			}
			if err != nil && err != unix.ESRCH {
				t.Fatal(err)
			}
		}
	}
	var one unix.CPUSet
	for cpu := 0; one.Count() == 0; cpu++ {
		if before.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	bind(&one)
	t.Cleanup(func() { bind(&before) })
}

// TestDeepConnectionsAreBusy: in a closed loop they are all of the time, the window is
// about as long as was asked for, and long enough for its percentiles.
func TestDeepConnectionsAreBusy(t *testing.T) {
	onOneCPU(t)
	for _, w := range []Workload{whole("mysql"), whole("redis"), whole("dns")} {
		server := w.ServedBy[0]
		_, place := startServer(t, server)
		for _, mode := range w.Modes {
			for _, tool := range append(w.Tools, "") {
				for _, flows := range []int{1, 10} {
					run := runOf(w, mode)
					// A transaction that began before the window and ended in it counts with all of its
					// time: where the machine stalled then, that is much of a short window.
					run.Server, run.Tool, run.Flows, run.Duration = server.Name, tool, flows, 500*time.Millisecond
					if server.Prepare != nil {
						if err := server.Prepare(t.Context(), place, run); err != nil {
							t.Fatal(err)
						}
					}
					got := inTime(t, w, run, place)
					what := w.Name + " " + mode + " " + tool
					labtest.Between(t, what+": share of the time that a connection waits", got.Metrics["rate"]*got.Metrics["latency_mean"]/float64(flows), 0.7, 1.05)
					for _, metric := range []string{"latency_p50", "latency_p99"} {
						labtest.MoreThan(t, what+": "+metric, got.Metrics[metric], 0)
					}
					labtest.AtMost(t, what+": lost", got.Counters["lost"], float64(2*flows))
				}
			}
		}
	}
}

// inTime measures a window of about the length that was asked for. sysbench ends after so many
// events, so that its window is as long as the machine's stalls make it: then it is asked
// again, twice at most.
func inTime(t *testing.T, w Workload, run Run, p Place) Tally {
	t.Helper()
	const tries = 3
	for try := 1; ; try++ {
		got := driven(t, w, run, p)
		if got.Window > run.Duration/3 && got.Window < 3*run.Duration {
			return got
		}
		if try == tries {
			t.Fatalf("%q: a window of %v, asked for %v", run.Tool, got.Window, run.Duration)
		}
		labtest.TryAgain(t, "%s took %v for a window of %v", run.Tool, got.Window, run.Duration)
	}
}

// TestDeepMySQLTakesTurns selects in ten slots that are all of the time.
func TestDeepMySQLTakesTurns(t *testing.T) {
	p, _ := startMariaDB(t)
	var clock unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &clock); err != nil {
		t.Fatal(err)
	}
	const ms = time.Millisecond
	run := runOf(whole("mysql"), catalog.Prepared)
	run.Tool, run.Flows = "", 1
	run.Slots = &traffic.Slots{Begin: time.Duration(clock.Nano()) + 500*ms, Window: 100 * ms, Length: 20 * ms, Settle: ms, Guard: ms, Runs: 1, Warmup: 1, Cycles: 10}
	run.Warmup, run.Duration = 500*ms, run.Slots.Span()
	tally, err := whole("mysql").Drive(t.Context(), run, p.At)
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "slots", len(tally.Slots["rate"]), run.Slots.Cycles)
	labtest.AtMost(t, "time of the window", tally.Window, run.Slots.Window)
	if tally.Metrics["rate"] <= 0 || tally.Metrics["latency_p50"] <= 0 {
		t.Errorf("metrics %v", tally.Metrics)
	}
}

// TestDeepEventsFillTheWindow holds that sysbench's window is about as long as was
// asked for, at any number of connections.
func TestDeepEventsFillTheWindow(t *testing.T) {
	p, _ := startMariaDB(t)
	run := runOf(whole("mysql"), catalog.Prepared)
	run.Flows, run.Duration = 4, 400*time.Millisecond
	events, err := eventsOf(t.Context(), run, p.At)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	done, err := selectPoints(ctx, run, p.At)
	if err != nil {
		t.Fatal(err)
	}
	if ratio := float64(events) / float64(done.count); math.Abs(math.Log(ratio)) > math.Log(3) {
		t.Errorf("%d events were foreseen, %d came", events, done.count)
	}
}
