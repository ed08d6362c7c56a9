package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// counted counts the bytes of streams.
type counted struct{ bytes atomic.Int64 }

type countedWriter struct {
	io.WriteCloser
	c *counted
}

type countedReader struct {
	io.Reader
	c *counted
}

func (c *counted) writer(w io.WriteCloser) io.WriteCloser { return countedWriter{w, c} }

func (c *counted) reader(r io.Reader) io.Reader { return countedReader{r, c} }

func (w countedWriter) Write(p []byte) (int, error) {
	n, err := w.WriteCloser.Write(p)
	w.c.bytes.Add(int64(n))
	return n, err
}

func (r countedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.c.bytes.Add(int64(n))
	return n, err
}

// heapPeak watches the objects of the heap, dead ones included, until it is stopped.
func heapPeak() (stop func() uint64) {
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

// rssPeak is the most memory that this process has had, in bytes.
func rssPeak() (uint64, error) {
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

// cpuTime is what this process used of the CPUs.
func cpuTime() (time.Duration, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("read CPU time: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
