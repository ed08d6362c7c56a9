package http

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

// The tests of this file are named after faults of other engines.

// wrk adds the round trips that it thinks a stalled closed loop has missed.
func TestWrkCorrectsAClosedLoopOfHTTP(t *testing.T) {
	const stall = 50 * time.Millisecond
	// The first response opens the window and isn't counted: a later one stalls, alone.
	var asked atomic.Int64
	calls := callServer(t, func(_ http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 10 {
			<-time.After(stall)
		}
	}, Options{Window: traffic.Window{Duration: 200 * time.Millisecond}, Connections: 2})
	if calls.Latency.Count() != calls.Count || calls.Service != nil {
		t.Errorf("%d responses, %d latencies", calls.Count, calls.Latency.Count())
	}
	if longest, _ := calls.Latency.Max(); longest < stall {
		t.Errorf("the stall of %v is not in the histogram: the longest is %v", stall, longest)
	}
	// One response stalled, so the sum over all of them fits the connections.
	mean, _ := calls.Latency.Mean()
	longest, _ := calls.Latency.Max()
	if sum, room := time.Duration(calls.Count)*mean, 2*(calls.Elapsed+longest); sum > room+room/100 {
		t.Errorf("%d responses of %v do not fit into %v on two connections", calls.Count, mean, calls.Elapsed)
	}
}

// wrk2 hangs or misbehaves when the rate is below the number of threads or
// connections.
func TestLabWrk2HangsBelowOneRequestAConnection(t *testing.T) {
	t.Parallel()
	const rate, connections = 20, 60
	for _, mode := range []Mode{KeepAlive, CloseEach} {
		_, calls := runHTTP(t, Options{Window: traffic.Window{Duration: 500 * time.Millisecond}, Rate: rate, Connections: connections, Mode: mode})
		due := calls.Elapsed.Seconds() * rate
		if got := float64(calls.Latency.Count()); math.Abs(got-due) > 1 || calls.Unanswered > 0 {
			t.Errorf("%s: %v latencies of %v requests due, %d unanswered", mode, got, due, calls.Unanswered)
		}
	}
}

// wrk2 sends bursts, since its connections start together; autocannon sends
// each second's share at its beginning; hey's ticker drops what it is too late
// for.
func TestAutocannonFrontLoadsEachSecond(t *testing.T) {
	for _, rate := range []float64{1, 7, 999, 123456.7} {
		a := newArrivals(rate)
		if a.due() != traffic.Unset {
			t.Fatal("something is due before the start")
		}
		a.start = 5 * time.Second
		step := time.Duration(float64(time.Second) / rate)
		last := a.due()
		for range 500_000 {
			a.take()
			if gap := a.due() - last; gap < step || gap > step+1 {
				t.Fatalf("rate %v: a gap of %v, want %v", rate, gap, step)
			}
			last = a.due()
		}
		if want := a.start + time.Duration(500_000*float64(time.Second)/rate); last < want-1 || last > want+1 {
			t.Errorf("rate %v: half a million requests end at %v, want %v", rate, last, want)
		}
		a.stop = last
		if a.due() != traffic.Unset {
			t.Error("something is due after the end")
		}
	}
}

// oha's workers wait for slow responses and quietly lose the rate.
func TestLabOhaLosesItsRateToSlowResponses(t *testing.T) {
	t.Parallel()
	const rate, slow = 100, 50 * time.Millisecond
	sleepy := func(http.ResponseWriter, *http.Request) { <-time.After(slow) }
	window := traffic.Window{Duration: 400 * time.Millisecond}

	enough := callServer(t, sleepy, Options{Window: window, Rate: rate, Connections: 40})
	due := enough.Elapsed.Seconds() * rate
	if got := float64(enough.Latency.Count()); math.Abs(got-due) > 1 {
		t.Errorf("40 connections: %v of %v requests were answered", got, due)
	}
	if least, _ := enough.Latency.Min(); least < slow {
		t.Errorf("40 connections: a latency of %v", least)
	}

	// Two connections carry 40 requests/s at most. The others wait, and their
	// waiting is in the latency and not in the service time.
	few := callServer(t, sleepy, Options{Window: window, Rate: rate, Connections: 2})
	due = few.Elapsed.Seconds() * rate
	if most := 2 + 2*float64(few.Elapsed/slow); float64(few.Sent) > most || float64(few.Sent) > 0.9*due {
		t.Errorf("2 connections: %d sent of %v due, %v possible", few.Sent, due, most)
	}
	if got := float64(few.Latency.Count()); math.Abs(got-due) > 1 {
		t.Errorf("2 connections: %v latencies of %v requests due", got, due)
	}
	latency, _ := few.Latency.Max()
	service, _ := few.Service.Quantile(0.5)
	if latency < 4*slow || service > latency/2 {
		t.Errorf("2 connections: latency up to %v, service time %v", latency, service)
	}
}

