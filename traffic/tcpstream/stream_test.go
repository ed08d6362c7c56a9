package tcpstream

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

func TestLabTCPStream(t *testing.T) {
	for _, flows := range []int{1, 4} {
		edges := map[traffic.Edge]time.Time{}
		window := traffictest.ShortWindow
		window.Interval = 10 * time.Millisecond
		window.Edge = func(e traffic.Edge) { edges[e] = time.Now() }
		served, driven := runTCPStream(t, Options{Token: traffictest.Token, Window: window, Flows: flows, ReadBytes: 64 << 10})
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
		if sum == 0 || received.Goodput() <= 0 {
			t.Errorf("the receiver took %d bytes, %.0f bit/s", sum, received.Goodput())
		}
		if served.Congestion == "" || served.Congestion != driven.Congestion {
			t.Errorf("congestion control %q and %q", served.Congestion, driven.Congestion)
		}
		if received.Undrained != 0 || served.Unauthenticated != 0 {
			t.Errorf("%d flows undrained, %d unauthenticated peers", received.Undrained, served.Unauthenticated)
		}
		if open := edges[traffic.Closing].Sub(edges[traffic.Opening]); open < window.Duration/2 {
			t.Errorf("the window was open for %v", open)
		}
		traffictest.CheckSeries(t, received.Series, window)
		// The sender's begins when it reads that the window has opened.
		points := min(int((sent.Elapsed+window.Interval/2)/window.Interval)+1, int(window.Duration/window.Interval)+2)
		labtest.Equal(t, "points of the sender", len(sent.Series), points)
		if sent.Series[0].RTT <= 0 {
			t.Errorf("sender's series %+v", sent.Series)
		}
	}
}

func TestTCPStreamIsChecked(t *testing.T) {
	for _, s := range []Options{
		{}, {Window: traffictest.ShortWindow, Flows: -1}, {Window: traffictest.ShortWindow, Flows: traffic.MaxFlows + 1},
		{Window: traffictest.ShortWindow, Mode: "gso"}, {Window: traffictest.ShortWindow, Direction: 3}, {Window: traffictest.ShortWindow, Bytes: -1},
		{Window: traffictest.ShortWindow, Rate: -1}, {Window: traffictest.ShortWindow, Rate: 7}, {Window: traffictest.ShortWindow, Rate: 1e9, Mode: Auto},
		{Window: traffictest.ShortWindow, ReadBytes: -1}, {Window: traffictest.ShortWindow, WriteBytes: traffic.MaxBlock + 1},
	} {
		if _, err := Serve(t.Context(), traffictest.ListenTCP(t), s); err == nil {
			t.Errorf("%+v was served", s)
		}
		if _, err := Send(t.Context(), traffictest.Loopback, s); err == nil {
			t.Errorf("%+v was sent", s)
		}
	}
}

func TestLabTCPStreamModesAndDirections(t *testing.T) {
	var offered int64
	for _, mode := range []Mode{Write, Auto, Sendfile, Trunc} {
		for _, direction := range []Direction{Forward, Reverse, Bidirectional} {
			served, driven := runTCPStream(t, Options{Token: traffictest.Token, Window: traffictest.ShortWindow, Mode: mode, Direction: direction, Flows: 2})
			for name, end := range map[string]struct {
				got             End
				receives, sends bool
			}{
				"serving": {served, direction != Reverse, direction != Forward},
				"driving": {driven, direction != Forward, direction != Reverse},
			} {
				if (end.got.Received != nil) != end.receives || (end.got.Sent != nil) != end.sends {
					t.Fatalf("%s, direction %d: the %s end received %+v and sent %+v", mode, direction, name, end.got.Received, end.got.Sent)
				}
				if end.receives && (len(end.got.Received.Flows) != 2 || end.got.Received.Goodput() <= 0) {
					t.Errorf("%s, direction %d: the %s end received %+v", mode, direction, name, end.got.Received)
				}
				if end.sends && len(end.got.Sent.Flows) != 2 {
					t.Errorf("%s, direction %d: the %s end sent %+v", mode, direction, name, end.got.Sent)
				}
				if end.sends {
					offered += end.got.Sent.Flows[0].Bytes
				}
				if end.sends && mode == Auto && !slices.Contains(tunedSizes[:], end.got.Sent.WriteBytes) {
					t.Errorf("%s wrote %d bytes at once", mode, end.got.Sent.WriteBytes)
				}
			}
		}
	}
	labtest.MoreThan(t, "bytes that all senders handed over in what they saw of their windows", offered, 0)
}

