package traffic

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
)

// dialFlowTo opens a flow as a client does, token and welcome included.
func dialFlowTo(t *testing.T, l *Listener) net.Conn {
	t.Helper()
	const tries = 5 // a greeting that a busy machine delays by more than greetingLimit is refused
	for try := 1; ; try++ {
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			t.Cleanup(func() { c.Close() })
			if _, err = c.Write(greeting(testToken, verbFlow)); err == nil {
				_, err = io.ReadFull(c, make([]byte, 1))
			}
		}
		if err == nil {
			return c
		}
		if try == tries {
			t.Fatal(err)
		}
		labtest.TryAgain(t, "dial a flow: %v", err)
	}
}

// helloTo opens a run as a datagram client does.
func helloTo(t *testing.T, l *PacketListener) net.Conn {
	t.Helper()
	c, err := net.Dial("udp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	var p [HeaderBytes]byte
	header{kind: kindHello}.put(p[:], &testToken)
	if _, err := c.Write(p[:]); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, p[:]); err != nil {
		t.Fatal(err)
	}
	return c
}

// wantError runs a call that must fail by itself with an error that holds want.
func wantError(t *testing.T, w Window, want string, run func(context.Context) error) {
	t.Helper()
	begun := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), labtest.Generous) // else a server waits for a client for ever
	defer cancel()
	err := run(ctx)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one that holds %q", err, want)
	}
	labtest.InTime(t, "the call", time.Since(begun), w.Warmup+w.Duration+grace+drainLimit+2*time.Second)
}

// A client that behaves in one of many wrong ways: the server reports which.
func TestLabServerNamesWhatTheClientDid(t *testing.T) {
	t.Parallel()
	stream := TCPStream{Token: testToken, Window: longWindow}
	rr := RequestResponse{Token: testToken, Window: shortWindow}
	serveStream := func(ctx context.Context, l *Listener) error { _, err := ServeTCPStream(ctx, l, stream); return err }
	serveRR := func(ctx context.Context, l *Listener) error { _, err := ServeTCPRR(ctx, l, rr); return err }
	serveCRR := func(ctx context.Context, l *Listener) error { _, err := ServeTCPCRR(ctx, l, rr); return err }
	for name, test := range map[string]struct {
		serve  func(context.Context, *Listener) error
		client func(*testing.T, *Listener)
		want   string
	}{
		"stream closes at once": {serveStream, func(t *testing.T, l *Listener) { dialFlowTo(t, l).Close() }, "receive the role of flow 1: the peer closed"},
		"stream closes later": {serveStream, func(t *testing.T, l *Listener) {
			c := dialFlowTo(t, l).(*net.TCPConn)
			defer c.Close()
			_, _ = c.Write(append([]byte{roleForwardLead}, make([]byte, 1000)...))
			_ = c.CloseWrite()
			_, _ = io.ReadAll(c) // with what it has not read, closing would reset the connection
		}, "closed flow 1 before the window closed, after 1000 bytes"},
		"stream resets": {serveStream, func(t *testing.T, l *Listener) {
			c := dialFlowTo(t, l).(*net.TCPConn)
			_ = c.SetLinger(0)
			c.Close()
		}, "connection reset"},
		"stream is silent": {serveStream, func(t *testing.T, l *Listener) { dialFlowTo(t, l) }, "receive the role of flow 1: no answer in time"},
		"stream never starts": {serveStream, func(t *testing.T, l *Listener) {
			_, _ = dialFlowTo(t, l).Write([]byte{roleForwardLead})
		}, "after 0 bytes: the sender stopped, or the path drops its packets"},
		"stream stops": {serveStream, func(t *testing.T, l *Listener) {
			_, _ = dialFlowTo(t, l).Write(append([]byte{roleForwardLead}, make([]byte, 1000)...))
		}, "nothing arrived for 3s, after 1000 bytes"},
		"stream goes the other way": {serveStream, func(t *testing.T, l *Listener) {
			_, _ = dialFlowTo(t, l).Write([]byte{roleReverseLead})
		}, "give both ends the same direction"},
		"rr closes":    {serveRR, func(t *testing.T, l *Listener) { dialFlowTo(t, l).Close() }, "closed flow 1 in the middle"},
		"rr is silent": {serveRR, func(t *testing.T, l *Listener) { dialFlowTo(t, l) }, "did not end the run"},
		"crr vanishes": {serveCRR, func(t *testing.T, l *Listener) {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, _ = c.Write(append(greeting(testToken, verbFlow), 'x'))
			_, _ = io.ReadAll(c)
		}, "after 1 answers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := listenTCP(t)
			go test.client(t, l)
			wantError(t, shortWindow, test.want, func(ctx context.Context) error { return test.serve(ctx, l) })
		})
	}
}

