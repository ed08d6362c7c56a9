package traffic_test

import (
	"context"
	"testing"
	"time"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
	"tare/traffic/http"
	"tare/traffic/tcprr"
	"tare/traffic/tcpstream"
	"tare/traffic/udp"
)

// TestLabOpenLoopKeepsItsSchedule sends at a rate that any path carries: what was due in the
// window has a response time, whether it was late or not.
func TestLabOpenLoopKeepsItsSchedule(t *testing.T) {
	for name, run := range map[string]func(testing.TB, traffic.RequestResponse) (traffic.Served, traffic.Transactions){"tcp_rr": runTCPRR, "udp_rr": runUDPRR} {
		for _, flows := range []int{1, 3} {
			window := traffic.Window{Warmup: 20 * time.Millisecond, Duration: 200 * time.Millisecond}
			_, got := run(t, traffic.RequestResponse{Token: traffictest.Token, Window: window, Flows: flows, Rate: 500})
			labtest.AtLeast(t, name+": response times", float64(got.RTT.Count()), 500*got.Elapsed.Seconds()-1)
			if rate := got.Rate(); labtest.Timed(t) && (rate < 450 || rate > 550) {
				t.Errorf("%s: %d requests in %v, want 500 a second", name, got.Count, got.Elapsed)
			}
			if got.RTT.Count() < got.Count || got.Service.Count() != got.Count {
				t.Errorf("%s: %d transactions, %d response times, %d service times", name, got.Count, got.RTT.Count(), got.Service.Count())
			}
		}
	}
}

// TestLabWrk2HangsWhenThreadsExceedRate: fewer requests a second than connections
// must work, and each connection gets its turn.
func TestLabWrk2HangsWhenThreadsExceedRate(t *testing.T) {
	t.Parallel()
	window := traffic.Window{Warmup: 0, Duration: 500 * time.Millisecond}
	served, got := runTCPRR(t, traffic.RequestResponse{Token: traffictest.Token, Window: window, Flows: 30, Rate: 20})
	labtest.AtLeast(t, "response times", float64(got.RTT.Count()), 20*got.Elapsed.Seconds()-1)
	labtest.AtLeast(t, "answers", served.Transactions, got.Count)
	labtest.MoreThan(t, "requests", got.Count, 0)
}

// stallingServer answers tcp_rr and holds one answer back for a while.
func callStallingServer(t *testing.T, c traffic.RequestResponse, stall time.Duration) traffic.Transactions {
	t.Helper()
	l := traffictest.ListenTCP(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r := traffic.StartRun(t.Context())
		defer r.End()
		a := traffic.NewAcceptor(r, l, c.Token, traffic.GreetingLen)
		fds, err := a.AcceptFlows("", 1)
		if err != nil {
			t.Error(err)
			return
		}
		defer traffic.CloseSocket(fds[0])
		one := make([]byte, 1)
		for n := 0; ; {
			got, errno := traffic.Receive(fds[0], one, 0)
			if traffic.Waited(errno) {
				continue
			}
			if errno != 0 || got == 0 || one[0] == traffic.EndByte {
				return
			}
			if n++; n == 5 {
				<-time.After(stall)
			}
			if traffic.SendAll(r, fds[0], one) != nil {
				return
			}
		}
	}()
	got, err := tcprr.Call(t.Context(), l.Addr(), c)
	if err != nil {
		t.Fatal(err)
	}
	<-done
	return got
}

// TestLabWrkCorrectsAClosedLoop: a server that stalls once in a closed loop has
// stalled one request, and no others are invented. In an open loop all that
// were due meanwhile have waited.
func TestLabWrkCorrectsAClosedLoop(t *testing.T) {
	const stall = 100 * time.Millisecond
	c := traffic.RequestResponse{Token: traffictest.Token, Window: traffic.Window{Duration: 300 * time.Millisecond}, Size: 1}
	slow := func(h *traffic.Histogram) int64 { return h.Above(stall / 4) }
	closed := callStallingServer(t, c, stall)
	if n := slow(closed.RTT); n < 1 || labtest.Timed(t) && n > 3 || closed.RTT.Count() != closed.Count {
		t.Errorf("closed loop: %d slow round trips of %d, %d transactions: want the one that stalled", n, closed.RTT.Count(), closed.Count)
	}
	c.Rate = 1000
	open := callStallingServer(t, c, stall)
	// Those due in the first three quarters of the stall waited over a quarter.
	if n := slow(open.RTT); n < 70 {
		t.Errorf("open loop: %d slow responses, want the 75 that were due in the stall", n)
	}
}

// TestLabOhaHoldsTheRateBack: what could not be answered by the window's end
// is in the histogram with the time it has waited, and the shortfall in
// the rate.
func TestLabOhaHoldsTheRateBack(t *testing.T) {
	t.Parallel()
	c := traffic.RequestResponse{Token: traffictest.Token, Window: traffic.Window{Duration: 300 * time.Millisecond}, Size: 1, Rate: 1000}
	got := callStallingServer(t, c, 600*time.Millisecond)
	labtest.AtMost(t, "answers of a server that stalls at the fifth", got.Count, 5)
	if p90, ok := got.RTT.Quantile(0.9); !ok || p90 < 100*time.Millisecond {
		t.Errorf("p90 is %v: the requests that were never answered are missing", p90)
	}
}