// TestOneEdgeEachWay holds that the window whose edges are reported is the serving
// end's where both send, and the receiver's else.
func TestOneEdgeEachWay(t *testing.T) {
	for direction, want := range map[Direction]string{Forward: "serving", Reverse: "driving", Bidirectional: "serving"} {
		reported := map[string]int{}
		var mu sync.Mutex
		window := func(end string) traffic.Window {
			w := traffictest.ShortWindow
			w.Edge = func(traffic.Edge) {
				mu.Lock()
				defer mu.Unlock()
				reported[end]++
			}
			return w
		}
		l := traffictest.ListenTCP(t)
		s := Options{Token: traffictest.Token, Direction: direction}
		traffictest.MustRun(t,
			func(ctx context.Context) (End, error) {
				s := s
				s.Window = window("serving")
				return Serve(ctx, l, s)
			},
			func(ctx context.Context) (End, error) {
				s := s
				s.Window = window("driving")
				return Send(ctx, l.Addr(), s)
			})
		if len(reported) != 1 || reported[want] != 2 {
			t.Errorf("direction %d: edges reported %v, want two at the %s end", direction, reported, want)
		}
	}
}

func TestBytesEndTheWindow(t *testing.T) {
	const bytes = 3 << 20
	for _, flows := range []int{1, 3} {
		s := Options{Token: traffictest.Token, Window: traffic.Window{Warmup: time.Millisecond, Duration: time.Hour, Interval: time.Minute}, Flows: flows, Bytes: bytes, ReadBytes: 64 << 10}
		served, _ := runTCPStream(t, s)
		got := served.Received
		// The read that brings the last byte, and one more of each other flow.
		labtest.Between(t, fmt.Sprintf("%d flows: bytes in the window", flows), got.Bytes(), bytes, int64(bytes+flows*s.ReadBytes-1))
		if got.Elapsed() <= 0 || got.Goodput() <= 0 {
			t.Errorf("%d flows: the window took %v at %.0f bit/s", flows, got.Elapsed(), got.Goodput())
		}
	}
}

// TestSpentBytesEndAFlowThatWasEmpty holds that a flow which had nothing when the last byte came takes
// one read more, also where that leaves more queued.
func TestSpentBytesEndAFlowThatWasEmpty(t *testing.T) {
	w := &streamReceiver{}
	w.quota.limited = true
	w.quota.spent.Store(int64(20 * time.Millisecond))
	f := &streamFlow{streamReceiver: w, meter: traffic.NewMeter(traffic.NewTimetable(traffic.Window{Duration: time.Hour}, 1))}
	const read = 64 << 10
	for _, e := range []traffic.Event{{At: 1, N: read}, {At: 21e6}, {At: 22e6, N: read, More: true}, {At: 23e6, N: read, More: true}, {At: 24e6, N: read, More: true}} {
		f.count(e)
	}
	labtest.Equal(t, "phase", f.meter.Phase(), traffic.Closed)
	labtest.Equal(t, "bytes counted", f.meter.Counted(), read)
}

func TestBytesBeyondTheDuration(t *testing.T) {
	served, _ := runTCPStream(t, Options{Token: traffictest.Token, Window: traffictest.ShortWindow, Bytes: 1 << 50})
	labtest.AtLeast(t, "window", served.Received.Elapsed(), traffictest.ShortWindow.Duration)
}

// under is shortWindow under a congestion control.
func under(cc string) traffic.Window {
	w := traffictest.ShortWindow
	w.CC = cc
	return w
}

func TestCongestionControlIsSet(t *testing.T) {
	served, driven := runTCPStream(t, Options{Token: traffictest.Token, Window: under("reno")})
	if served.Congestion != "reno" || driven.Congestion != "reno" {
		t.Errorf("congestion control %q and %q", served.Congestion, driven.Congestion)
	}
	l := traffictest.ListenTCP(t)
	s := Options{Token: traffictest.Token, Window: under("nosuch")}
	_, _, serveErr, driveErr := traffictest.Ends(
		func(ctx context.Context) (End, error) { return Serve(ctx, l, s) },
		func(ctx context.Context) (End, error) { return Send(ctx, l.Addr(), s) })
	for _, err := range []error{serveErr, driveErr} {
		if err == nil || !strings.Contains(err.Error(), `set congestion control "nosuch"`) || !strings.Contains(err.Error(), "tcp_available_congestion_control") {
			t.Errorf("error %v", err)
		}
	}
}