// TestLabServerWaitsForTheFirstRequest: a client that was held up before its first request has all of
// the run's time from then on.
func TestLabServerWaitsForTheFirstRequest(t *testing.T) {
	t.Parallel()
	rr := RequestResponse{Token: testToken, Window: shortWindow, Flows: 2}
	for name, flows := range map[string]int{"alone": 1, "of two": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rr, l := rr, listenTCP(t)
			rr.Flows = flows
			for range flows {
				go func() {
					c := dialFlowTo(t, l)
					for _, wait := range []time.Duration{shortWindow.limit() - grace/6, grace / 3} { // the second is beyond the limit
						<-time.After(wait)
						_, _ = c.Write([]byte{requestByte})
						_, _ = io.ReadFull(c, make([]byte, 1))
					}
					_, _ = c.Write([]byte{endByte})
				}()
			}
			served, err := ServeTCPRR(t.Context(), l, rr)
			if err != nil {
				t.Fatal(err)
			}
			labtest.Equal(t, "answers", served.Transactions, int64(2*flows))
		})
	}
}

func TestLabServerNamesWhatTheDatagramClientDid(t *testing.T) {
	t.Parallel()
	rr := RequestResponse{Token: testToken, Window: shortWindow}
	cbr := UDPStream{Token: testToken, Window: shortWindow, Rate: 1e6, Size: HeaderBytes}
	pps := UDPPPS{Token: testToken, Window: shortWindow, Size: HeaderBytes}
	for name, test := range map[string]struct {
		serve func(context.Context, *PacketListener) error
		after []kind
		want  string
	}{
		"udp_rr is silent":     {func(ctx context.Context, l *PacketListener) error { _, err := ServeUDPRR(ctx, l, rr); return err }, nil, "did not end the run"},
		"udp_stream is silent": {func(ctx context.Context, l *PacketListener) error { _, err := ServeUDPStream(ctx, l, cbr); return err }, nil, "none of its datagrams of 32 bytes came"},
		"udp_stream stops":     {func(ctx context.Context, l *PacketListener) error { _, err := ServeUDPStream(ctx, l, cbr); return err }, []kind{kindData}, "nothing arrived in the window"},
		"udp_pps ends early":   {func(ctx context.Context, l *PacketListener) error { _, err := ServeUDPPPS(ctx, l, pps); return err }, []kind{kindData, kindEnd}, "ended before the window closed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := listenUDP(t)
			go func() {
				c := helloTo(t, l)
				for _, k := range test.after {
					var p [HeaderBytes]byte
					header{kind: k}.put(p[:], &testToken)
					_, _ = c.Write(p[:])
				}
			}()
			wantError(t, shortWindow, test.want, func(ctx context.Context) error { return test.serve(ctx, l) })
		})
	}
}

// badServer accepts TCP connections and does something wrong with each.
func badServer(t *testing.T, do func(net.Conn)) *net.TCPListener {
	t.Helper()
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(loopback))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go do(c)
		}
	}()
	return l
}

