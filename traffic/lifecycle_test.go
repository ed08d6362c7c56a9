package traffic_test

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
	"tare/test/traffictest"
	"tare/traffic"
	"tare/traffic/grpc"
	"tare/traffic/http"
	"tare/traffic/tcpcrr"
	"tare/traffic/tcprr"
	"tare/traffic/tcpsizes"
	"tare/traffic/tcpstream"
	"tare/traffic/tls"
	"tare/traffic/udp"
)

// helloTo opens a run as a datagram client does.
func helloTo(t *testing.T, l *udp.Listener) net.Conn {
	t.Helper()
	c, err := net.Dial("udp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	var p [traffic.HeaderBytes]byte
	traffic.Header{Kind: traffic.KindHello}.Put(p[:], &traffictest.Token)
	if _, err := c.Write(p[:]); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, p[:]); err != nil {
		t.Fatal(err)
	}
	return c
}

// A client that behaves in one of many wrong ways: the server reports which.
func TestLabServerNamesWhatTheClientDid(t *testing.T) {
	t.Parallel()
	stream := tcpstream.Options{Token: traffictest.Token, Window: traffictest.LongWindow}
	rr := traffic.RequestResponse{Token: traffictest.Token, Window: traffictest.ShortWindow}
	forward := []byte("F")[:1:1] // what the first flow of a tcp_stream is for
	serveStream := func(ctx context.Context, l *traffic.Listener) error {
		_, err := tcpstream.Serve(ctx, l, stream)
		return err
	}
	serveRR := func(ctx context.Context, l *traffic.Listener) error { _, err := tcprr.Serve(ctx, l, rr); return err }
	serveCRR := func(ctx context.Context, l *traffic.Listener) error { _, err := tcpcrr.Serve(ctx, l, rr); return err }
	for name, test := range map[string]struct {
		serve  func(context.Context, *traffic.Listener) error
		client func(*testing.T, *traffic.Listener)
		want   string
	}{
		"stream closes at once": {serveStream, func(t *testing.T, l *traffic.Listener) { traffictest.DialFlow(t, l).Close() }, "receive the role of flow 1: the peer closed"},
		"stream closes later": {serveStream, func(t *testing.T, l *traffic.Listener) {
			c := traffictest.DialFlow(t, l).(*net.TCPConn)
			defer c.Close()
			_, _ = c.Write(append(forward, make([]byte, 1000)...))
			_ = c.CloseWrite()
			_, _ = io.ReadAll(c) // with what it has not read, closing would reset the connection
		}, "closed flow 1 before the window closed, after 1000 bytes"},
		"stream resets": {serveStream, func(t *testing.T, l *traffic.Listener) {
			c := traffictest.DialFlow(t, l).(*net.TCPConn)
			_ = c.SetLinger(0)
			c.Close()
		}, "connection reset"},
		"stream is silent": {serveStream, func(t *testing.T, l *traffic.Listener) { traffictest.DialFlow(t, l) }, "receive the role of flow 1: no answer in time"},
		"stream never starts": {serveStream, func(t *testing.T, l *traffic.Listener) {
			_, _ = traffictest.DialFlow(t, l).Write(forward)
		}, "after 0 bytes: the sender stopped, or the path drops its packets"},
		"stream stops": {serveStream, func(t *testing.T, l *traffic.Listener) {
			_, _ = traffictest.DialFlow(t, l).Write(append(forward, make([]byte, 1000)...))
		}, "nothing arrived for 3s, after 1000 bytes"},
		"stream goes the other way": {serveStream, func(t *testing.T, l *traffic.Listener) {
			_, _ = traffictest.DialFlow(t, l).Write([]byte("R"))
		}, "give both ends the same direction"},
		"rr closes":    {serveRR, func(t *testing.T, l *traffic.Listener) { traffictest.DialFlow(t, l).Close() }, "closed flow 1 in the middle"},
		"rr is silent": {serveRR, func(t *testing.T, l *traffic.Listener) { traffictest.DialFlow(t, l) }, "did not end the run"},
		"crr vanishes": {serveCRR, func(t *testing.T, l *traffic.Listener) {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, _ = c.Write(append(traffic.Greeting(traffictest.Token, traffic.VerbFlow), 'x'))
			_, _ = io.ReadAll(c)
		}, "after 1 answers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := traffictest.ListenTCP(t)
			go test.client(t, l)
			traffictest.WantError(t, traffictest.ShortWindow, test.want, func(ctx context.Context) error { return test.serve(ctx, l) })
		})
	}
}