// Flows begin under the congestion control that was asked for.
func TestFlowsBeginUnderTheirCongestionControl(t *testing.T) {
	l := traffictest.ListenTCP(t)
	r := traffic.StartRun(t.Context())
	defer r.End()
	a := traffic.NewAcceptor(r, l, traffictest.Token, traffic.GreetingLen)
	defer a.Close()
	accepted := make(chan string, 1)
	go func() {
		fds, err := a.AcceptFlows("reno", 1)
		name := fmt.Sprint(err)
		if err == nil {
			name, err = traffic.Congestion(fds[0])
			defer traffic.CloseSockets(fds)
		}
		if accepted <- name; err != nil {
			t.Error(err)
		}
	}()
	fds, err := traffic.DialFlows(r, l.Addr(), traffictest.Token, 1, "reno")
	if err != nil {
		t.Fatal(err)
	}
	defer traffic.CloseSockets(fds)
	name, err := traffic.Congestion(fds[0])
	if err != nil {
		t.Error(err)
	}
	labtest.Equal(t, "dialled flow", name, "reno")
	labtest.Equal(t, "accepted flow", <-accepted, "reno")
}

// TestFlowsMayBeAcceptedInAnyOrder announces the leading flow last.
func TestFlowsMayBeAcceptedInAnyOrder(t *testing.T) {
	forward, reverse := divide([]int{3, 4, 5, 6}, []byte{roleForward, roleReverseLead, roleReverse, roleForwardLead})
	if !slices.Equal(forward, []int{6, 3}) || !slices.Equal(reverse, []int{4, 5}) {
		t.Errorf("forward %v, reverse %v", forward, reverse)
	}
}

// TestTunerKeepsTheFastestSize gives each size a speed that wavers, in a
// machine that also grows slower.
func TestTunerKeepsTheFastestSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		warmup := time.Duration(rapid.Int64Range(int64(leastTuning), int64(5*time.Second)).Draw(t, "warmup"))
		best := rapid.IntRange(0, len(tunedSizes)-1).Draw(t, "best")
		slope := rapid.Float64Range(0, 0.3).Draw(t, "slope")
		tuner := newTuner(warmup)
		var sent float64
		var now time.Duration
		size := tuner.step(0, 0, false)
		for now < warmup && !tuner.done() {
			wait := min(max(tuner.until(now), time.Microsecond), traffic.Tick)
			speed := 1e9 * (1 - slope*float64(now)/float64(warmup))
			if size == tunedSizes[best] {
				speed *= 1.1
			}
			sent += speed * wait.Seconds() * rapid.Float64Range(0.98, 1.02).Draw(t, "noise")
			now += wait
			size = tuner.step(now, int64(sent), false)
		}
		if !tuner.done() || size != tunedSizes[best] {
			t.Fatalf("after %v of %v it writes %d bytes, done: %t; the fastest is %d", now, warmup, size, tuner.done(), tunedSizes[best])
		}
	})
}

// TestTunerEndsWithTheWarmup opens the window in the middle of the trials.
func TestTunerEndsWithTheWarmup(t *testing.T) {
	tuner := newTuner(leastTuning)
	if size := tuner.step(time.Second, 0, true); size != traffic.DefaultBlock || !tuner.done() {
		t.Errorf("without a trial it writes %d bytes, done: %t", size, tuner.done())
	}
	if wait := tuner.until(time.Hour); wait != traffic.Tick {
		t.Errorf("it wants to be called again in %v", wait)
	}
}

func runTCPStream(t testing.TB, s Options) (served, driven End) {
	t.Helper()
	l := traffictest.ListenTCP(t)
	return traffictest.MustRun(t,
		func(ctx context.Context) (End, error) { return Serve(ctx, l, s) },
		func(ctx context.Context) (End, error) { return Send(ctx, l.Addr(), s) })
}