func TestLabClientNamesWhatTheServerDid(t *testing.T) {
	t.Parallel()
	stream := TCPStream{Token: testToken, Window: shortWindow}
	rr := RequestResponse{Token: testToken, Window: shortWindow}
	welcomeThen := func(do func(net.Conn)) func(net.Conn) {
		return func(c net.Conn) {
			_, _ = io.ReadFull(c, make([]byte, greetingLen))
			_, _ = c.Write([]byte{welcome})
			do(c)
		}
	}
	hang := func(c net.Conn) { <-t.Context().Done(); c.Close() }
	garbage := func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")); hang(c) }
	swallow := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	for name, test := range map[string]struct {
		server          func(net.Conn)
		stream, rr, crr string
	}{
		"closes":              {func(c net.Conn) { c.Close() }, "welcome flow 1 of 1", "welcome flow 1 of 1", "no connection succeeded"},
		"sends nothing":       {hang, "welcome flow 1 of 1", "welcome flow 1 of 1", "no connection succeeded"},
		"sends HTTP":          {garbage, "answered with byte 0x48", "answered with byte 0x48", "no connection succeeded"},
		"closes when welcome": {welcomeThen(func(c net.Conn) { c.Close() }), "flow", "see what the server reported", ""},
		"hangs when welcome":  {welcomeThen(hang), "the receiver ", "answered 0 requests", ""},
		"swallows all":        {welcomeThen(swallow), "did not close its window", "answered 0 requests", ""},
		"garbage later":       {welcomeThen(garbage), "means nothing", "", ""},
	} {
		for workload, client := range map[string]struct {
			want string
			call func(context.Context, netip.AddrPort) error
		}{
			"tcp_stream": {test.stream, func(ctx context.Context, to netip.AddrPort) error {
				_, err := SendTCPStream(ctx, to, stream)
				return err
			}},
			"tcp_rr":  {test.rr, func(ctx context.Context, to netip.AddrPort) error { _, err := CallTCPRR(ctx, to, rr); return err }},
			"tcp_crr": {test.crr, func(ctx context.Context, to netip.AddrPort) error { _, err := CallTCPCRR(ctx, to, rr); return err }},
		} {
			if client.want == "" {
				continue
			}
			t.Run(name+"/"+workload, func(t *testing.T) {
				t.Parallel()
				to := badServer(t, test.server).Addr().(*net.TCPAddr).AddrPort()
				wantError(t, shortWindow, client.want, func(ctx context.Context) error { return client.call(ctx, to) })
			})
		}
	}
}

func TestLabClientNamesAnAbsentServer(t *testing.T) {
	t.Parallel()
	rr := RequestResponse{Token: testToken, Window: shortWindow}
	for name, test := range map[string]struct {
		want string
		at   func(t *testing.T) netip.AddrPort
		call func(ctx context.Context, at netip.AddrPort) error
	}{
		"no TCP there": {
			"connection refused", func(t *testing.T) netip.AddrPort { return closedPort(t, unix.SOCK_STREAM) },
			func(ctx context.Context, at netip.AddrPort) error { _, err := CallTCPRR(ctx, at, rr); return err },
		},
		"no UDP there": {
			"connection refused", func(t *testing.T) netip.AddrPort { return closedPort(t, unix.SOCK_DGRAM) },
			func(ctx context.Context, at netip.AddrPort) error { _, err := CallUDPRR(ctx, at, rr); return err },
		},
		"no answer": { // it listens, but serves nothing
			"whether UDP passes both ways", func(t *testing.T) netip.AddrPort { return listenUDP(t).Addr() },
			func(ctx context.Context, at netip.AddrPort) error { _, err := CallUDPRR(ctx, at, rr); return err },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := test.at(t)
			wantError(t, shortWindow, test.want, func(ctx context.Context) error { return test.call(ctx, at) })
		})
	}
}

func TestServerWaitsAsLongAsTheContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := ServeTCPStream(ctx, listenTCP(t), TCPStream{Token: testToken, Window: shortWindow, Flows: 3})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "0 of 3 presented") {
		t.Errorf("tcp: %v", err)
	}
	_, err = ServeUDPRR(ctx, listenUDP(t), RequestResponse{Token: testToken, Window: shortWindow})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("udp: %v", err)
	}
}