// TestLabServerWaitsForTheFirstRequest: a client that was held up before its first request has all of
// the run's time from then on.
func TestLabServerWaitsForTheFirstRequest(t *testing.T) {
	t.Parallel()
	rr := traffic.RequestResponse{Token: traffictest.Token, Window: traffictest.ShortWindow, Flows: 2}
	for name, flows := range map[string]int{"alone": 1, "of two": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rr, l := rr, traffictest.ListenTCP(t)
			rr.Flows = flows
			for range flows {
				go func() {
					c := traffictest.DialFlow(t, l)
					for _, wait := range []time.Duration{traffictest.ShortWindow.Limit() - traffic.Grace/6, traffic.Grace / 3} { // the second is beyond the limit
						<-time.After(wait)
						_, _ = c.Write([]byte{traffic.RequestByte})
						_, _ = io.ReadFull(c, make([]byte, 1))
					}
					_, _ = c.Write([]byte{traffic.EndByte})
				}()
			}
			served, err := tcprr.Serve(t.Context(), l, rr)
			if err != nil {
				t.Fatal(err)
			}
			labtest.Equal(t, "answers", served.Transactions, int64(2*flows))
		})
	}
}

func TestLabServerNamesWhatTheDatagramClientDid(t *testing.T) {
	t.Parallel()
	rr := traffic.RequestResponse{Token: traffictest.Token, Window: traffictest.ShortWindow}
	cbr := udp.Stream{Token: traffictest.Token, Window: traffictest.ShortWindow, Rate: 1e6, Size: traffic.HeaderBytes}
	pps := udp.PPS{Token: traffictest.Token, Window: traffictest.ShortWindow, Size: traffic.HeaderBytes}
	for name, test := range map[string]struct {
		serve func(context.Context, *udp.Listener) error
		after []traffic.Kind
		want  string
	}{
		"udp_rr is silent":     {func(ctx context.Context, l *udp.Listener) error { _, err := udp.ServeRR(ctx, l, rr); return err }, nil, "did not end the run"},
		"udp_stream is silent": {func(ctx context.Context, l *udp.Listener) error { _, err := udp.ServeStream(ctx, l, cbr); return err }, nil, "none of its datagrams of 32 bytes came"},
		"udp_stream stops":     {func(ctx context.Context, l *udp.Listener) error { _, err := udp.ServeStream(ctx, l, cbr); return err }, []traffic.Kind{traffic.KindData}, "nothing arrived in the window"},
		"udp_pps ends early":   {func(ctx context.Context, l *udp.Listener) error { _, err := udp.ServePPS(ctx, l, pps); return err }, []traffic.Kind{traffic.KindData, traffic.KindEnd}, "ended before the window closed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := listenUDP(t)
			go func() {
				c := helloTo(t, l)
				for _, k := range test.after {
					var p [traffic.HeaderBytes]byte
					traffic.Header{Kind: k}.Put(p[:], &traffictest.Token)
					_, _ = c.Write(p[:])
				}
			}()
			traffictest.WantError(t, traffictest.ShortWindow, test.want, func(ctx context.Context) error { return test.serve(ctx, l) })
		})
	}
}

