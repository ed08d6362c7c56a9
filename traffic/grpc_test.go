package traffic

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
)

func runGRPC(t testing.TB, c GRPC) (Served, Transactions) {
	t.Helper()
	c.Token = &testToken
	l := listenTCP(t)
	return mustRun(t,
		func(ctx context.Context) (Served, error) { return ServeGRPC(ctx, l, c) },
		func(ctx context.Context) (Transactions, error) { return CallGRPC(ctx, l.Addr(), c) })
}

func TestGRPCIsChecked(t *testing.T) {
	for _, c := range []GRPC{
		{}, {Window: shortWindow, Mode: "bidi"}, {Window: shortWindow, Flows: maxFlows + 1}, {Window: shortWindow, Flows: -1},
		{Window: shortWindow, Size: -1}, {Window: shortWindow, Size: MaxBody + 1},
	} {
		if _, err := CallGRPC(t.Context(), loopback, c); err == nil || !strings.Contains(err.Error(), "call grpc at") {
			t.Errorf("%+v was called: %v", c, err)
		}
		c.Token = &testToken
		if _, err := ServeGRPC(t.Context(), listenTCP(t), c); err == nil {
			t.Errorf("%+v was served", c)
		}
	}
	if _, err := ServeGRPC(t.Context(), listenTCP(t), GRPC{Window: shortWindow}); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("served without a token: %v", err)
	}
}

// TestLabGRPCMeasures counts calls and messages, small ones and the largest.
func TestLabGRPCMeasures(t *testing.T) {
	window := Window{Warmup: 10 * time.Millisecond, Duration: 100 * time.Millisecond, Interval: 20 * time.Millisecond}
	for _, c := range []GRPC{
		{Mode: GRPCUnary, Flows: 1}, {Mode: GRPCUnary, Flows: 3, Size: 1}, {Mode: GRPCUnary, Flows: 1, Size: MaxBody},
		{Mode: GRPCStream, Flows: 2}, {Mode: GRPCStream, Flows: 1, Size: MaxBody},
	} {
		c.Window = window
		served, done := runGRPC(t, c)
		if done.Count < 1 || done.Elapsed < window.Duration || done.Congestion == "" {
			t.Errorf("%+v: %+v", c, done)
		}
		checkSeries(t, done.Series, window)
		mean, measured := done.RTT.Mean()
		labtest.Equal(t, "a latency of "+string(c.Mode), measured, c.Mode == GRPCUnary)
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
		for _, mode := range []GRPCMode{GRPCUnary, GRPCStream} {
			t.Run(string(mode)+" "+want, func(t *testing.T) {
				t.Parallel()
				at := badServer(t, do).Addr().(*net.TCPAddr).AddrPort()
				wantError(t, shortWindow, want, func(ctx context.Context) error {
					_, err := CallGRPC(ctx, at, GRPC{Token: &testToken, Window: shortWindow, Mode: mode})
					return err
				})
			})
		}
	}
}

// TestGRPCRefusesAnotherSize: both ends must agree on it.
func TestGRPCRefusesAnotherSize(t *testing.T) {
	for _, mode := range []GRPCMode{GRPCUnary, GRPCStream} {
		l := listenTCP(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = ServeGRPC(ctx, l, GRPC{Token: &testToken, Window: shortWindow, Mode: mode, Size: 5})
		}()
		wantError(t, shortWindow, "5 bytes, not 6", func(ctx context.Context) error {
			_, err := CallGRPC(ctx, l.Addr(), GRPC{Token: &testToken, Window: shortWindow, Mode: mode, Size: 6})
			return err
		})
		cancel()
		<-done
	}
}

// TestLabLibrariesLeakNothing: connections, threads and goroutines of tls and grpc end
// with their run.
func TestLabLibrariesLeakNothing(t *testing.T) {
	pass := func() {
		for _, mode := range []TLSMode{TLSHandshake, TLSBulk} {
			runTLS(t, TLS{Window: Window{Duration: 20 * time.Millisecond}, Mode: mode, Flows: 2})
		}
		for _, mode := range []GRPCMode{GRPCUnary, GRPCStream} {
			runGRPC(t, GRPC{Window: Window{Duration: 20 * time.Millisecond}, Mode: mode, Flows: 2})
		}
	}
	pass()
	fds, goroutines, _ := resources(t)
	const passes, modes = 2, 4
	for range passes {
		pass()
	}
	// Each listener is open until the test ends.
	fdsAfter, goroutinesAfter, _ := resourcesLeft(t, fds+passes*modes, goroutines)
	if fdsAfter > fds+passes*modes || goroutinesAfter > goroutines {
		t.Errorf("%d descriptors became %d, %d goroutines became %d", fds, fdsAfter, goroutines, goroutinesAfter)
	}
}
