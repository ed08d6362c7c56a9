package udp

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

func listenUDP(t testing.TB) *Listener {
	t.Helper()
	l, err := Listen(traffictest.Loopback)
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

func runUDPStream(t testing.TB, s Stream) (Received, Sent) {
	t.Helper()
	l := listenUDP(t)
	traffictest.Roomy(t, l.fd)
	return traffictest.MustRun(t,
		func(ctx context.Context) (Received, error) { return ServeStream(ctx, l, s) },
		func(ctx context.Context) (Sent, error) { return SendStream(ctx, l.Addr(), s) })
}

func runUDPPPS(t testing.TB, s PPS) (Received, Sent) {
	t.Helper()
	l := listenUDP(t)
	return traffictest.MustRun(t,
		func(ctx context.Context) (Received, error) { return ServePPS(ctx, l, s) },
		func(ctx context.Context) (Sent, error) { return SendPPS(ctx, l.Addr(), s) })
}

// relay passes datagrams between one client port after another and a server.
// What it does to each data datagram on the way there is up to change, which
// gives the datagrams to send on.
type relay struct {
	front  *net.UDPConn
	server *net.UDPAddr
	change func([]byte) [][]byte
	done   sync.WaitGroup

	mu      sync.Mutex
	passed  []int64 // sequences of the data datagrams sent on, in order
	changed int
	backs   map[netip.AddrPort]*net.UDPConn
}

func startRelay(t *testing.T, server netip.AddrPort, change func([]byte) [][]byte) *relay {
	t.Helper()
	front, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(traffictest.Loopback))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := front.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		traffictest.Roomy(t, int(fd))
	}); err != nil {
		t.Fatal(err)
	}
	r := &relay{front: front, server: net.UDPAddrFromAddrPort(server), change: change, backs: map[netip.AddrPort]*net.UDPConn{}}
	r.done.Go(func() { r.forward(t) })
	t.Cleanup(func() {
		front.Close()
		r.mu.Lock()
		for _, back := range r.backs {
			back.Close()
		}
		r.mu.Unlock()
		r.done.Wait()
	})
	return r
}

func (r *relay) addr() netip.AddrPort { return r.front.LocalAddr().(*net.UDPAddr).AddrPort() }

func (r *relay) forward(t *testing.T) {
	p := make([]byte, 1<<16)
	for {
		n, from, err := r.front.ReadFromUDPAddrPort(p)
		if err != nil {
			return
		}
		back, err := r.giveBack(from)
		if err != nil {
			t.Error(err)
			return
		}
		out := [][]byte{p[:n]}
		h, ok := traffic.ParseHeader(p[:n], &traffictest.Token)
		if data := ok && h.Kind == traffic.KindData; data {
			out = r.change(p[:n])
		}
		r.mu.Lock()
		if len(out) != 1 {
			r.changed++
		}
		for _, each := range out {
			if h, _ := traffic.ParseHeader(each, &traffictest.Token); h.Kind == traffic.KindData {
				r.passed = append(r.passed, h.Sequence)
			}
		}
		r.mu.Unlock()
		for _, each := range out {
			_, _ = back.Write(each) // refused once the server is gone
		}
	}
}

// back is the relay's socket for the client at from.
func (r *relay) giveBack(from netip.AddrPort) (*net.UDPConn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if back, ok := r.backs[from]; ok {
		return back, nil
	}
	back, err := net.DialUDP("udp", nil, r.server)
	if err != nil {
		return nil, err
	}
	r.backs[from] = back
	r.done.Go(func() {
		p := make([]byte, 1<<16)
		for {
			n, err := back.Read(p)
			if err != nil {
				if errors.Is(err, net.ErrClosed) {
					return
				}
				r.mu.Lock()
				_, open := r.backs[from]
				r.mu.Unlock()
				if !open || n == 0 {
					return
				}
				continue
			}
			_, _ = r.front.WriteToUDPAddrPort(p[:n], from)
		}
	})
	return back, nil
}

// harm drops, doubles and delays data datagrams by their place in the stream.
func harm() func([]byte) [][]byte {
	var held []byte
	count := 0
	return func(p []byte) [][]byte {
		count++
		switch {
		case count%10 == 3:
			return nil
		case count%17 == 5:
			return [][]byte{p, p}
		case count%13 == 7 && held == nil:
			held = append([]byte(nil), p...)
			return nil
		case held != nil:
			out := [][]byte{p, held}
			held = nil
			return out
		}
		return [][]byte{p}
	}
}

