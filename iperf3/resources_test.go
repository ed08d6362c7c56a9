package iperf3

import (
	"context"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A run costs what it sets up, however much passes.
func TestLabAllocatesNothingPerBlock(t *testing.T) {
	at, _ := ourServer(t, loopback)
	for name, c := range map[string]struct {
		test   Test
		blocks int64
	}{
		"tcp":         {Test{Bytes: 400 << 20, Size: 8 << 10}, 20000},
		"tcp paced":   {Test{Duration: 400 * time.Millisecond, Size: 1000, Rate: 800e6}, 5000},
		"tcp reverse": {Test{Bytes: 400 << 20, Size: 8 << 10, Reverse: true}, 20000},
		"udp":         {Test{UDP: true, Duration: 400 * time.Millisecond, Size: 64}, 5000},
		"udp reverse": {Test{UDP: true, Duration: 400 * time.Millisecond, Size: 64, Reverse: true}, 5000},
		"udp both":    {Test{UDP: true, Duration: 400 * time.Millisecond, Size: 64, Bidir: true, Flows: 2}, 5000},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, err := Run(t.Context(), at, c.test)
		if err != nil {
			t.Fatal(name, err)
		}
		runtime.ReadMemStats(&after)
		var blocks int64
		for _, f := range out.Flows {
			blocks += f.SentBytes / int64(out.Test.Size)
		}
		if blocks < c.blocks {
			t.Errorf("%s: %d blocks are too few", name, blocks)
		}
		if n := after.Mallocs - before.Mallocs; n > 4000 {
			t.Errorf("%s: %d allocations at both ends for %d blocks", name, n, blocks)
		}
	}
}

func TestLabRunsLeakNothing(t *testing.T) {
	at, _ := ourServer(t, loopback)
	pass := func() {
		for _, test := range []Test{
			{Bytes: 1 << 20}, {Bytes: 1 << 20, Reverse: true, Flows: 3},
			{UDP: true, Bytes: 100_000, Size: 1000, Rate: 100e6}, {Duration: 20 * time.Millisecond, Bidir: true},
		} {
			awaitFree(t, at)
			_, err := Run(t.Context(), at, test)
			for err != nil && strings.Contains(err.Error(), "busy") { // with the last one, which has gone
				_, err = Run(t.Context(), at, test)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := Run(ctx, at, Test{Duration: time.Minute}); err == nil {
			t.Fatal("a run outlived its context")
		}
	}
	open := func() (fds, goroutines int) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries), runtime.NumGoroutine()
	}
	pass()
	fds, goroutines := open()
	for range 5 {
		pass()
	}
	// Goroutines and sockets that are about to end may still be there.
	for end := time.Now().Add(8 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		fdsNow, goroutinesNow := open()
		if fdsNow <= fds && goroutinesNow <= goroutines {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d descriptors became %d, %d goroutines became %d", fds, fdsNow, goroutines, goroutinesNow)
		}
	}
}

// awaitFree waits until the server takes a test: it may not have noticed yet
// that the last client has gone.
func awaitFree(t testing.TB, at netip.AddrPort) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); ; {
		next := dialScript(t, at)
		var answer [1]byte
		next.reads(answer[:])
		next.conn.Close()
		if state(answer[0]) == paramExchange {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the server answers the next client with %d", int8(answer[0]))
		}
	}
}
