package http

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

func runHTTP(t testing.TB, c Options) (traffic.Served, Calls) {
	t.Helper()
	c.Token = &traffictest.Token
	return traffictest.Worked(t, answered, func() (traffic.Served, Calls) {
		l := traffictest.ListenTCP(t)
		return traffictest.MustRun(t,
			func(ctx context.Context) (traffic.Served, error) { return Serve(ctx, l, c) },
			func(ctx context.Context) (Calls, error) { return Call(ctx, l.Addr(), c) })
	})
}

func answered(calls Calls) int64 { return calls.Count }

// callServer runs a client, without a token, against a server of the standard
// library.
func callServer(t *testing.T, handler http.HandlerFunc, c Options) Calls {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	_, calls := traffictest.Worked(t, answered, func() (struct{}, Calls) {
		calls, err := Call(t.Context(), server.Listener.Addr().(*net.TCPAddr).AddrPort(), c)
		if err != nil {
			t.Fatal(err)
		}
		return struct{}{}, calls
	})
	return calls
}

func TestLabHTTP(t *testing.T) {
	window := traffictest.ShortWindow
	window.Interval = 20 * time.Millisecond
	for _, c := range []Options{
		{}, {Connections: 1}, {Connections: 40, Size: 100_000}, {Size: traffic.MaxBody, Connections: 2},
		{Mode: CloseEach}, {Mode: CloseEach, Connections: 1, Size: 50_000},
		{Rate: 500}, {Rate: 500, Mode: CloseEach, Connections: 3}, {Rate: 20_000, Connections: 40},
	} {
		name := fmt.Sprintf("%s of %d on %d at %v", c.Mode, c.Size, c.Connections, c.Rate)
		c.Window = window
		served, calls := runHTTP(t, c)
		if calls.Count == 0 || served.Transactions < calls.Count || served.Unauthenticated != 0 {
			t.Errorf("%s: %d responses counted, %d sent, %d unauthenticated peers", name, calls.Count, served.Transactions, served.Unauthenticated)
		}
		if least := calls.Count * int64(max(c.Size, traffic.DefaultBody)); calls.Bytes < least {
			t.Errorf("%s: %d bytes, want %d or more", name, calls.Bytes, least)
		}
		everyRequestHasItsLatency(t, name, c, calls)
		if len(calls.Failures)+len(calls.NotOK) > 0 || calls.Reconnects+calls.Resets > 0 {
			t.Errorf("%s: %+v", name, calls)
		}
		if calls.Congestion == "" || calls.Congestion != served.Congestion {
			t.Errorf("%s: congestion control %q and %q", name, calls.Congestion, served.Congestion)
		}
		traffictest.CheckSeries(t, calls.Series, window)
	}
}

// everyRequestHasItsLatency: in an open loop what fell due in the window was answered in time or
// counts as unanswered. A server on a busy machine does not answer all of it in time.
func everyRequestHasItsLatency(t *testing.T, name string, c Options, calls Calls) {
	t.Helper()
	if c.Rate == 0 {
		labtest.Equal(t, name+": number of latencies", calls.Latency.Count(), calls.Count)
		labtest.Equal(t, name+": unanswered", calls.Unanswered, 0)
		return
	}
	due := c.Rate * calls.Elapsed.Seconds()
	labtest.Between(t, name+": number of latencies", float64(calls.Latency.Count()), due-1, due+1)
	labtest.Equal(t, name+": answered and unanswered", calls.Service.Count()+calls.Unanswered, calls.Latency.Count())
}

