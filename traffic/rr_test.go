package traffic_test

import (
	"context"
	"testing"
	"time"

	"tare/test/traffictest"
	"tare/traffic"
	"tare/traffic/tcpcrr"
	"tare/traffic/tcprr"
	"tare/traffic/udp"
)

func TestLabRequestResponse(t *testing.T) {
	window := traffictest.ShortWindow
	window.Interval = 20 * time.Millisecond
	moved := int64(0)
	for _, test := range []struct {
		name        string
		run         func(testing.TB, traffic.RequestResponse) (traffic.Served, traffic.Transactions)
		flows, size int
	}{
		{"tcp_rr", runTCPRR, 1, 0},
		{"tcp_rr", runTCPRR, 1, 200_000},
		{"tcp_rr", runTCPRR, 5, 0},
		{"tcp_rr", runTCPRR, 5, traffic.MaxShared},
		{"udp_rr", runUDPRR, 1, 0},
		{"udp_rr", runUDPRR, 1, 30_000},
		{"udp_rr", runUDPRR, 5, 1400},
		{"tcp_crr", runTCPCRR, 1, 0},
		{"tcp_crr", runTCPCRR, 1, 5000},
	} {
		served, calls := test.run(t, traffic.RequestResponse{Token: traffictest.Token, Window: window, Flows: test.flows, Size: test.size})
		name := test.name
		if calls.Count == 0 || calls.Count != calls.RTT.Count() {
			t.Errorf("%s: %d transactions, %d round trips", name, calls.Count, calls.RTT.Count())
		}
		if served.Transactions < calls.Count {
			t.Errorf("%s: %d transactions, but the server answered %d", name, calls.Count, served.Transactions)
		}
		if calls.Lost != 0 || len(calls.Failures) != 0 || served.Unauthenticated != 0 {
			t.Errorf("%s: %d lost, failures %v, %d unauthenticated peers", name, calls.Lost, calls.Failures, served.Unauthenticated)
		}
		// A loop has one request open at a time, so its round trips fit into
		// the window, but for the one that was open when the window opened.
		mean, _ := calls.RTT.Mean()
		longest, _ := calls.RTT.Max()
		inRoundTrips := time.Duration(calls.Count) * mean
		if room := time.Duration(test.flows) * (calls.Elapsed + longest); inRoundTrips > room+room/100 {
			t.Errorf("%s: %d transactions of %v do not fit into %v of %d loops", name, calls.Count, mean, calls.Elapsed, test.flows)
		}
		if name != "udp_rr" && (calls.Congestion == "" || calls.Congestion != served.Congestion) {
			t.Errorf("%s: congestion control %q and %q", name, calls.Congestion, served.Congestion)
		}
		moved += traffictest.CheckSeries(t, calls.Series, window)
	}
	if moved == 0 {
		t.Error("no series counted anything")
	}
}

func TestRequestResponseIsChecked(t *testing.T) {
	for _, c := range []traffic.RequestResponse{
		{}, {Window: traffictest.ShortWindow, Flows: -1}, {Window: traffictest.ShortWindow, Size: -1},
		{Window: traffictest.ShortWindow, Size: traffic.MaxRequest + 1}, {Window: traffictest.ShortWindow, Flows: 2, Size: traffic.MaxShared + 1},
		{Window: traffictest.ShortWindow, Timeout: time.Nanosecond},
	} {
		if _, err := tcprr.Call(t.Context(), traffictest.Loopback, c); err == nil {
			t.Errorf("%+v was called", c)
		}
	}
	small := traffic.RequestResponse{Window: traffictest.ShortWindow, Size: traffic.HeaderBytes - 1}
	if _, err := udp.CallRR(t.Context(), traffictest.Loopback, small); err == nil {
		t.Error("a datagram without room for its header was called")
	}
	if _, err := tcpcrr.Call(t.Context(), traffictest.Loopback, traffic.RequestResponse{Window: traffictest.ShortWindow, Flows: 2}); err == nil {
		t.Error("tcp_crr ran with two flows")
	}
}

// worked is a run that did something in its window.
func worked(t testing.TB, once func(testing.TB, traffic.RequestResponse) (traffic.Served, traffic.Transactions), c traffic.RequestResponse) (traffic.Served, traffic.Transactions) {
	t.Helper()
	return traffictest.Worked(t, func(calls traffic.Transactions) int64 { return calls.Count },
		func() (traffic.Served, traffic.Transactions) { return once(t, c) })
}

func runTCPRR(t testing.TB, c traffic.RequestResponse) (traffic.Served, traffic.Transactions) {
	t.Helper()
	return worked(t, onceTCPRR, c)
}

func runUDPRR(t testing.TB, c traffic.RequestResponse) (traffic.Served, traffic.Transactions) {
	t.Helper()
	return worked(t, onceUDPRR, c)
}

func runTCPCRR(t testing.TB, c traffic.RequestResponse) (traffic.Served, traffic.Transactions) {
	t.Helper()
	return worked(t, onceTCPCRR, c)
}

func onceTCPRR(t testing.TB, c traffic.RequestResponse) (traffic.Served, traffic.Transactions) {
	t.Helper()
	l := traffictest.ListenTCP(t)
	return traffictest.MustRun(t,
		func(ctx context.Context) (traffic.Served, error) { return tcprr.Serve(ctx, l, c) },
		func(ctx context.Context) (traffic.Transactions, error) { return tcprr.Call(ctx, l.Addr(), c) })
}

func onceTCPCRR(t testing.TB, c traffic.RequestResponse) (traffic.Served, traffic.Transactions) {
	t.Helper()
	l := traffictest.ListenTCP(t)
	return traffictest.MustRun(t,
		func(ctx context.Context) (traffic.Served, error) { return tcpcrr.Serve(ctx, l, c) },
		func(ctx context.Context) (traffic.Transactions, error) { return tcpcrr.Call(ctx, l.Addr(), c) })
}

func onceUDPRR(t testing.TB, c traffic.RequestResponse) (traffic.Served, traffic.Transactions) {
	t.Helper()
	l := listenUDP(t)
	return traffictest.MustRun(t,
		func(ctx context.Context) (traffic.Served, error) { return udp.ServeRR(ctx, l, c) },
		func(ctx context.Context) (traffic.Transactions, error) { return udp.CallRR(ctx, l.Addr(), c) })
}

func listenUDP(t testing.TB) *udp.Listener {
	t.Helper()
	l, err := udp.Listen(traffictest.Loopback)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}