func TestLabUDPCountsWhatThePathDid(t *testing.T) {
	l := listenUDP(t)
	traffictest.Roomy(t, l.fd)
	r := startRelay(t, l.Addr(), harm())
	s := Stream{Token: traffictest.Token, Window: traffic.Window{Warmup: 30 * time.Millisecond, Duration: 250 * time.Millisecond}, Rate: 8e6, Size: 200, Burst: 4}
	var receiver *receiveThread
	received, sent := traffictest.MustRun(t,
		func(ctx context.Context) (Received, error) {
			run := traffic.StartRun(ctx)
			defer run.End()
			all := newReceiving(run, s.Token, s.Window, s.Size, 1, 1)
			receiver = all.thread(0, l.fd, newIntake("", s.Size, false), nil)
			return all.serve([]*receiveThread{receiver})
		},
		func(ctx context.Context) (Sent, error) { return SendStream(ctx, r.addr(), s) })
	r.mu.Lock()
	defer r.mu.Unlock()
	low, high := receiver.flow[0].sequences.low, receiver.flow[0].sequences.high
	want := tallyOf(r.passed, low, high)
	got := tally{received.Expected - received.Lost, received.Duplicates, received.Reordered}
	if got != want {
		t.Errorf("of the sequences (%d, %d] the receiver counted %+v, the relay sent %+v", low, high, got, want)
	}
	if received.Lost == 0 || received.Duplicates == 0 || received.Reordered == 0 {
		t.Errorf("the relay did no harm: %+v", received)
	}
	if received.BufferDrops != 0 {
		t.Errorf("%d datagrams dropped by the receiver's socket", received.BufferDrops)
	}
	labtest.NotEqual(t, "datagrams sent", sent.Datagrams, 0)
	labtest.NotEqual(t, "datagrams received", received.Datagrams, 0)
	labtest.Between(t, "loss", received.Loss(), 0.05, 0.15)
}

func TestLabUDPRRCountsLostRequests(t *testing.T) {
	for _, flows := range []int{1, 3} {
		l := listenUDP(t)
		count := 0
		r := startRelay(t, l.Addr(), func(p []byte) [][]byte {
			if count++; count%20 == 0 {
				return nil
			}
			return [][]byte{p}
		})
		c := traffic.RequestResponse{Token: traffictest.Token, Window: traffic.Window{Duration: 300 * time.Millisecond}, Flows: flows, Timeout: 20 * time.Millisecond}
		served, calls := traffictest.MustRun(t,
			func(ctx context.Context) (traffic.Served, error) { return ServeRR(ctx, l, c) },
			func(ctx context.Context) (traffic.Transactions, error) { return CallRR(ctx, r.addr(), c) })
		r.mu.Lock()
		dropped := int64(r.changed)
		r.mu.Unlock()
		if calls.Lost == 0 || calls.Lost < dropped-int64(2*flows) {
			t.Errorf("%d flows: %d requests lost, the relay dropped %d", flows, calls.Lost, dropped)
		}
		if longest, _ := calls.RTT.Max(); longest < c.Timeout {
			t.Errorf("%d flows: the longest round trip is %v, so the lost requests are missing from it", flows, longest)
		}
		if calls.Count != calls.RTT.Count() || served.Transactions == 0 {
			t.Errorf("%d flows: %d transactions, %d round trips, %d served", flows, calls.Count, calls.RTT.Count(), served.Transactions)
		}
	}
}

// The end of a run arrives though a path loses the first datagrams that say so.
func TestLabUDPRREndsOnALossyPath(t *testing.T) {
	l := listenUDP(t)
	ends := 0
	r := startRelay(t, l.Addr(), func(p []byte) [][]byte {
		if h, ok := traffic.ParseHeader(p, &traffictest.Token); ok && h.Kind == traffic.KindEnd {
			if ends++; ends < 20 {
				return nil
			}
		}
		return [][]byte{p}
	})
	c := traffic.RequestResponse{Token: traffictest.Token, Window: traffic.Window{Duration: 30 * time.Millisecond}}
	traffictest.MustRun(t,
		func(ctx context.Context) (traffic.Served, error) { return ServeRR(ctx, l, c) },
		func(ctx context.Context) (traffic.Transactions, error) { return CallRR(ctx, r.addr(), c) })
}

func TestLabUDPPPS(t *testing.T) {
	sender, receiver := pair(t)
	for _, mode := range []Mode{Mmsg, Msg, GSO} {
		before := deviceDrops(receiver)
		s := PPS{Token: traffictest.Token, Window: traffictest.ShortWindow, Mode: mode}
		received, sent, serveErr, sendErr := runBetween(sender, receiver, s, nil)
		traffictest.Try(t, serveErr, sendErr)
		if received.Datagrams == 0 || sent.Datagrams == 0 {
			t.Errorf("%s: received %d, sent %d", mode, received.Datagrams, sent.Datagrams)
		}
		if received.Rate() <= 0 || received.Packets == 0 {
			t.Errorf("%s: received %v/s in %d packets", mode, received.Rate(), received.Packets)
		}
		// The wire drops only where the queue to the receiver's softirq is full.
		backlog := deviceDrops(receiver) - before
		// Of joined ones the drops at the edges cannot be counted exactly.
		if mode != GSO && received.Lost > received.BufferDrops+backlog {
			t.Errorf("%s: %d lost on a wire, but the socket dropped %d and the backlog %d", mode, received.Lost, received.BufferDrops, backlog)
		}
		if received.Bytes != 64*received.Datagrams {
			t.Errorf("%s: %d bytes of %d datagrams", mode, received.Bytes, received.Datagrams)
		}
		if received.Elapsed < traffictest.ShortWindow.Duration/2 {
			t.Errorf("%s: the window took %v, want %v", mode, received.Elapsed, traffictest.ShortWindow.Duration)
		}
	}
}