func TestHTTPIsChecked(t *testing.T) {
	for want, c := range map[string]Options{
		"duration":          {},
		`mode "open"`:       {Window: traffictest.ShortWindow, Mode: "open"},
		"-1 connections":    {Window: traffictest.ShortWindow, Connections: -1},
		"1025 connections":  {Window: traffictest.ShortWindow, Connections: traffic.MaxFlows + 1},
		"body of -1 bytes":  {Window: traffictest.ShortWindow, Size: -1},
		"rate of 0.5":       {Window: traffictest.ShortWindow, Rate: 0.5},
		"rate of -1":        {Window: traffictest.ShortWindow, Rate: -1},
		`path "x"`:          {Window: traffictest.ShortWindow, Path: "x"},
		"write them as %20": {Window: traffictest.ShortWindow, Path: "/a b"},
		`path "/\r\n`:       {Window: traffictest.ShortWindow, Path: "/\r\nX: y"},
		`host "a\nb"`:       {Window: traffictest.ShortWindow, Host: "a\nb"},
		"path and host of":  {Window: traffictest.ShortWindow, Path: "/" + strings.Repeat("x", maxTarget)},
	} {
		if _, err := Call(t.Context(), traffictest.Loopback, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
	if _, err := Serve(t.Context(), traffictest.ListenTCP(t), Options{Window: traffictest.ShortWindow}); err == nil {
		t.Error("it serves without a token")
	}
}

// oneByOne is the window of a client with one connection, so that between two responses is
// what the server did in between.
var oneByOne = traffic.Window{Duration: 100 * time.Millisecond}

// Servers answer in many ways; each is understood.
func TestLabHTTPUnderstandsServers(t *testing.T) {
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		check   func(Calls) bool
	}{
		"not found":  {http.NotFound, func(c Calls) bool { return maps.Equal(c.NotOK, map[int]int64{404: c.Count}) }},
		"no content": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, func(c Calls) bool { return len(c.NotOK) == 0 }},
		"chunked": {func(w http.ResponseWriter, _ *http.Request) {
			for range 3 {
				_, _ = w.Write(make([]byte, 3000))
				_ = http.NewResponseController(w).Flush()
			}
		}, func(c Calls) bool { return c.Bytes > 9000*c.Count }},
		"interim": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(200) }, func(c Calls) bool { return len(c.NotOK) == 0 }},
		"closes each": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") }, func(c Calls) bool {
			return c.Reconnects >= c.Count-1 && c.Reconnects <= c.Count+1
		}},
		"ends without a word": {func(w http.ResponseWriter, _ *http.Request) {
			c, out, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			_, _ = out.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			_ = out.Flush()
			c.Close()
		}, func(c Calls) bool { return c.Reconnects > 0 }},
		"body until close": {func(w http.ResponseWriter, _ *http.Request) {
			c, out, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			_, _ = out.WriteString("HTTP/1.0 200 OK\r\n\r\nall of it")
			_ = out.Flush()
			c.Close()
		}, func(c Calls) bool { return c.Bytes == 28*c.Count && c.Reconnects > 0 }},
		"asks for what was asked": {func(w http.ResponseWriter, r *http.Request) {
			if r.Host != "example.com" || r.URL.String() != "/a?b=c" || r.Header.Get(tokenHeader) != "" {
				w.WriteHeader(500)
			}
		}, func(c Calls) bool { return len(c.NotOK) == 0 }},
	} {
		calls := callServer(t, test.handler, Options{Window: oneByOne, Connections: 1, Host: "example.com", Path: "/a?b=c"})
		if calls.Count == 0 || len(calls.Failures) > 0 || !test.check(calls) {
			t.Errorf("%s: %+v", name, calls)
		}
	}
}

// A connection that the server cuts in the middle of a response is a failure
// and no response; the next one goes on.
func TestHTTPCountsFailures(t *testing.T) {
	var asked atomic.Int64
	calls := callServer(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1)%2 == 0 {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write(make([]byte, 10))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}, Options{Window: oneByOne, Connections: 1})
	failed := int64(0)
	for cause, n := range calls.Failures {
		if !strings.HasPrefix(cause, "receive: ") {
			t.Errorf("%d failures of %q", n, cause)
		}
		failed += n
	}
	if failed == 0 || calls.Count == 0 || len(calls.NotOK) > 0 {
		t.Errorf("%d failures, %d responses, %v", failed, calls.Count, calls.NotOK)
	}
}

