package traffictest

import (
	"os"
	"runtime"
	"testing"
	"time"

	"tare/test/labtest"
	"tare/traffic"
)

// Anew does tests of a package anew with their bounds on real time, on
// rates and on shares of a window: a fault is reported within seconds, a rate is held.
func Anew(t *testing.T, tests map[string]func(*testing.T)) {
	for name, test := range tests {
		t.Run(name, test)
	}
}

// Resources is what a long-lived process must not lose, run by run.
func Resources(t *testing.T) (fds, goroutines, threads int) {
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

// ResourcesLeft are those that are left once there are no more than so many, or after a while:
// what ends with a run ends soon after it.
func ResourcesLeft(t *testing.T, mostFDs, mostGoroutines int) (fds, goroutines, threads int) {
	t.Helper()
	for limit := time.Now().Add(labtest.Generous); ; traffic.Sleep(traffic.Tick / 10) {
		fds, goroutines, threads = Resources(t)
		if fds <= mostFDs && goroutines <= mostGoroutines || time.Now().After(limit) {
			return fds, goroutines, threads
		}
	}
}

// Runs are some of one workload, by name, each over the window.
type Runs func(window traffic.Window) map[string]func(t testing.TB)

// RunsLeakNothing does each run again and again, and fails where descriptors, goroutines or threads are left.
func RunsLeakNothing(t *testing.T, every Runs) {
	window := traffic.Window{Warmup: time.Millisecond, Duration: 20 * time.Millisecond, Interval: 5 * time.Millisecond}
	pass := func() {
		for name, run := range every(window) {
			t.Run(name, func(t *testing.T) { run(t) })
		}
	}
	pass()
	fds, goroutines, threads := Resources(t)
	// The runtime keeps threads for reuse and makes one where none is free, so
	// their number settles; a leak never does.
	const most, settled = 40, 3
	for passes, still := 0, 0; still < settled; passes++ {
		if passes == most {
			t.Fatalf("%d passes: the number of threads never settled: %d", passes, threads)
		}
		pass()
		fdsAfter, goroutinesAfter, threadsAfter := ResourcesLeft(t, fds, goroutines)
		if fdsAfter > fds || goroutinesAfter > goroutines {
			t.Fatalf("pass %d: %d descriptors became %d, %d goroutines became %d", passes, fds, fdsAfter, goroutines, goroutinesAfter)
		}
		if still++; threadsAfter > threads {
			threads, still = threadsAfter, 0
		}
	}
}

// WindowsAllocateNothing fails where a longer window, which moves more data, allocates more. The
// count is taken outside the run: it stops the world, and a data thread can't be stopped.
func WindowsAllocateNothing(t *testing.T, every Runs) {
	allocations := func(duration time.Duration) map[string]int64 {
		window := traffic.Window{Warmup: 5 * time.Millisecond, Duration: duration}
		counts := map[string]int64{}
		for name, run := range every(window) {
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

// ConnectionsEnd does two runs of a library's connections again: their descriptors and
// goroutines end with the run.
func ConnectionsEnd(t *testing.T, pass func()) {
	t.Helper()
	pass()
	fds, goroutines, _ := Resources(t)
	const passes, runs = 2, 2
	for range passes {
		pass()
	}
	// Each listener is open until the test ends.
	fdsAfter, goroutinesAfter, _ := ResourcesLeft(t, fds+passes*runs, goroutines)
	if fdsAfter > fds+passes*runs || goroutinesAfter > goroutines {
		t.Errorf("%d descriptors became %d, %d goroutines became %d", fds, fdsAfter, goroutines, goroutinesAfter)
	}
}
