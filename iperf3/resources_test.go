package iperf3

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
)

// A run costs what it sets up, however much passes.
func TestAllocatesNothingPerBlock(t *testing.T) {
	at, _ := ourServer(t, loopback)
	const blocks = 5000
	for name, test := range map[string]Test{
		"tcp":         {Bytes: blocks * 8 * kib, Size: 8 * kib},
		"tcp paced":   {Bytes: blocks * 1000, Size: 1000, Rate: 800e6},
		"tcp reverse": {Bytes: blocks * 8 * kib, Size: 8 * kib, Reverse: true},
		"udp":         {UDP: true, Bytes: blocks * 64, Size: 64},
		"udp reverse": {UDP: true, Bytes: blocks * 64, Size: 64, Reverse: true},
		"udp both":    {UDP: true, Bytes: blocks * 64, Size: 64, Bidir: true, Flows: 2},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, err := Run(t.Context(), at, test)
		if err != nil {
			t.Fatal(name, err)
		}
		runtime.ReadMemStats(&after)
		var sent int64
		for _, f := range out.Flows {
			sent += f.SentBytes / int64(out.Test.Size)
		}
		labtest.AtLeast(t, name+": blocks", sent, blocks)
		labtest.AtMost(t, name+": allocations at both ends", after.Mallocs-before.Mallocs, blocks*4/5)
	}
}

func TestRunsLeakNothing(t *testing.T) {
	at, _ := ourServer(t, loopback)
	pass := func() {
		for _, test := range []Test{
			{Bytes: 1 << 20}, {Bytes: 1 << 20, Reverse: true, Flows: 3},
			{UDP: true, Bytes: 100_000, Size: 1000, Rate: 100e6}, {Duration: 20 * time.Millisecond, Bidir: true},
		} {
			labtest.Await(t, "the server takes a test", func() bool {
				_, err := Run(t.Context(), at, test)
				busy := err != nil && strings.Contains(err.Error(), "busy") // with the last one, which has gone
				if err != nil && !busy {
					t.Fatal(err)
				}
				return !busy
			})
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
	labtest.Await(t, fmt.Sprintf("no more than %d descriptors and %d goroutines", fds, goroutines), func() bool {
		fdsNow, goroutinesNow := open()
		return fdsNow <= fds && goroutinesNow <= goroutines
	})
}

// awaitFree waits until the server takes a test: it may not have noticed yet
// that the last client has gone.
func awaitFree(t testing.TB, at netip.AddrPort) {
	t.Helper()
	labtest.Await(t, "the server takes a test", func() bool {
		next := dialScript(t, at)
		defer next.conn.Close()
		var answer [1]byte
		next.reads(answer[:])
		return state(answer[0]) == paramExchange
	})
}
