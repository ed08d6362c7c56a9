package traffic

import (
	"context"
	"io"
	"maps"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"tare/test/labtest"
)

// resources is what a long-lived process must not lose, run by run.
func resources(t *testing.T) (fds, goroutines, threads int) {
	t.Helper()
	count := func(dir string) int {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	return count("/proc/self/fd"), runtime.NumGoroutine(), count("/proc/self/task")
}

// resourcesLeft are those that are left once there are no more than so many, or after a while:
// what ends with a run ends soon after it.
func resourcesLeft(t *testing.T, mostFDs, mostGoroutines int) (fds, goroutines, threads int) {
	t.Helper()
	for limit := time.Now().Add(labtest.Generous); ; sleep(tick / 10) {
		fds, goroutines, threads = resources(t)
		if fds <= mostFDs && goroutines <= mostGoroutines || time.Now().After(limit) {
			return fds, goroutines, threads
		}
	}
}

func TestLabRunsLeakNothing(t *testing.T) {
	window := Window{Warmup: time.Millisecond, Duration: 20 * time.Millisecond, Interval: 5 * time.Millisecond}
	pass := func() {
		for name, run := range everyWorkload(window) {
			t.Run(name, func(t *testing.T) { run(t) })
		}
	}
	pass()
	fds, goroutines, threads := resources(t)
	// The runtime keeps threads for reuse and makes one where none is free, so
	// their number settles; a leak never does.
	const most, settled = 40, 3
	for passes, still := 0, 0; still < settled; passes++ {
		if passes == most {
			t.Fatalf("%d passes: the number of threads never settled: %d", passes, threads)
		}
		pass()
		fdsAfter, goroutinesAfter, threadsAfter := resourcesLeft(t, fds, goroutines)
		if fdsAfter > fds || goroutinesAfter > goroutines {
			t.Fatalf("pass %d: %d descriptors became %d, %d goroutines became %d", passes, fds, fdsAfter, goroutines, goroutinesAfter)
		}
		if still++; threadsAfter > threads {
			threads, still = threadsAfter, 0
		}
	}
}

// A run that fails gives everything back too.
func TestLabFailedRunsLeakNothing(t *testing.T) {
	fail := func() {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		l := listenTCP(t)
		go func() {
			if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
				_, _ = c.Write(greeting(testToken, verbFlow))
				_, _ = io.Copy(io.Discard, c)
				c.Close()
			}
		}()
		if _, err := ServeTCPStream(ctx, l, TCPStream{Token: testToken, Window: shortWindow, Flows: 2}); err == nil {
			t.Error("one of two flows was enough")
		}
	}
	fail()
	fds, goroutines, _ := resources(t)
	const passes = 10
	for range passes {
		fail()
	}
	// Each listener is open until the test ends.
	fdsAfter, goroutinesAfter, _ := resourcesLeft(t, fds+passes, goroutines)
	if fdsAfter > fds+passes || goroutinesAfter > goroutines {
		t.Errorf("%d passes: %d descriptors became %d, %d goroutines became %d", passes, fds, fdsAfter, goroutines, goroutinesAfter)
	}
}

// A longer window moves more data and allocates no more. The count is taken
// outside the run: it stops the world, and a data thread can't be stopped.
func TestLabWindowAllocatesNothing(t *testing.T) {
	allocations := func(duration time.Duration) map[string]int64 {
		window := Window{Warmup: 5 * time.Millisecond, Duration: duration}
		counts := map[string]int64{}
		runs := everyWorkload(window)
		maps.Copy(runs, everyStream(window))
		for name, run := range runs {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			run(t)
			runtime.ReadMemStats(&after)
			counts[name] = int64(after.Mallocs - before.Mallocs)
		}
		return counts
	}
	allocations(20 * time.Millisecond) // what is made once
	short, long := allocations(20*time.Millisecond), allocations(60*time.Millisecond)
	for name, n := range long {
		// The runtime's own threads: a few, whatever the traffic.
		if n > short[name]+60 {
			t.Errorf("%s: %d allocations in a run of 20 ms, %d in one of 60 ms", name, short[name], n)
		}
	}
}