func TestLabClientNamesWhatTheServerDid(t *testing.T) {
	t.Parallel()
	stream := tcpstream.Options{Token: traffictest.Token, Window: traffictest.ShortWindow}
	rr := traffic.RequestResponse{Token: traffictest.Token, Window: traffictest.ShortWindow}
	welcomeThen := func(do func(net.Conn)) func(net.Conn) {
		return func(c net.Conn) {
			_, _ = io.ReadFull(c, make([]byte, traffic.GreetingLen))
			_, _ = c.Write([]byte{traffic.Welcome})
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
				_, err := tcpstream.Send(ctx, to, stream)
				return err
			}},
			"tcp_rr":  {test.rr, func(ctx context.Context, to netip.AddrPort) error { _, err := tcprr.Call(ctx, to, rr); return err }},
			"tcp_crr": {test.crr, func(ctx context.Context, to netip.AddrPort) error { _, err := tcpcrr.Call(ctx, to, rr); return err }},
		} {
			if client.want == "" {
				continue
			}
			t.Run(name+"/"+workload, func(t *testing.T) {
				t.Parallel()
				to := traffictest.BadServer(t, test.server).Addr().(*net.TCPAddr).AddrPort()
				traffictest.WantError(t, traffictest.ShortWindow, client.want, func(ctx context.Context) error { return client.call(ctx, to) })
			})
		}
	}
}

func TestLabClientNamesAnAbsentServer(t *testing.T) {
	t.Parallel()
	rr := traffic.RequestResponse{Token: traffictest.Token, Window: traffictest.ShortWindow}
	for name, test := range map[string]struct {
		want string
		at   func(t *testing.T) netip.AddrPort
		call func(ctx context.Context, at netip.AddrPort) error
	}{
		"no TCP there": {
			"connection refused", func(t *testing.T) netip.AddrPort { return traffictest.ClosedPort(t, unix.SOCK_STREAM) },
			func(ctx context.Context, at netip.AddrPort) error { _, err := tcprr.Call(ctx, at, rr); return err },
		},
		"no UDP there": {
			"connection refused", func(t *testing.T) netip.AddrPort { return traffictest.ClosedPort(t, unix.SOCK_DGRAM) },
			func(ctx context.Context, at netip.AddrPort) error { _, err := udp.CallRR(ctx, at, rr); return err },
		},
		"no answer": { // it listens, but serves nothing
			"whether UDP passes both ways", func(t *testing.T) netip.AddrPort { return listenUDP(t).Addr() },
			func(ctx context.Context, at netip.AddrPort) error { _, err := udp.CallRR(ctx, at, rr); return err },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := test.at(t)
			traffictest.WantError(t, traffictest.ShortWindow, test.want, func(ctx context.Context) error { return test.call(ctx, at) })
		})
	}
}

func TestServerWaitsAsLongAsTheContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := tcpstream.Serve(ctx, traffictest.ListenTCP(t), tcpstream.Options{Token: traffictest.Token, Window: traffictest.ShortWindow, Flows: 3})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "0 of 3 presented") {
		t.Errorf("tcp: %v", err)
	}
	_, err = udp.ServeRR(ctx, listenUDP(t), traffic.RequestResponse{Token: traffictest.Token, Window: traffictest.ShortWindow})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("udp: %v", err)
	}
}

