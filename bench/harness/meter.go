package harness

import (
	"errors"
	"fmt"
	"os"
	"runtime/metrics"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tare/probe"
)

// The part of a run in which its CPU time is read, as parts of its window
// since the client began to send: the steady part of every tool.
const (
	MeterFrom = 0.25
	MeterTo   = 0.9
)

// Metered does a run, whose window begins after lead, and gives how many CPUs were busy on average
// over the steady part of it. CPU time is that of the whole machine: both ends, softirq and kernel
// threads included, time stolen left out. The kernel's file has steps of 10 ms. It is an error
// that the run ends before its window.
func Metered(lead, window time.Duration, run func() error) (cores float64, err error) {
	reader, err := probe.OpenCPU("/")
	if err != nil {
		return 0, err
	}
	var edges [2]probe.CPU
	var at [2]time.Time
	stop, read := make(chan struct{}), make(chan error, 1)
	start := time.Now().Add(lead)
	go func() {
		var err error
		for n, part := range []float64{MeterFrom, MeterTo} {
			select {
			case <-time.After(time.Until(start.Add(time.Duration(part * float64(window))))):
				at[n], err = time.Now(), errors.Join(err, reader.Read(&edges[n]))
			case <-stop:
			}
		}
		read <- errors.Join(err, reader.Close())
	}()
	err = run()
	close(stop)
	switch meterErr := <-read; {
	case err != nil: // the meter's error only follows from it
		return 0, err
	case meterErr != nil:
		return 0, meterErr
	case at[1].IsZero():
		return 0, errors.New("the run ended before its window")
	}
	spent := edges[1].Since(edges[0])
	return float64(spent.Busy-spent.Steal) / at[1].Sub(at[0]).Seconds(), nil
}

// HeapPeak watches the objects of this process's heap, dead ones included, until it is stopped. It
// gives the most that they took, in bytes.
func HeapPeak() (stop func() uint64) {
	done, peak := make(chan struct{}), make(chan uint64)
	go func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		most := uint64(0)
		for {
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64())
			select {
			case <-tick.C:
			case <-done:
				peak <- most
				return
			}
		}
	}()
	return func() uint64 {
		close(done)
		return <-peak
	}
}

// RSSPeak is the most memory that this process has had, in bytes.
func RSSPeak() (uint64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		var kilobytes uint64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kilobytes); err == nil {
			return kilobytes << 10, nil
		}
	}
	return 0, errors.New("read peak of memory: the kernel does not report VmHWM")
}

// CPUTime is what this process used of the CPUs.
func CPUTime() (time.Duration, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("read CPU time: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
