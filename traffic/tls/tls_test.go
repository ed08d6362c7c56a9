package tls

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

func runTLS(t testing.TB, c Options) (traffic.Served, traffic.Transactions) {
	t.Helper()
	c.Token = traffictest.Token
	l := traffictest.ListenTCP(t)
	return traffictest.MustRun(t,
		func(ctx context.Context) (traffic.Served, error) { return Serve(ctx, l, c) },
		func(ctx context.Context) (traffic.Transactions, error) { return Call(ctx, l.Addr(), c) })
}

func TestTLSIsChecked(t *testing.T) {
	for _, c := range []Options{
		{}, {Window: traffictest.ShortWindow, Mode: "early"}, {Window: traffictest.ShortWindow, Flows: traffic.MaxFlows + 1}, {Window: traffictest.ShortWindow, Flows: -1},
		{Window: traffictest.ShortWindow, Size: -1}, {Window: traffictest.ShortWindow, Size: traffic.MaxBody + 1},
		{Window: traffictest.ShortWindow, Path: "no slash"}, {Window: traffictest.ShortWindow, Path: "/", Mode: Bulk},
	} {
		if _, err := Call(t.Context(), traffictest.Loopback, c); err == nil || !strings.Contains(err.Error(), "call tls at") {
			t.Errorf("%+v was called: %v", c, err)
		}
		if _, err := Serve(t.Context(), traffictest.ListenTCP(t), c); err == nil {
			t.Errorf("%+v was served", c)
		}
	}
}

// TestTLSRootsAreOfTheirRun: both ends derive the same root, and another run's is another.
func TestTLSRootsAreOfTheirRun(t *testing.T) {
	of := func(token traffic.Token) Root {
		root, err := NewRoot(token)
		if err != nil {
			t.Fatal(err)
		}
		return root
	}
	issued, err := of(traffictest.Token).Issue()
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(issued.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[traffic.Token]bool{traffictest.Token: true, {9}: false} {
		roots := x509.NewCertPool()
		roots.AddCert(of(token).Certificate)
		_, err := leaf.Verify(x509.VerifyOptions{DNSName: serverName, Roots: roots})
		labtest.Equal(t, "verified by the root of a run", err == nil, want)
	}
	labtest.Equal(t, "key", leaf.PublicKeyAlgorithm, x509.ECDSA)
}

// TestLabTLSMeasures holds the count of each mode against the server's connections.
func TestLabTLSMeasures(t *testing.T) {
	window := traffic.Window{Warmup: 10 * time.Millisecond, Duration: 100 * time.Millisecond, Interval: 20 * time.Millisecond}
	for _, c := range []Options{
		{Mode: Handshake, Flows: 1}, {Mode: Handshake, Flows: 3, Size: 1}, {Mode: Handshake, Size: 100_000},
		{Mode: Resume, Flows: 2}, {Mode: Bulk, Flows: 2, Size: 16 << 10},
	} {
		c.Window = window
		served, done := runTLS(t, c)
		if done.Count < 1 || done.Elapsed < window.Duration || len(done.Failures) > 0 || done.Congestion == "" {
			t.Errorf("%+v: %+v", c, done)
		}
		traffictest.CheckSeries(t, done.Series, window)
		connections := int64(c.Flows)
		if c.Mode != Bulk {
			connections = done.Count
			if mean, ok := done.RTT.Mean(); !ok || mean <= 0 {
				t.Errorf("%s: mean latency %v", c.Mode, mean)
			}
		}
		labtest.AtLeast(t, "connections of "+string(c.Mode), served.Transactions, connections)
		labtest.Equal(t, "unauthenticated", served.Unauthenticated, 0)
	}
}

// TestTLSResumes in the mode that says so, and in no other.
func TestTLSResumes(t *testing.T) {
	for mode, want := range map[Mode]bool{Handshake: false, Resume: true} {
		l := traffictest.ListenTCP(t)
		c := Options{Token: traffictest.Token, Window: traffic.Window{Duration: 40 * time.Millisecond}, Mode: mode}
		r := traffic.StartRun(t.Context())
		defer r.End()
		root, err := NewRoot(traffictest.Token)
		if err != nil {
			t.Fatal(err)
		}
		if c, err = c.checked(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = Serve(ctx, l, c)
		}()
		k := newClient(r, l.Addr(), c, root)
		for range 2 {
			if _, err := k.transact(); err != nil {
				t.Fatal(err)
			}
		}
		conn, fd, err := k.connect()
		if err != nil {
			t.Fatal(err)
		}
		state := conn.ConnectionState()
		traffic.CloseSocket(fd)
		cancel()
		<-done
		labtest.Equal(t, string(mode)+" resumes", state.DidResume, want)
		labtest.Equal(t, "version", state.Version, uint16(tls.VersionTLS13))
	}
}

// impostor answers as a server of another run does.
func impostor(t *testing.T, token traffic.Token) *net.TCPListener {
	t.Helper()
	root, err := NewRoot(token)
	if err != nil {
		t.Fatal(err)
	}
	issued, err := root.Issue()
	if err != nil {
		t.Fatal(err)
	}
	return traffictest.BadServer(t, func(c net.Conn) {
		defer c.Close()
		_, _ = io.ReadFull(c, make([]byte, traffic.GreetingLen))
		over := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{issued}})
		if _, err := io.ReadFull(over, make([]byte, 1)); err == nil {
			_, _ = over.Write([]byte("short"))
		}
		_ = over.CloseWrite() // a client that is gone
	})
}

// TestLabTLSNamesWhatTheServerDid ends with an error, and gives no number.
func TestLabTLSNamesWhatTheServerDid(t *testing.T) {
	t.Parallel()
	for _, mode := range []Mode{Handshake, Bulk} {
		c := Options{Token: traffictest.Token, Window: traffictest.ShortWindow, Mode: mode}
		call := func(l *net.TCPListener) func(context.Context) error {
			return func(ctx context.Context) error {
				_, err := Call(ctx, l.Addr().(*net.TCPAddr).AddrPort(), c)
				return err
			}
		}
		traffictest.WantError(t, c.Window, "failed to verify certificate", call(impostor(t, traffic.Token{9})))
		short := map[Mode]string{Handshake: "5 bytes, not 1024", Bulk: "EOF"}
		traffictest.WantError(t, c.Window, short[mode], call(impostor(t, traffictest.Token)))
		traffictest.WantError(t, c.Window, "first record does not look like a TLS handshake", call(traffictest.BadServer(t, func(c net.Conn) {
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_, _ = io.Copy(io.Discard, c)
		})))
	}
}

// TestLabTLSServerNamesWhatTheClientDid is of a client that begins and goes.
func TestLabTLSServerNamesWhatTheClientDid(t *testing.T) {
	t.Parallel()
	l := traffictest.ListenTCP(t)
	go func() {
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			_, _ = c.Write(append(traffic.Greeting(traffictest.Token, traffic.VerbFlow), "no handshake"...))
			_, _ = io.Copy(io.Discard, c)
			c.Close()
		}
	}()
	traffictest.WantError(t, traffictest.ShortWindow, "a connection failed: tls: first record does not look like", func(ctx context.Context) error {
		_, err := Serve(ctx, l, Options{Token: traffictest.Token, Window: traffictest.ShortWindow})
		return err
	})
}

func TestLabRunsLeakNothing(t *testing.T) {
	traffictest.ConnectionsEnd(t, func() {
		for _, mode := range []Mode{Handshake, Bulk} {
			runTLS(t, Options{Window: traffic.Window{Duration: 20 * time.Millisecond}, Mode: mode, Flows: 2})
		}
	})
}