// In mode close a server that keeps its connections open costs no ports.
func TestHTTPResetsWhatTheServerKeeps(t *testing.T) {
	to := traffictest.BadServer(t, func(c net.Conn) {
		in := bufio.NewReader(c)
		for {
			if _, err := http.ReadRequest(in); err != nil {
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	}).Addr().(*net.TCPAddr).AddrPort()
	calls, err := Call(t.Context(), to, Options{Window: traffictest.ShortWindow, Mode: CloseEach})
	if err != nil {
		t.Fatal(err)
	}
	labtest.AtLeast(t, "resets", calls.Resets, calls.Count-traffic.DefaultConnections)
	labtest.NotEqual(t, "responses", calls.Count, 0)
	labtest.Equal(t, "kinds of failure", len(calls.Failures), 0)
}

// badHTTPServers are servers that do something wrong, and what the client reports.
func badHTTPServers() map[string]badHTTPServer {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	answer := func(text string) func(net.Conn) {
		return func(c net.Conn) {
			_, _ = bufio.NewReader(c).ReadString('\n')
			_, _ = io.WriteString(c, text)
			_, _ = io.Copy(io.Discard, c)
			c.Close()
		}
	}
	var served atomic.Int64
	return map[string]badHTTPServer{
		"closes":         {func(c net.Conn) { c.Close() }, "no request was answered"},
		"never answers":  {answer(""), "whether a server of HTTP runs there"},
		"sends SSH":      {answer("SSH-2.0-OpenSSH_9.2\r\n"), `no status line of HTTP/1: "SSH-2.0-OpenSSH_9.2\r\n"; see what listens at this address`},
		"sends no line":  {answer("\x4a\x00\x00\x00\x0a8.0.36"), "no status line of HTTP/1"},
		"sends too much": {answer(ok + "ay"), `more came than was asked for: "ay"`},
		"never ends":     {answer("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok"), "answer"},
		"dies later on":  {func(c net.Conn) { answerSome(c, ok, &served) }, "and then none for 3s"},
		"wants no token": {answer("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"), "give both ends the same one"},
		"trickles a body": {func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			for range time.Tick(100 * time.Millisecond) {
				if _, err := io.WriteString(c, "x"); err != nil {
					return
				}
			}
		}, "no response was whole"},
	}
}

type badHTTPServer struct {
	serve func(net.Conn)
	want  string
}

func TestLabHTTPClientNamesWhatTheServerDid(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 200} {
		for name, bad := range badHTTPServers() {
			t.Run(fmt.Sprint(name, rate), func(t *testing.T) {
				t.Parallel()
				to := traffictest.BadServer(t, bad.serve).Addr().(*net.TCPAddr).AddrPort()
				window := traffic.Window{Warmup: 500 * time.Millisecond, Duration: 100 * time.Millisecond}
				if name == "dies later on" {
					window.Duration = 20 * time.Second
				}
				begun := time.Now()
				traffictest.WantError(t, window, bad.want, func(ctx context.Context) error {
					_, err := Call(ctx, to, Options{Window: window, Token: &traffictest.Token, Rate: rate})
					return err
				})
				labtest.InTime(t, "the call", time.Since(begun), traffictest.ReportWithin)
			})
		}
	}
}

// answerSome answers twenty requests, whoever asks them, and then no more.
func answerSome(c net.Conn, with string, served *atomic.Int64) {
	in := bufio.NewReader(c)
	for {
		if _, err := http.ReadRequest(in); err != nil || served.Add(1) > 20 {
			c.Close()
			return
		}
		_, _ = io.WriteString(c, with)
	}
}

func TestLabHTTPClientNamesAnAbsentServer(t *testing.T) {
	t.Parallel()
	absent := traffictest.ClosedPort(t, unix.SOCK_STREAM)
	traffictest.WantError(t, traffictest.ShortWindow, "connection refused", func(ctx context.Context) error {
		_, err := Call(ctx, absent, Options{Window: traffictest.ShortWindow})
		return err
	})
	nowhere := netip.MustParseAddrPort("255.255.255.255:80") // no host: the kernel refuses it
	traffictest.WantError(t, traffictest.ShortWindow, "see whether", func(ctx context.Context) error {
		_, err := Call(ctx, nowhere, Options{Window: traffictest.ShortWindow})
		return err
	})
}