func TestLabCancelEndsBothEnds(t *testing.T) {
	opened := make(chan struct{}, 1)
	window := traffic.Window{Warmup: 30 * time.Millisecond, Duration: time.Hour, Edge: func(e traffic.Edge) {
		if e == traffic.Opening {
			opened <- struct{}{}
		}
	}}
	rr := traffic.RequestResponse{Token: traffictest.Token, Window: window}
	stream := tcpstream.Options{Token: traffictest.Token, Window: window, Flows: 2}
	cbr := udp.Stream{Token: traffictest.Token, Window: window, Rate: 1e6}
	requests := http.Options{Token: &traffictest.Token, Window: window}
	for name, run := range map[string]func(context.Context, *traffic.Listener, *udp.Listener) (serve, drive func() error){
		"tcp_stream": func(ctx context.Context, l *traffic.Listener, _ *udp.Listener) (serve, drive func() error) {
			return func() error { _, err := tcpstream.Serve(ctx, l, stream); return err },
				func() error { _, err := tcpstream.Send(ctx, l.Addr(), stream); return err }
		},
		"tcp_sizes": func(ctx context.Context, l *traffic.Listener, _ *udp.Listener) (serve, drive func() error) {
			sizes := tcpsizes.Options{Token: traffictest.Token, Window: window, Sizes: []int{64 << 10}}
			return func() error { _, err := tcpsizes.Serve(ctx, l, sizes); return err },
				func() error { _, err := tcpsizes.Send(ctx, l.Addr(), sizes); return err }
		},
		"tcp_rr": func(ctx context.Context, l *traffic.Listener, _ *udp.Listener) (serve, drive func() error) {
			return func() error { _, err := tcprr.Serve(ctx, l, rr); return err },
				func() error { _, err := tcprr.Call(ctx, l.Addr(), rr); return err }
		},
		"loaded_rr": func(ctx context.Context, l *traffic.Listener, _ *udp.Listener) (serve, drive func() error) {
			c := tcpstream.LoadedRR{Token: traffictest.Token, Window: window, Load: 2}
			return func() error { _, err := tcpstream.ServeLoadedRR(ctx, l, c); return err },
				func() error { _, err := tcpstream.CallLoadedRR(ctx, l.Addr(), c); return err }
		},
		"tcp_crr": func(ctx context.Context, l *traffic.Listener, _ *udp.Listener) (serve, drive func() error) {
			return func() error { _, err := tcpcrr.Serve(ctx, l, rr); return err },
				func() error { _, err := tcpcrr.Call(ctx, l.Addr(), rr); return err }
		},
		"http": func(ctx context.Context, l *traffic.Listener, _ *udp.Listener) (serve, drive func() error) {
			return func() error { _, err := http.Serve(ctx, l, requests); return err },
				func() error { _, err := http.Call(ctx, l.Addr(), requests); return err }
		},
		"tls": func(ctx context.Context, l *traffic.Listener, _ *udp.Listener) (serve, drive func() error) {
			c := tls.Options{Token: traffictest.Token, Window: window, Flows: 2}
			return func() error { _, err := tls.Serve(ctx, l, c); return err },
				func() error { _, err := tls.Call(ctx, l.Addr(), c); return err }
		},
		"tls bulk": func(ctx context.Context, l *traffic.Listener, _ *udp.Listener) (serve, drive func() error) {
			c := tls.Options{Token: traffictest.Token, Window: window, Mode: tls.Bulk}
			return func() error { _, err := tls.Serve(ctx, l, c); return err },
				func() error { _, err := tls.Call(ctx, l.Addr(), c); return err }
		},
		"grpc": func(ctx context.Context, l *traffic.Listener, _ *udp.Listener) (serve, drive func() error) {
			c := grpc.Options{Token: &traffictest.Token, Window: window, Flows: 2}
			return func() error { _, err := grpc.Serve(ctx, l, c); return err },
				func() error { _, err := grpc.Call(ctx, l.Addr(), c); return err }
		},
		"grpc stream": func(ctx context.Context, l *traffic.Listener, _ *udp.Listener) (serve, drive func() error) {
			c := grpc.Options{Token: &traffictest.Token, Window: window, Mode: grpc.Stream}
			return func() error { _, err := grpc.Serve(ctx, l, c); return err },
				func() error { _, err := grpc.Call(ctx, l.Addr(), c); return err }
		},
		"udp_rr": func(ctx context.Context, _ *traffic.Listener, l *udp.Listener) (serve, drive func() error) {
			return func() error { _, err := udp.ServeRR(ctx, l, rr); return err },
				func() error { _, err := udp.CallRR(ctx, l.Addr(), rr); return err }
		},
		"udp_stream": func(ctx context.Context, _ *traffic.Listener, l *udp.Listener) (serve, drive func() error) {
			return func() error { _, err := udp.ServeStream(ctx, l, cbr); return err },
				func() error { _, err := udp.SendStream(ctx, l.Addr(), cbr); return err }
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			serve, drive := run(ctx, traffictest.ListenTCP(t), listenUDP(t))
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
