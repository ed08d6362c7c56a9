package traffic

import (
	"testing"
	"time"
)

func TestLabRequestResponse(t *testing.T) {
	window := shortWindow
	window.Interval = 20 * time.Millisecond
	moved := int64(0)
	for _, test := range []struct {
		name        string
		run         func(testing.TB, RequestResponse) (Served, Transactions)
		flows, size int
	}{
		{"tcp_rr", runTCPRR, 1, 0},
		{"tcp_rr", runTCPRR, 1, 200_000},
		{"tcp_rr", runTCPRR, 5, 0},
		{"tcp_rr", runTCPRR, 5, maxShared},
		{"udp_rr", runUDPRR, 1, 0},
		{"udp_rr", runUDPRR, 1, 30_000},
		{"udp_rr", runUDPRR, 5, 1400},
		{"tcp_crr", runTCPCRR, 1, 0},
		{"tcp_crr", runTCPCRR, 1, 5000},
	} {
		served, calls := test.run(t, RequestResponse{Token: testToken, Window: window, Flows: test.flows, Size: test.size})
		name := test.name
		if calls.Count == 0 || calls.Count != calls.RTT.Count() {
			t.Errorf("%s: %d transactions, %d round trips", name, calls.Count, calls.RTT.Count())
		}
		if served.Transactions < calls.Count {
			t.Errorf("%s: %d transactions, but the server answered %d", name, calls.Count, served.Transactions)
		}
		if calls.Lost != 0 || len(calls.Failures) != 0 || served.Unauthenticated != 0 {
			t.Errorf("%s: %d lost, failures %v, %d strangers", name, calls.Lost, calls.Failures, served.Unauthenticated)
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
		moved += checkSeries(t, calls.Series, window)
	}
	if moved == 0 {
		t.Error("no series counted anything")
	}
}

func TestRequestResponseIsChecked(t *testing.T) {
	for _, c := range []RequestResponse{
		{}, {Window: shortWindow, Flows: -1}, {Window: shortWindow, Size: -1},
		{Window: shortWindow, Size: maxRequest + 1}, {Window: shortWindow, Flows: 2, Size: maxShared + 1},
		{Window: shortWindow, Timeout: time.Nanosecond},
	} {
		if _, err := CallTCPRR(t.Context(), loopback, c); err == nil {
			t.Errorf("%+v was called", c)
		}
	}
	small := RequestResponse{Window: shortWindow, Size: HeaderBytes - 1}
	if _, err := CallUDPRR(t.Context(), loopback, small); err == nil {
		t.Error("a datagram without room for its header was called")
	}
	if _, err := CallTCPCRR(t.Context(), loopback, RequestResponse{Window: shortWindow, Flows: 2}); err == nil {
		t.Error("tcp_crr ran with two flows")
	}
}
