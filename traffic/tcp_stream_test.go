package traffic

import (
	"testing"
	"time"
)

func TestTCPStream(t *testing.T) {
	for _, flows := range []int{1, 4} {
		edges := map[Edge]time.Time{}
		window := shortWindow
		window.Interval = 10 * time.Millisecond
		window.Edge = func(e Edge) { edges[e] = time.Now() }
		served, driven := runTCPStream(t, TCPStream{Token: testToken, Window: window, Flows: flows, ReadBytes: 64 << 10})
		received, sent := served.Received, driven.Sent

		if len(received.Flows) != flows || len(sent.Flows) != flows {
			t.Fatalf("%d flows: %d received, %d sent", flows, len(received.Flows), len(sent.Flows))
		}
		var sum int64
		for i, f := range received.Flows {
			sum += f.Bytes
			if f.Elapsed < window.Duration/2 || f.Bytes < 0 {
				t.Errorf("flow %d: %d bytes in %v", i, f.Bytes, f.Elapsed)
			}
			if sent.Flows[i].MSS < 500 || sent.Flows[i].CongestionWindow < 1 || sent.Flows[i].RTT <= 0 {
				t.Errorf("flow %d: %+v", i, sent.Flows[i])
			}
		}
		var given int64
		for _, f := range sent.Flows {
			given += f.Bytes
		}
		if given == 0 || sum == 0 || received.Goodput() <= 0 {
			t.Errorf("sender gave %d bytes, receiver took %d, %.0f bit/s", given, sum, received.Goodput())
		}
		if served.Congestion == "" || served.Congestion != driven.Congestion {
			t.Errorf("congestion control %q and %q", served.Congestion, driven.Congestion)
		}
		if received.Undrained != 0 || served.Strangers != 0 {
			t.Errorf("%d flows undrained, %d strangers", received.Undrained, served.Strangers)
		}
		if open := edges[Closing].Sub(edges[Opening]); open < window.Duration/2 {
			t.Errorf("the window was open for %v", open)
		}
		checkSeries(t, received.Series, window)
		if len(sent.Series) < 2 || sent.Series[0].RTT <= 0 {
			t.Errorf("sender's series %+v", sent.Series)
		}
	}
}

// checkSeries wants a point at each interval and counts that never fall, and
// gives the last one. A machine that is busy elsewhere may keep it at zero.
func checkSeries(t *testing.T, series []Point, w Window) int64 {
	t.Helper()
	if want := int(w.Duration/w.Interval) + 1; len(series) > want || len(series) < 2 {
		t.Fatalf("%d points, want %d", len(series), want)
	}
	for i, p := range series[1:] {
		if p.Count < series[i].Count || p.At <= series[i].At {
			t.Errorf("point %d: %+v after %+v", i+1, p, series[i])
		}
	}
	if series[0].Count != 0 {
		t.Errorf("series %+v", series)
	}
	return series[len(series)-1].Count
}

func TestTCPStreamIsChecked(t *testing.T) {
	for _, s := range []TCPStream{
		{}, {Window: shortWindow, Flows: -1}, {Window: shortWindow, Flows: maxFlows + 1},
		{Window: shortWindow, ReadBytes: -1}, {Window: shortWindow, WriteBytes: maxBlock + 1},
	} {
		if _, err := ServeTCPStream(t.Context(), listenTCP(t), s); err == nil {
			t.Errorf("%+v was served", s)
		}
		if _, err := SendTCPStream(t.Context(), loopback, s); err == nil {
			t.Errorf("%+v was sent", s)
		}
	}
}