// deviceDrops is how many packets the receiver's device of a pair has dropped.
// Those that found the queue to the softirq full are among them
// (enqueue_to_backlog in net/core/dev.c). The device is the test's own.
func deviceDrops(receiver *machine) int64 {
	return int64(receiver.device("vb").Attrs().Statistics.RxDropped)
}

// The receiver's socket overflows while its window is held open: the drops are
// lost datagrams, and the socket reports them.
func TestLabUDPCountsBufferDrops(t *testing.T) {
	sender, receiver := pair(t)
	l := receiver.listen(far, 1)
	const buffer, full = 16 << 10, 1000 // bytes, and drops that are enough
	traffictest.Try(t, unix.SetsockoptInt(l.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, buffer))
	before := deviceDrops(receiver)
	s := PPS{Token: traffictest.Token, Window: traffic.Window{Warmup: 10 * time.Millisecond, Duration: 200 * time.Millisecond}, Size: 1400}
	s.Window.Edge = func(e traffic.Edge) {
		for limit := time.Now().Add(labtest.Generous); e == traffic.Opening && time.Now().Before(limit); { // it reads nothing
			if drops, err := socketDrops(l.fd); err != nil || drops > full {
				return
			}
			traffic.Sleep(traffic.Tick / 10)
		}
	}
	received, _, serveErr, sendErr := runOn(sender, receiver, l, s, nil)
	traffictest.Try(t, serveErr, sendErr)
	if received.BufferDrops == 0 || received.Lost == 0 {
		t.Errorf("%d dropped by the socket, %d lost", received.BufferDrops, received.Lost)
	}
	// The drops are read a moment after the sequences at both edges.
	backlog := deviceDrops(receiver) - before
	if least := received.Lost/2 - backlog; received.BufferDrops < least {
		t.Errorf("%d dropped by the socket and %d by the backlog, but %d of %d lost", received.BufferDrops, backlog, received.Lost, received.Expected)
	}
	if received.BufferDrops > received.Lost {
		t.Errorf("%d dropped by the socket, but only %d of %d lost", received.BufferDrops, received.Lost, received.Expected)
	}
}

func TestUDPIsChecked(t *testing.T) {
	for _, s := range []Stream{
		{Window: traffictest.ShortWindow}, {Rate: 1e6}, {Window: traffictest.ShortWindow, Rate: 1e6, Size: 10},
		{Window: traffictest.ShortWindow, Rate: 1e6, Size: traffic.MaxDatagram + 1}, {Window: traffictest.ShortWindow, Rate: 1, Size: 1400},
		{Window: traffictest.ShortWindow, Rate: 1e6, Burst: -1},
	} {
		if _, err := SendStream(t.Context(), traffictest.Loopback, s); err == nil {
			t.Errorf("%+v was sent", s)
		}
	}
	for _, s := range []PPS{{}, {Window: traffictest.ShortWindow, Mode: "afxdp"}, {Window: traffictest.ShortWindow, Flows: MaxFlows + 1}, {Window: traffictest.ShortWindow, Rate: -1}, {Window: traffictest.ShortWindow, Size: 1}} {
		if _, err := SendPPS(t.Context(), traffictest.Loopback, s); err == nil {
			t.Errorf("%+v was sent", s)
		}
	}
}

// A receiver that leaves is a failure, unless it reported before that it has all
// it wants: then it was this end that came too late.
func TestUDPSenderKnowsWhyTheReceiverLeft(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		server, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(traffictest.Loopback))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			defer server.Close()
			p := make([]byte, 1<<16)
			_, from, err := server.ReadFromUDPAddrPort(p)
			if err != nil {
				return
			}
			sendKind := func(k traffic.Kind) {
				traffic.Header{Kind: k}.Put(p, &traffictest.Token)
				_, _ = server.WriteToUDPAddrPort(p[:traffic.HeaderBytes], from)
			}
			sendKind(traffic.KindWelcome)
			_, _, _ = server.ReadFromUDPAddrPort(p)
			if stopped {
				sendKind(traffic.KindStop)
			}
		}()
		to := server.LocalAddr().(*net.UDPAddr).AddrPort()
		_, err = SendPPS(t.Context(), to, PPS{Token: traffictest.Token, Window: traffictest.ShortWindow, Mode: Msg})
		if stopped && err != nil {
			t.Errorf("the receiver sent stop and left: %v", err)
		}
		if !stopped && (err == nil || !strings.Contains(err.Error(), "closed its port")) {
			t.Errorf("the receiver left without a word: %v", err)
		}
	}
}