func TestLabCancelEndsBothEnds(t *testing.T) {
	opened := make(chan struct{}, 1)
	window := Window{Warmup: 30 * time.Millisecond, Duration: time.Hour, Edge: func(e Edge) {
		if e == Opening {
			opened <- struct{}{}
		}
	}}
	rr := RequestResponse{Token: testToken, Window: window}
	stream := TCPStream{Token: testToken, Window: window, Flows: 2}
	cbr := UDPStream{Token: testToken, Window: window, Rate: 1e6}
	requests := HTTP{Token: &testToken, Window: window}
	for name, run := range map[string]func(context.Context, *Listener, *PacketListener) (serve, drive func() error){
		"tcp_stream": func(ctx context.Context, l *Listener, _ *PacketListener) (serve, drive func() error) {
			return func() error { _, err := ServeTCPStream(ctx, l, stream); return err },
				func() error { _, err := SendTCPStream(ctx, l.Addr(), stream); return err }
		},
		"tcp_sizes": func(ctx context.Context, l *Listener, _ *PacketListener) (serve, drive func() error) {
			sizes := TCPSizes{Token: testToken, Window: window, Sizes: []int{64 << 10}}
			return func() error { _, err := ServeTCPSizes(ctx, l, sizes); return err },
				func() error { _, err := SendTCPSizes(ctx, l.Addr(), sizes); return err }
		},
		"tcp_rr": func(ctx context.Context, l *Listener, _ *PacketListener) (serve, drive func() error) {
			return func() error { _, err := ServeTCPRR(ctx, l, rr); return err },
				func() error { _, err := CallTCPRR(ctx, l.Addr(), rr); return err }
		},
		"loaded_rr": func(ctx context.Context, l *Listener, _ *PacketListener) (serve, drive func() error) {
			c := LoadedRR{Token: testToken, Window: window, Load: 2}
			return func() error { _, err := ServeLoadedRR(ctx, l, c); return err },
				func() error { _, err := CallLoadedRR(ctx, l.Addr(), c); return err }
		},
		"tcp_crr": func(ctx context.Context, l *Listener, _ *PacketListener) (serve, drive func() error) {
			return func() error { _, err := ServeTCPCRR(ctx, l, rr); return err },
				func() error { _, err := CallTCPCRR(ctx, l.Addr(), rr); return err }
		},
		"http": func(ctx context.Context, l *Listener, _ *PacketListener) (serve, drive func() error) {
			return func() error { _, err := ServeHTTP(ctx, l, requests); return err },
				func() error { _, err := CallHTTP(ctx, l.Addr(), requests); return err }
		},
		"tls": func(ctx context.Context, l *Listener, _ *PacketListener) (serve, drive func() error) {
			c := TLS{Token: testToken, Window: window, Flows: 2}
			return func() error { _, err := ServeTLS(ctx, l, c); return err },
				func() error { _, err := CallTLS(ctx, l.Addr(), c); return err }
		},
		"tls bulk": func(ctx context.Context, l *Listener, _ *PacketListener) (serve, drive func() error) {
			c := TLS{Token: testToken, Window: window, Mode: TLSBulk}
			return func() error { _, err := ServeTLS(ctx, l, c); return err },
				func() error { _, err := CallTLS(ctx, l.Addr(), c); return err }
		},
		"grpc": func(ctx context.Context, l *Listener, _ *PacketListener) (serve, drive func() error) {
			c := GRPC{Token: &testToken, Window: window, Flows: 2}
			return func() error { _, err := ServeGRPC(ctx, l, c); return err },
				func() error { _, err := CallGRPC(ctx, l.Addr(), c); return err }
		},
		"grpc stream": func(ctx context.Context, l *Listener, _ *PacketListener) (serve, drive func() error) {
			c := GRPC{Token: &testToken, Window: window, Mode: GRPCStream}
			return func() error { _, err := ServeGRPC(ctx, l, c); return err },
				func() error { _, err := CallGRPC(ctx, l.Addr(), c); return err }
		},
		"udp_rr": func(ctx context.Context, _ *Listener, l *PacketListener) (serve, drive func() error) {
			return func() error { _, err := ServeUDPRR(ctx, l, rr); return err },
				func() error { _, err := CallUDPRR(ctx, l.Addr(), rr); return err }
		},
		"udp_stream": func(ctx context.Context, _ *Listener, l *PacketListener) (serve, drive func() error) {
			return func() error { _, err := ServeUDPStream(ctx, l, cbr); return err },
				func() error { _, err := SendUDPStream(ctx, l.Addr(), cbr); return err }
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			serve, drive := run(ctx, listenTCP(t), listenUDP(t))
			ended := make(chan error, 2)
			go func() { ended <- serve() }()
			go func() { ended <- drive() }()
			limit := time.After(labtest.Generous)
			select {
			case <-opened:
			case <-limit:
				t.Error("the window does not open")
			}
			cancelled := time.Now()
			cancel()
			for range 2 {
				select {
				case err := <-ended:
					if !errors.Is(err, context.Canceled) {
						t.Errorf("ended with %v", err)
					}
				case <-limit:
					t.Fatal("still running after the cancel")
				}
			}
			labtest.InTime(t, "the end", time.Since(cancelled), 2*time.Second)
		})
	}
}
