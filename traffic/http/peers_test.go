package http

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

// nginx runs Debian's nginx until the test ends. It ends a connection after
// fifty requests.
func nginx(t *testing.T) netip.AddrPort {
	t.Helper()
	free := traffictest.ListenTCP(t)
	at := netip.AddrPortFrom(traffictest.Loopback.Addr().Next(), free.Addr().Port()) // no other process has this port there
	dir := t.TempDir()
	config := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/error.log;
events {}
http {
	access_log off; keepalive_requests 50;
	client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
	server { listen %[2]s; location = /fixed { return 200 "fixed"; } location = /file { root %[1]s; } }
}`, dir, at)
	for name, text := range map[string]string{"conf": config, "file": string(make([]byte, 5000))} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	server := exec.Command("nginx", "-p", dir, "-e", filepath.Join(dir, "error.log"), "-c", filepath.Join(dir, "conf"))
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = server.Wait()
	})
	for end := time.Now().Add(labtest.Generous); ; <-time.After(traffic.Tick) {
		if c, err := net.Dial("tcp", at.String()); err == nil {
			c.Close()
			return at
		}
		if time.Now().After(end) {
			log, _ := os.ReadFile(filepath.Join(dir, "error.log"))
			t.Fatalf("nginx does not listen: %s", log)
		}
	}
}

func TestRealHTTPClientMeetsNginx(t *testing.T) {
	to := nginx(t)
	for _, test := range []struct {
		c      Options
		status int
		bytes  int64 // of a response, at least
	}{
		{Options{Path: "/fixed"}, 200, 5},
		{Options{Path: "/file"}, 200, 5000},
		{Options{Path: "/none", Connections: 1}, 404, 100},
		{Options{Path: "/fixed", Mode: CloseEach}, 200, 5},
		{Options{Path: "/file", Rate: 2000}, 200, 5000},
	} {
		test.c.Window = traffic.Window{Warmup: 20 * time.Millisecond, Duration: 200 * time.Millisecond}
		calls, err := Call(t.Context(), to, test.c)
		if err != nil {
			t.Fatalf("%+v: %v", test.c, err)
		}
		of := fmt.Sprintf("%+v: ", test.c)
		labtest.NotEqual(t, of+"responses", calls.Count, 0)
		labtest.AtLeast(t, of+"bytes", calls.Bytes, calls.Count*test.bytes)
		labtest.Equal(t, of+"kinds of failure", len(calls.Failures), 0)
		labtest.Equal(t, of+"resets", calls.Resets, 0)
		everyRequestHasItsLatency(t, fmt.Sprintf("%+v", test.c), test.c, calls)
		if (test.status == 200) != (len(calls.NotOK) == 0) || test.status != 200 && calls.NotOK[test.status] != calls.Count {
			t.Errorf("%+v: %d responses, by status %v", test.c, calls.Count, calls.NotOK)
		}
		connections := int64(max(test.c.Connections, traffic.DefaultConnections))
		if test.c.Mode != CloseEach && (calls.Reconnects < calls.Count/50-connections || calls.Reconnects > calls.Count/50+connections) {
			t.Errorf("%+v: %d reconnects over %d requests, of which nginx takes 50 on a connection", test.c, calls.Reconnects, calls.Count)
		}
		if test.c.Mode == CloseEach && calls.Reconnects > 0 {
			t.Errorf("%+v: %d reconnects", test.c, calls.Reconnects)
		}
	}
}

func TestRealHTTPServerMeetsClients(t *testing.T) {
	header := tokenHeader + ": " + traffictest.Token.Hex()
	for name, test := range map[string]struct {
		command []string
		counts  string // what it reports of complete responses
		ill     string // and of others
	}{
		"wrk":       {[]string{"wrk", "-t1", "-c5", "-d1s", "-H", header}, `(\d+) requests in`, `Non-2xx|Socket errors`},
		"wrk close": {[]string{"wrk", "-t1", "-c5", "-d1s", "-H", header, "-H", "Connection: close"}, `(\d+) requests in`, `Non-2xx|Socket errors`},
		"ab":        {[]string{"ab", "-q", "-c5", "-n2000", "-H", header}, `Complete requests: +(\d+)`, `Non-2xx|Failed requests: +[1-9]`},
	} {
		t.Run(name, func(t *testing.T) {
			l := traffictest.ListenTCP(t)
			c := Options{Token: &traffictest.Token, Window: traffic.Window{Duration: 3 * time.Second}}
			served, counted := traffictest.MustRun(t,
				func(ctx context.Context) (traffic.Served, error) { return Serve(ctx, l, c) },
				func(ctx context.Context) (int64, error) {
					command := append(test.command, "http://"+l.Addr().String()+"/")
					out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput()
					found := regexp.MustCompile(test.counts).FindSubmatch(out)
					if err != nil || found == nil || regexp.MustCompile(test.ill).Match(out) {
						return 0, fmt.Errorf("%w: %s", err, out)
					}
					r := traffic.StartRun(ctx)
					defer r.End()
					c, err := c.checked()
					if err == nil {
						err = endRun(r, l.Addr(), c)
					}
					n, _ := strconv.ParseInt(string(found[1]), 10, 64)
					return n, err
				})
			// They first connect to see whether anybody is there, and break off
			// in the end.
			labtest.NotEqual(t, "responses that the client counted", counted, 0)
			labtest.Between(t, "responses that the server counted", served.Transactions, counted, counted+5)
			labtest.AtMost(t, "unauthenticated peers", served.Unauthenticated, 2+5)
		})
	}
}
