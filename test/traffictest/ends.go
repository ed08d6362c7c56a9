package traffictest

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
	"tare/traffic"
)

// DialFlow opens a flow as a client does, token and welcome included.
func DialFlow(t *testing.T, l *traffic.Listener) net.Conn {
	t.Helper()
	const tries = 5 // a greeting that a busy machine delays by more than traffic.GreetingLimit is refused
	for try := 1; ; try++ {
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			t.Cleanup(func() { c.Close() })
			if _, err = c.Write(traffic.Greeting(Token, traffic.VerbFlow)); err == nil {
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

// WantError runs a call that must fail by itself with an error that holds want.
func WantError(t *testing.T, w traffic.Window, want string, run func(context.Context) error) {
	t.Helper()
	begun := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), labtest.Generous) // else a server waits for a client for ever
	defer cancel()
	err := run(ctx)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one that holds %q", err, want)
	}
	labtest.InTime(t, "the call", time.Since(begun), w.Warmup+w.Duration+traffic.Grace+traffic.DrainLimit+2*time.Second)
}

// BadServer accepts TCP connections and does something wrong with each.
func BadServer(t *testing.T, do func(net.Conn)) *net.TCPListener {
	t.Helper()
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(Loopback))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
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

// ReportWithin is how soon both ends must report a fault, in a deep test.
const ReportWithin = 5 * time.Second

// CheckSeries wants a point at each interval at most, and counts that never fall, and gives
// the last one. Where the sampler gets no CPU in the window there is none.
func CheckSeries(t *testing.T, series []traffic.Point, w traffic.Window) (last int64) {
	t.Helper()
	labtest.AtMost(t, "points", len(series), int(w.Duration/w.Interval)+1)
	for i, p := range series {
		switch {
		case i == 0 && p.Count != 0:
			t.Errorf("series %+v", series)
		case i > 0 && (p.Count < last || p.At <= series[i-1].At):
			t.Errorf("point %d: %+v after %+v", i, p, series[i-1])
		}
		last = p.Count
	}
	return last
}

// Roomy makes a socket's buffer hold all datagrams of a run: a machine that stalls loses none.
func Roomy(t testing.TB, fd int) {
	t.Helper()
	const all = 8 << 20 // bytes
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, all); err != nil {
		t.Fatalf("enlarge the buffer of a socket: %v: run as root", err)
	}
}

// Ends runs the serving and the driving end of one workload and gives what
// each returned.
func Ends[S, D any](serve func(context.Context) (S, error), drive func(context.Context) (D, error)) (s S, d D, serveErr, driveErr error) {
	ctx, cancel := context.WithTimeout(context.Background(), labtest.Generous)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s, serveErr = serve(ctx)
	}()
	d, driveErr = drive(ctx)
	<-done
	return s, d, serveErr, driveErr
}

// MustRun runs both ends, which must succeed.
func MustRun[S, D any](t testing.TB, serve func(context.Context) (S, error), drive func(context.Context) (D, error)) (S, D) {
	t.Helper()
	s, d, serveErr, driveErr := Ends(serve, drive)
	if serveErr != nil || driveErr != nil {
		t.Fatalf("serving end: %v; driving end: %v", serveErr, driveErr)
	}
	return s, d
}

// ListenTCP listens on the loopback until the test ends.
func ListenTCP(t testing.TB) *traffic.Listener {
	t.Helper()
	l, err := traffic.ListenTCP(Loopback)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// ClosedPort is an address of the loopback whose port refuses callers: it is held by a
// socket that does not listen, or is connected to another, so that no other test
// gets it.
func ClosedPort(t testing.TB, kind int) netip.AddrPort {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Close(fd); err != nil {
			t.Error(err)
		}
	})
	err = unix.Bind(fd, &unix.SockaddrInet4{Addr: Loopback.Addr().As4()})
	if err == nil && kind == unix.SOCK_DGRAM {
		err = unix.Connect(fd, &unix.SockaddrInet4{Addr: Loopback.Addr().As4(), Port: 1})
	}
	if err != nil {
		t.Fatal(err)
	}
	own, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return netip.AddrPortFrom(Loopback.Addr(), uint16(own.(*unix.SockaddrInet4).Port))
}

// Worked runs something again whose window counted nothing, as where its threads had no CPU in it.
func Worked[S, D any](t testing.TB, count func(D) int64, run func() (S, D)) (served S, done D) {
	t.Helper()
	for range 5 {
		if served, done = run(); count(done) > 0 {
			return served, done
		}
		labtest.TryAgain(t, "nothing was done in the window")
	}
	return run()
}
