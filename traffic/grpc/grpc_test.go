package grpc

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

func runGRPC(t testing.TB, c Options) (traffic.Served, traffic.Transactions) {
	t.Helper()
	c.Token = &traffictest.Token
	l := traffictest.ListenTCP(t)
	return traffictest.MustRun(t,
		func(ctx context.Context) (traffic.Served, error) { return Serve(ctx, l, c) },
		func(ctx context.Context) (traffic.Transactions, error) { return Call(ctx, l.Addr(), c) })
}

func TestGRPCIsChecked(t *testing.T) {
	for _, c := range []Options{
		{}, {Window: traffictest.ShortWindow, Mode: "bidi"}, {Window: traffictest.ShortWindow, Flows: traffic.MaxFlows + 1}, {Window: traffictest.ShortWindow, Flows: -1},
		{Window: traffictest.ShortWindow, Size: -1}, {Window: traffictest.ShortWindow, Size: traffic.MaxBody + 1},
	} {
		if _, err := Call(t.Context(), traffictest.Loopback, c); err == nil || !strings.Contains(err.Error(), "call grpc at") {
			t.Errorf("%+v was called: %v", c, err)
		}
		c.Token = &traffictest.Token
		if _, err := Serve(t.Context(), traffictest.ListenTCP(t), c); err == nil {
			t.Errorf("%+v was served", c)
		}
	}
	if _, err := Serve(t.Context(), traffictest.ListenTCP(t), Options{Window: traffictest.ShortWindow}); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("served without a token: %v", err)
	}
}

// TestLabGRPCMeasures counts calls and messages, small ones and the largest.
func TestLabGRPCMeasures(t *testing.T) {
	window := traffic.Window{Warmup: 10 * time.Millisecond, Duration: 100 * time.Millisecond, Interval: 20 * time.Millisecond}
	for _, c := range []Options{
		{Mode: Unary, Flows: 1}, {Mode: Unary, Flows: 3, Size: 1}, {Mode: Unary, Flows: 1, Size: traffic.MaxBody},
		{Mode: Stream, Flows: 2}, {Mode: Stream, Flows: 1, Size: traffic.MaxBody},
	} {
		c.Window = window
		served, done := runGRPC(t, c)
		if done.Count < 1 || done.Elapsed < window.Duration || done.Congestion == "" {
			t.Errorf("%+v: %+v", c, done)
		}
		traffictest.CheckSeries(t, done.Series, window)
		mean, measured := done.RTT.Mean()
		labtest.Equal(t, "a latency of "+string(c.Mode), measured, c.Mode == Unary)
		if busy := done.Rate() * mean.Seconds() / float64(c.Flows); measured && labtest.Timed(t) && (busy < 0.5 || busy > 1.5) {
			t.Errorf("%+v: each connection waits for %.0f %% of the window", c, 100*busy)
		}
		labtest.Equal(t, "connections", served.Transactions, int64(c.Flows))
		labtest.Equal(t, "unauthenticated", served.Unauthenticated, 0)
	}
}

// TestLabGRPCNamesWhatTheServerDid ends with an error, and gives no number.
func TestLabGRPCNamesWhatTheServerDid(t *testing.T) {
	t.Parallel()
	for want, do := range map[string]func(net.Conn){
		"connection error: desc": func(c net.Conn) {
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			c.Close()
		},
		"the server answered no more": func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
	} {
		for _, mode := range []Mode{Unary, Stream} {
			t.Run(string(mode)+" "+want, func(t *testing.T) {
				t.Parallel()
				at := traffictest.BadServer(t, do).Addr().(*net.TCPAddr).AddrPort()
				traffictest.WantError(t, traffictest.ShortWindow, want, func(ctx context.Context) error {
					_, err := Call(ctx, at, Options{Token: &traffictest.Token, Window: traffictest.ShortWindow, Mode: mode})
					return err
				})
			})
		}
	}
}

// TestGRPCRefusesAnotherSize: both ends must agree on it.
func TestGRPCRefusesAnotherSize(t *testing.T) {
	for _, mode := range []Mode{Unary, Stream} {
		l := traffictest.ListenTCP(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = Serve(ctx, l, Options{Token: &traffictest.Token, Window: traffictest.ShortWindow, Mode: mode, Size: 5})
		}()
		traffictest.WantError(t, traffictest.ShortWindow, "5 bytes, not 6", func(ctx context.Context) error {
			_, err := Call(ctx, l.Addr(), Options{Token: &traffictest.Token, Window: traffictest.ShortWindow, Mode: mode, Size: 6})
			return err
		})
		cancel()
		<-done
	}
}

func TestLabRunsLeakNothing(t *testing.T) {
	traffictest.ConnectionsEnd(t, func() {
		for _, mode := range []Mode{Unary, Stream} {
			runGRPC(t, Options{Window: traffic.Window{Duration: 20 * time.Millisecond}, Mode: mode, Flows: 2})
		}
	})
}
