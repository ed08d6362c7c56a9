package traffic

import (
	"context"
	"flag"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
)

var (
	loopback    = netip.MustParseAddrPort("127.0.0.1:0")
	testToken   = Token{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	shortWindow = Window{Warmup: 30 * time.Millisecond, Duration: 60 * time.Millisecond}
	longWindow  = Window{Duration: time.Hour} // in which silence is found before the run is too long
)

// roomy makes a socket's buffer hold all datagrams of a run: a machine that stalls loses none.
func roomy(t testing.TB, fd int) {
	t.Helper()
	const all = 8 << 20 // bytes
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, all); err != nil {
		t.Fatalf("enlarge the buffer of a socket: %v: run as root", err)
	}
}

// TestMain gives both ends, which share this process, their processors. As a
// child of runInNamespace it is that test's other half.
func TestMain(m *testing.M) {
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), 4*Processors(5)))
	if check := os.Getenv(fewPorts); check != "" {
		os.Exit(runOnFewPorts(check))
	}
	flag.Parse()
	// The parallel tests wait for timeouts and need no processor each.
	if err := flag.Set("test.parallel", "64"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// ends runs the serving and the driving end of one workload and gives what
// each returned.
func ends[S, D any](serve func(context.Context) (S, error), drive func(context.Context) (D, error)) (s S, d D, serveErr, driveErr error) {
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

// mustRun runs both ends, which must succeed.
func mustRun[S, D any](t testing.TB, serve func(context.Context) (S, error), drive func(context.Context) (D, error)) (S, D) {
	t.Helper()
	s, d, serveErr, driveErr := ends(serve, drive)
	if serveErr != nil || driveErr != nil {
		t.Fatalf("serving end: %v; driving end: %v", serveErr, driveErr)
	}
	return s, d
}

func listenTCP(t testing.TB) *Listener {
	t.Helper()
	l, err := ListenTCP(loopback)
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

// closedPort is an address of the loopback whose port refuses callers: it is held by a
// socket that does not listen, or is connected to another, so that no other test
// gets it.
func closedPort(t testing.TB, kind int) netip.AddrPort {
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
	err = unix.Bind(fd, &unix.SockaddrInet4{Addr: loopback.Addr().As4()})
	if err == nil && kind == unix.SOCK_DGRAM {
		err = unix.Connect(fd, &unix.SockaddrInet4{Addr: loopback.Addr().As4(), Port: 1})
	}
	if err != nil {
		t.Fatal(err)
	}
	own, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return netip.AddrPortFrom(loopback.Addr(), uint16(own.(*unix.SockaddrInet4).Port))
}

func listenUDP(t testing.TB) *PacketListener {
	t.Helper()
	l, err := ListenUDP(loopback)
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

func runTCPStream(t testing.TB, s TCPStream) (served, driven TCPStreamEnd) {
	t.Helper()
	l := listenTCP(t)
	return mustRun(t,
		func(ctx context.Context) (TCPStreamEnd, error) { return ServeTCPStream(ctx, l, s) },
		func(ctx context.Context) (TCPStreamEnd, error) { return SendTCPStream(ctx, l.Addr(), s) })
}

// worked runs something again whose window counted nothing, as where its threads had no CPU in it.
func worked[S, D any](t testing.TB, count func(D) int64, run func() (S, D)) (served S, done D) {
	t.Helper()
	for range 5 {
		if served, done = run(); count(done) > 0 {
			return served, done
		}
		labtest.TryAgain(t, "nothing was done in the window")
	}
	return run()
}

func transacted(calls Transactions) int64 { return calls.Count }

func runTCPRR(t testing.TB, c RequestResponse) (Served, Transactions) {
	t.Helper()
	return worked(t, transacted, func() (Served, Transactions) {
		l := listenTCP(t)
		return mustRun(t,
			func(ctx context.Context) (Served, error) { return ServeTCPRR(ctx, l, c) },
			func(ctx context.Context) (Transactions, error) { return CallTCPRR(ctx, l.Addr(), c) })
	})
}

func runTCPCRR(t testing.TB, c RequestResponse) (Served, Transactions) {
	t.Helper()
	return worked(t, transacted, func() (Served, Transactions) {
		l := listenTCP(t)
		return mustRun(t,
			func(ctx context.Context) (Served, error) { return ServeTCPCRR(ctx, l, c) },
			func(ctx context.Context) (Transactions, error) { return CallTCPCRR(ctx, l.Addr(), c) })
	})
}

func runUDPRR(t testing.TB, c RequestResponse) (Served, Transactions) {
	t.Helper()
	return worked(t, transacted, func() (Served, Transactions) {
		l := listenUDP(t)
		return mustRun(t,
			func(ctx context.Context) (Served, error) { return ServeUDPRR(ctx, l, c) },
			func(ctx context.Context) (Transactions, error) { return CallUDPRR(ctx, l.Addr(), c) })
	})
}

func runUDPStream(t testing.TB, s UDPStream) (UDPReceived, UDPSent) {
	t.Helper()
	l := listenUDP(t)
	roomy(t, l.fd)
	return mustRun(t,
		func(ctx context.Context) (UDPReceived, error) { return ServeUDPStream(ctx, l, s) },
		func(ctx context.Context) (UDPSent, error) { return SendUDPStream(ctx, l.Addr(), s) })
}

func runUDPPPS(t testing.TB, s UDPPPS) (UDPReceived, UDPSent) {
	t.Helper()
	l := listenUDP(t)
	return mustRun(t,
		func(ctx context.Context) (UDPReceived, error) { return ServeUDPPPS(ctx, l, s) },
		func(ctx context.Context) (UDPSent, error) { return SendUDPPPS(ctx, l.Addr(), s) })
}

// everyWorkload runs each workload once over window.
func everyWorkload(window Window) map[string]func(t testing.TB) {
	rr := RequestResponse{Token: testToken, Window: window}
	many := RequestResponse{Token: testToken, Window: window, Flows: 3}
	return map[string]func(t testing.TB){
		"tcp_stream":          func(t testing.TB) { runTCPStream(t, TCPStream{Token: testToken, Window: window}) },
		"tcp_stream3":         func(t testing.TB) { runTCPStream(t, TCPStream{Token: testToken, Window: window, Flows: 3}) },
		"tcp_stream sendfile": func(t testing.TB) { runTCPStream(t, TCPStream{Token: testToken, Window: window, Mode: StreamSendfile}) },
		"tcp_stream both": func(t testing.TB) {
			runTCPStream(t, TCPStream{Token: testToken, Window: window, Direction: Bidirectional})
		},
		"tcp_sizes": func(t testing.TB) {
			runTCPSizes(t, TCPSizes{Token: testToken, Window: window, Sizes: []int{1, 8 << 10}})
		},
		"tcp_rr":      func(t testing.TB) { runTCPRR(t, rr) },
		"tcp_rr3":     func(t testing.TB) { runTCPRR(t, many) },
		"udp_rr":      func(t testing.TB) { runUDPRR(t, rr) },
		"udp_rr3":     func(t testing.TB) { runUDPRR(t, many) },
		"udp_stream":  func(t testing.TB) { runUDPStream(t, UDPStream{Token: testToken, Window: window, Rate: 20e6}) },
		"udp_pps":     func(t testing.TB) { runUDPPPS(t, UDPPPS{Token: testToken, Window: window}) },
		"udp_pps msg": func(t testing.TB) { runUDPPPS(t, UDPPPS{Token: testToken, Window: window, Mode: Msg}) },
		"udp_pps gso": func(t testing.TB) { runUDPPPS(t, UDPPPS{Token: testToken, Window: window, Mode: GSO}) },
		"udp_pps 8":   func(t testing.TB) { runUDPPPS(t, UDPPPS{Token: testToken, Window: window, Flows: 8, Rate: 1000}) },
		"udp_load":    func(t testing.TB) { runUDPLoad(t, UDPLoad{Token: testToken, Window: window}) },
		"loaded_rr":   func(t testing.TB) { runLoadedRR(t, LoadedRR{Token: testToken, Window: window, Load: 2}) },
		"tcp_crr":     func(t testing.TB) { runTCPCRR(t, rr) },
		"http":        func(t testing.TB) { runHTTP(t, HTTP{Window: window}) },
		"http close":  func(t testing.TB) { runHTTP(t, HTTP{Window: window, Mode: CloseEach}) },
		"http rate":   func(t testing.TB) { runHTTP(t, HTTP{Window: window, Rate: 5000}) },
	}
}

// everyStream runs each mode of tcp_stream once over window, and each way.
func everyStream(window Window) map[string]func(t testing.TB) {
	return map[string]func(t testing.TB){
		"tcp_stream auto":    func(t testing.TB) { runTCPStream(t, TCPStream{Token: testToken, Window: window, Mode: StreamAuto}) },
		"tcp_stream trunc":   func(t testing.TB) { runTCPStream(t, TCPStream{Token: testToken, Window: window, Mode: StreamTrunc}) },
		"tcp_stream paced":   func(t testing.TB) { runTCPStream(t, TCPStream{Token: testToken, Window: window, Rate: 1e9, Flows: 2}) },
		"tcp_stream reverse": func(t testing.TB) { runTCPStream(t, TCPStream{Token: testToken, Window: window, Direction: Reverse}) },
	}
}