// A stall at the window's end is in the latencies of what was due meanwhile.
func TestLabHTTPCountsWhatNobodyAnswered(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := func(_ http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > 10 {
			<-r.Context().Done() // until the client hangs up
		}
	}
	calls := callServer(t, server, Options{Window: traffic.Window{Duration: 300 * time.Millisecond}, Rate: 100, Connections: 5})
	due := calls.Elapsed.Seconds() * 100
	if calls.Unanswered == 0 || math.Abs(float64(calls.Latency.Count())-due) > 1 {
		t.Errorf("%d unanswered, %d latencies of %v due", calls.Unanswered, calls.Latency.Count(), due)
	}
	if p50, _ := calls.Latency.Quantile(0.5); p50 < traffic.DrainLimit {
		t.Errorf("most requests waited for %v, but the median is %v", traffic.DrainLimit, p50)
	}
}

// The parallel test's child: more connections than one address has ports.
func checkHTTPFewPorts() error {
	const connections = 30
	l, err := traffictest.OnFewPorts()
	if err != nil {
		return err
	}
	for _, mode := range []Mode{CloseEach, KeepAlive} {
		c := Options{Window: traffic.Window{Duration: 300 * time.Millisecond}, Token: &traffictest.Token, Mode: mode, Connections: connections}
		for answered := int64(0); answered < 3*connections; {
			served, calls, serveErr, callErr := traffictest.Ends(
				func(ctx context.Context) (traffic.Served, error) { return Serve(ctx, l, c) },
				func(ctx context.Context) (Calls, error) { return Call(ctx, l.Addr(), c) })
			if serveErr != nil || callErr != nil {
				return fmt.Errorf("%s: serving end: %w; calling end: %w", mode, serveErr, callErr)
			}
			if len(calls.Failures) > 0 || served.Transactions == 0 {
				return fmt.Errorf("%s: %d responses, failures %v", mode, served.Transactions, calls.Failures)
			}
			answered += served.Transactions
		}
	}
	return checkPortsUsed(l)
}

// checkPortsUsed asks for more than all addresses have: the run ends, and reports
// why and what to do.
func checkPortsUsed(l *traffic.Listener) error {
	ctx, cancel := context.WithTimeout(context.Background(), labtest.Generous)
	defer cancel()
	c := Options{Window: traffic.Window{Warmup: 50 * time.Millisecond, Duration: time.Hour}, Token: &traffictest.Token, Connections: 500}
	served := make(chan error, 1)
	go func() { _, err := Serve(ctx, l, c); served <- err }()
	calls, err := Call(ctx, l.Addr(), c)
	cancel()
	<-served
	if !errors.Is(err, traffic.ErrPortsUsed) || !strings.Contains(err.Error(), "net.ipv4.ip_local_port_range") {
		return fmt.Errorf("500 connections on 340 ports: %d responses, %w", calls.Count, err)
	}
	return nil
}

func TestLabHTTPDoesNotRunOutOfPorts(t *testing.T) { traffictest.RunInNamespace(t) }

// A source address is taken from the device that the kernel chose only.
func TestHTTPSourceAddresses(t *testing.T) {
	others, err := neighbours(traffictest.Loopback.Addr())
	if err != nil || len(others) != 16 {
		t.Fatalf("loopback: %v, %v, want 16 addresses", others, err)
	}
	labtest.Equal(t, "loopback, of the last address", others[15].IsLoopback(), true)
	labtest.Equal(t, "the address itself among its neighbours", slices.Contains(others, traffictest.Loopback.Addr()), false)
	for _, foreign := range []string{"192.0.2.77", "2001:db8::77"} { // RFC 5737, RFC 3849: documentation
		if others, err := neighbours(netip.MustParseAddr(foreign)); err != nil || len(others) != 0 {
			t.Errorf("%s, which no device has: %v, %v", foreign, others, err)
		}
	}
}

func BenchmarkHTTPParser(b *testing.B) {
	var p parser
	response := []byte("HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Fri, 20 Nov 2026 13:31:42 GMT\r\nContent-Type: text/html\r\nContent-Length: 12\r\nConnection: keep-alive\r\n\r\nhello, world")
	b.ReportAllocs()
	for b.Loop() {
		p.reset()
		if _, whole, err := p.feed(response); !whole || err != nil {
			b.Fatal(err)
		}
	}
}
