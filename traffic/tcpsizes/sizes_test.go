package tcpsizes

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/traffictest"
	"tare/traffic"
)

func runTCPSizes(t testing.TB, s Options) (Served, Driven) {
	t.Helper()
	l := traffictest.ListenTCP(t)
	return traffictest.MustRun(t,
		func(ctx context.Context) (Served, error) { return Serve(ctx, l, s) },
		func(ctx context.Context) (Driven, error) { return Send(ctx, l.Addr(), s) })
}

func TestLabTCPSizes(t *testing.T) {
	sizes := []int{1, 17, 1448, LargestPing, LargestPing + 1, 256 << 10}
	for _, noDelay := range []bool{true, false} {
		var edges []traffic.Edge
		window := traffic.Window{CC: "reno", Warmup: 12 * time.Millisecond, Duration: 120 * time.Millisecond, Edge: func(e traffic.Edge) { edges = append(edges, e) }}
		served, driven := runTCPSizes(t, Options{Token: traffictest.Token, Window: window, Sizes: sizes, NoDelay: noDelay})
		if len(served.Sizes) != len(sizes) || served.Congestion != "reno" || driven.Congestion != "reno" {
			t.Fatalf("served %+v, driven under %q", served, driven.Congestion)
		}
		for i, got := range served.Sizes {
			least := window.Duration / time.Duration(len(sizes))
			if sizes[i] <= LargestPing {
				least /= 2
			}
			if got.Size != sizes[i] || got.Elapsed < least*9/10 || got.Bytes < 0 {
				t.Errorf("size %d: %+v, want %v at least", sizes[i], got, least)
			}
		}
		if last := served.Sizes[len(sizes)-1]; last.Goodput() <= 0 {
			t.Errorf("the largest: %+v", last)
		}
		if len(driven.Sizes) != 4 {
			t.Fatalf("%d sizes have a round trip, want those up to %d", len(driven.Sizes), LargestPing)
		}
		for i, got := range driven.Sizes {
			if p50, ok := got.RTT.Median(); got.Size != sizes[i] || !ok || p50 <= 0 {
				t.Errorf("size %d: %d round trips of %v", got.Size, got.RTT.Count(), p50)
			}
		}
		if len(edges) != 2 || edges[0] != traffic.Opening || edges[1] != traffic.Closing {
			t.Errorf("edges %v", edges)
		}
	}
}

// TestNoDelayIsTheModes reads the socket's option in the middle of a phase, and
// of what is sent between two.
func TestNoDelayIsTheModes(t *testing.T) {
	for _, on := range []bool{true, false} {
		l := traffictest.BadServer(t, func(c net.Conn) {
			_, _ = io.ReadFull(c, make([]byte, traffic.GreetingLen))
			_, _ = c.Write([]byte{traffic.Welcome, phaseReady})
			_, _ = io.Copy(io.Discard, c)
		})
		r := traffic.StartRun(t.Context())
		defer r.End()
		fds, err := traffic.DialFlows(r, l.Addr().(*net.TCPAddr).AddrPort(), traffictest.Token, 1, "")
		if err != nil {
			t.Fatal(err)
		}
		defer traffic.CloseSockets(fds)
		option := func() bool {
			value, err := unix.GetsockoptInt(fds[0], unix.IPPROTO_TCP, unix.TCP_NODELAY)
			if err != nil {
				t.Fatal(err)
			}
			return value != 0
		}
		w := newDriver(r, fds, Options{Token: traffictest.Token, Window: traffictest.ShortWindow, Sizes: []int{1}, NoDelay: on})
		var during bool
		if err := w.phase(phaseBulk, 1, func(int) error { during = option(); return nil }); err != nil {
			t.Fatal(err)
		}
		if err := w.announce(phaseEnd, 0); err != nil {
			t.Fatal(err)
		}
		if during != on || !option() {
			t.Errorf("TCP_NODELAY was %t in a phase, want %t, and %t between two, want true", during, on, option())
		}
	}
}

