package traffic

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
)

func runTLS(t testing.TB, c TLS) (Served, Transactions) {
	t.Helper()
	c.Token = testToken
	l := listenTCP(t)
	return mustRun(t,
		func(ctx context.Context) (Served, error) { return ServeTLS(ctx, l, c) },
		func(ctx context.Context) (Transactions, error) { return CallTLS(ctx, l.Addr(), c) })
}

func TestTLSIsChecked(t *testing.T) {
	for _, c := range []TLS{
		{}, {Window: shortWindow, Mode: "early"}, {Window: shortWindow, Flows: maxFlows + 1}, {Window: shortWindow, Flows: -1},
		{Window: shortWindow, Size: -1}, {Window: shortWindow, Size: MaxBody + 1},
		{Window: shortWindow, Path: "no slash"}, {Window: shortWindow, Path: "/", Mode: TLSBulk},
	} {
		if _, err := CallTLS(t.Context(), loopback, c); err == nil || !strings.Contains(err.Error(), "call tls at") {
			t.Errorf("%+v was called: %v", c, err)
		}
		if _, err := ServeTLS(t.Context(), listenTCP(t), c); err == nil {
			t.Errorf("%+v was served", c)
		}
	}
}

// TestTLSRootsAreOfTheirRun: both ends derive the same root, and another run's is another.
func TestTLSRootsAreOfTheirRun(t *testing.T) {
	of := func(token Token) TLSRoot {
		root, err := NewTLSRoot(token)
		if err != nil {
			t.Fatal(err)
		}
		return root
	}
	issued, err := of(testToken).Issue()
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(issued.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[Token]bool{testToken: true, {9}: false} {
		roots := x509.NewCertPool()
		roots.AddCert(of(token).Certificate)
		_, err := leaf.Verify(x509.VerifyOptions{DNSName: tlsName, Roots: roots})
		labtest.Equal(t, "verified by the root of a run", err == nil, want)
	}
	labtest.Equal(t, "key", leaf.PublicKeyAlgorithm, x509.ECDSA)
}

// TestLabTLSMeasures holds the count of each mode against the server's connections.
func TestLabTLSMeasures(t *testing.T) {
	window := Window{Warmup: 10 * time.Millisecond, Duration: 100 * time.Millisecond, Interval: 20 * time.Millisecond}
	for _, c := range []TLS{
		{Mode: TLSHandshake, Flows: 1}, {Mode: TLSHandshake, Flows: 3, Size: 1}, {Mode: TLSHandshake, Size: 100_000},
		{Mode: TLSResume, Flows: 2}, {Mode: TLSBulk, Flows: 2, Size: 16 << 10},
	} {
		c.Window = window
		served, done := runTLS(t, c)
		if done.Count < 1 || done.Elapsed < window.Duration || len(done.Failures) > 0 || done.Congestion == "" {
			t.Errorf("%+v: %+v", c, done)
		}
		checkSeries(t, done.Series, window)
		connections := int64(c.Flows)
		if c.Mode != TLSBulk {
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
	for mode, want := range map[TLSMode]bool{TLSHandshake: false, TLSResume: true} {
		l := listenTCP(t)
		c := TLS{Token: testToken, Window: Window{Duration: 40 * time.Millisecond}, Mode: mode}
		r := startRun(t.Context())
		defer r.end()
		root, err := NewTLSRoot(testToken)
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
			_, _ = ServeTLS(ctx, l, c)
		}()
		k := newTLSClient(r, l.Addr(), c, root)
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
		closeSocket(fd)
		cancel()
		<-done
		labtest.Equal(t, string(mode)+" resumes", state.DidResume, want)
		labtest.Equal(t, "version", state.Version, uint16(tls.VersionTLS13))
	}
}

// impostor answers as a server of another run does.
func impostor(t *testing.T, token Token) *net.TCPListener {
	t.Helper()
	root, err := NewTLSRoot(token)
	if err != nil {
		t.Fatal(err)
	}
	issued, err := root.Issue()
	if err != nil {
		t.Fatal(err)
	}
	return badServer(t, func(c net.Conn) {
		defer c.Close()
		_, _ = io.ReadFull(c, make([]byte, greetingLen))
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
	for _, mode := range []TLSMode{TLSHandshake, TLSBulk} {
		c := TLS{Token: testToken, Window: shortWindow, Mode: mode}
		call := func(l *net.TCPListener) func(context.Context) error {
			return func(ctx context.Context) error {
				_, err := CallTLS(ctx, l.Addr().(*net.TCPAddr).AddrPort(), c)
				return err
			}
		}
		wantError(t, c.Window, "failed to verify certificate", call(impostor(t, Token{9})))
		short := map[TLSMode]string{TLSHandshake: "5 bytes, not 1024", TLSBulk: "EOF"}
		wantError(t, c.Window, short[mode], call(impostor(t, testToken)))
		wantError(t, c.Window, "first record does not look like a TLS handshake", call(badServer(t, func(c net.Conn) {
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_, _ = io.Copy(io.Discard, c)
		})))
	}
}

// TestLabTLSServerNamesWhatTheClientDid is of a client that begins and goes.
func TestLabTLSServerNamesWhatTheClientDid(t *testing.T) {
	t.Parallel()
	l := listenTCP(t)
	go func() {
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			_, _ = c.Write(append(greeting(testToken, verbFlow), "no handshake"...))
			_, _ = io.Copy(io.Discard, c)
			c.Close()
		}
	}()
	wantError(t, shortWindow, "a connection failed: tls: first record does not look like", func(ctx context.Context) error {
		_, err := ServeTLS(ctx, l, TLS{Token: testToken, Window: shortWindow})
		return err
	})
}