func TestLabSpinningAndReset(t *testing.T) {
	c := traffic.RequestResponse{Token: traffictest.Token, Window: traffictest.ShortWindow, Spin: true}
	for _, flows := range []int{1, 3} {
		c.Flows = flows
		if _, got := runTCPRR(t, c); got.Count == 0 {
			t.Errorf("tcp_rr that spins on %d flows did nothing", flows)
		}
		if _, got := runUDPRR(t, c); got.Count == 0 {
			t.Errorf("udp_rr that spins on %d flows did nothing", flows)
		}
	}
	served, got := runTCPCRR(t, traffic.RequestResponse{Token: traffictest.Token, Window: traffictest.ShortWindow, Reset: true})
	if got.Count == 0 || len(got.Failures) != 0 || served.Transactions < got.Count {
		t.Errorf("tcp_crr by reset: %d transactions, %d answered, failures %v", got.Count, served.Transactions, got.Failures)
	}
}

// A run whose slots are all of the time, so that none is missed for others. A busy machine
// may be late for all slots of one, or for its window, but not for those of all.
func TestLabRunsInSlots(t *testing.T) {
	const (
		ms     = time.Millisecond
		cycles = 40 // a busy machine lets an end wait for tenths of a second
	)
	opened := 0
	var inSlots, inWindows int64
	window := func(s *traffic.Slots) traffic.Window {
		opened = 0
		return traffic.Window{Warmup: 100 * ms, Duration: s.Span(), Slots: s, Edge: func(e traffic.Edge) {
			if e == traffic.Opening {
				opened++
			}
		}}
	}
	check := func(name string, s traffic.Slots, taken traffic.Taken, counted int64) {
		t.Helper()
		var sum int64
		for _, slot := range taken.Slots {
			sum += slot.Count
		}
		labtest.Equal(t, name+": slots", len(taken.Slots), s.Cycles)
		labtest.Equal(t, name+": count in them", sum, counted)
		labtest.AtMost(t, name+": windows that opened", opened, 1)
		inSlots, inWindows = inSlots+counted, inWindows+taken.Window.Count
	}
	for _, loop := range []struct {
		name string
		run  func(testing.TB, traffic.RequestResponse) (traffic.Served, traffic.Transactions)
	}{{"tcp_rr", onceTCPRR}, {"udp_rr", onceUDPRR}, {"tcp_crr", onceTCPCRR}} {
		s := traffic.Soon(t, 1, cycles)
		_, called := loop.run(t, traffic.RequestResponse{Token: traffictest.Token, Window: window(&s)})
		check(loop.name, s, called.Taken, called.Count)
		labtest.Equal(t, loop.name+": round trips", called.RTT.Count(), called.Count)
	}

	s := traffic.Soon(t, 1, cycles)
	requests := http.Options{Token: &traffictest.Token, Window: window(&s), Connections: 3}
	front := traffictest.ListenTCP(t)
	_, calls := traffictest.MustRun(t,
		func(ctx context.Context) (traffic.Served, error) { return http.Serve(ctx, front, requests) },
		func(ctx context.Context) (http.Calls, error) { return http.Call(ctx, front.Addr(), requests) })
	check("http", s, calls.Taken, calls.Count)
	labtest.Equal(t, "http: response times", calls.Latency.Count(), calls.Count)

	s = traffic.Soon(t, 1, cycles)
	stream := tcpstream.Options{Token: traffictest.Token, Window: window(&s)}
	l := traffictest.ListenTCP(t)
	got, sent := traffictest.MustRun(t,
		func(ctx context.Context) (tcpstream.End, error) { return tcpstream.Serve(ctx, l, stream) },
		func(ctx context.Context) (tcpstream.End, error) { return tcpstream.Send(ctx, l.Addr(), stream) })
	check("tcp_stream", s, got.Received.Taken, got.Received.Bytes())
	labtest.NotEqual(t, "sender", sent.Sent, nil)

	s = traffic.Soon(t, 1, cycles)
	pps := udp.PPS{Token: traffictest.Token, Window: window(&s)}
	port := listenUDP(t)
	received, flooded := traffictest.MustRun(t,
		func(ctx context.Context) (udp.Received, error) { return udp.ServePPS(ctx, port, pps) },
		func(ctx context.Context) (udp.Sent, error) { return udp.SendPPS(ctx, port.Addr(), pps) })
	check("udp_pps", s, received.Taken, received.Datagrams)
	if received.Datagrams > 0 {
		labtest.MoreThan(t, "udp_pps: sent in slots", flooded.Datagrams, 0)
	}
	labtest.AtMost(t, "udp_pps: time of its slots", received.Elapsed, time.Duration(s.Cycles)*s.Length)
	labtest.MoreThan(t, "count in all slots", inSlots, 0)
	labtest.MoreThan(t, "count in all windows", inWindows, 0)
}