func TestTCPSizesIsChecked(t *testing.T) {
	w := traffictest.ShortWindow
	for _, s := range []Options{
		{Window: w}, {Window: w, Sizes: []int{0}}, {Window: w, Sizes: []int{1, 1}}, {Window: w, Sizes: []int{traffic.MaxBlock + 1}}, {Sizes: []int{1}},
	} {
		if _, err := Serve(t.Context(), traffictest.ListenTCP(t), s); err == nil {
			t.Errorf("%+v was served", s)
		}
		if _, err := Send(t.Context(), traffictest.Loopback, s); err == nil {
			t.Errorf("%+v was sent", s)
		}
	}
}

// A client that behaves in one of many wrong ways: the server reports which.
func TestLabSizesServerNamesWhatTheClientDid(t *testing.T) {
	t.Parallel()
	s := Options{Token: traffictest.Token, Window: traffictest.LongWindow, Sizes: []int{64, 8 << 10}}
	announce := func(phase byte, size int) func(*testing.T, net.Conn) {
		return func(_ *testing.T, c net.Conn) {
			a := announce(phase, size)
			_, _ = c.Write(a[:])
			_, _ = io.Copy(io.Discard, c)
		}
	}
	for name, test := range map[string]struct {
		client func(*testing.T, net.Conn)
		want   string
	}{
		"closes":            {func(_ *testing.T, c net.Conn) { c.Close() }, "receive the next announcement"},
		"sends nothing":     {func(_ *testing.T, c net.Conn) { _, _ = io.Copy(io.Discard, c) }, "nothing passed for 3s"},
		"unknown size":      {announce(phaseBulk, 65), "messages of 65 bytes: the driving end announced 65 bytes"},
		"ping of 8 KiB":     {announce(phasePing, 8<<10), "this end does not expect"},
		"nonsense":          {announce('x', 64), "this end does not expect"},
		"bulk of nothing":   {announce(phaseBulk, 64), "nothing passed for 3s"},
		"ping of nothing":   {announce(phasePing, 64), "nothing passed for 3s"},
		"ends before bulks": {announce(phaseEnd, 0), "ended without its messages of 64 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := traffictest.ListenTCP(t)
			go test.client(t, dialLater(t, l))
			traffictest.WantError(t, traffictest.ShortWindow, test.want, func(ctx context.Context) error { _, err := Serve(ctx, l, s); return err })
		})
	}
}

// dialLater is a connection whose welcome comes once the server runs.
func dialLater(t *testing.T, l *traffic.Listener) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := c.Write(traffic.Greeting(traffictest.Token, traffic.VerbFlow)); err != nil {
		t.Fatal(err)
	}
	return c
}

// A server that behaves in one of many wrong ways: the client reports which.
func TestSizesClientNamesWhatTheServerDid(t *testing.T) {
	t.Parallel()
	s := Options{Token: traffictest.Token, Window: traffictest.ShortWindow, Sizes: []int{64, 8 << 10}}
	for name, test := range map[string]struct {
		answers string
		want    string
	}{
		"closes when welcome": {"", "the peer closed the connection"},
		"sends nonsense":      {"x", "the server sent 0x78, which is not part of the protocol"},
		"nonsense in bulk":    {"hx", "the server sent 0x78, which is not part of the protocol"},
		"closes in bulk":      {"h", "see what"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := traffictest.BadServer(t, func(c net.Conn) {
				_, _ = io.ReadFull(c, make([]byte, traffic.GreetingLen))
				_, _ = c.Write(append([]byte{traffic.Welcome}, test.answers...))
				if !strings.HasSuffix(test.answers, "x") {
					_ = c.(*net.TCPConn).CloseWrite() // in good order, whether or not the client has sent more
				}
				_, _ = io.Copy(io.Discard, c)
				c.Close()
			})
			traffictest.WantError(t, traffictest.ShortWindow, test.want, func(ctx context.Context) error {
				_, err := Send(ctx, l.Addr().(*net.TCPAddr).AddrPort(), s)
				return err
			})
		})
	}
}
