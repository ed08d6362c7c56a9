package udp

import (
	"context"
	"fmt"
	"math"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

// Each test here is a fault that another engine had or has.

// throughRelay is a run through a relay that changes datagrams.
func throughRelay(t *testing.T, s PPS, change func([]byte) [][]byte) (Received, Sent, *relay) {
	t.Helper()
	l := listenUDP(t)
	r := startRelay(t, l.Addr(), change)
	traffictest.Roomy(t, l.fd)
	received, sent := traffictest.MustRun(t,
		func(ctx context.Context) (Received, error) { return ServePPS(ctx, l, s) },
		func(ctx context.Context) (Sent, error) { return SendPPS(ctx, r.addr(), s) })
	return received, sent, r
}

// everyNth makes a change to each n-th datagram and passes the others on.
func everyNth(n int, change func([]byte) [][]byte) func([]byte) [][]byte {
	count := 0
	return func(p []byte) [][]byte {
		if count++; count%n == 0 {
			return change(p)
		}
		return [][]byte{p}
	}
}

var slow = PPS{Token: traffictest.Token, Window: traffic.Window{Warmup: 20 * time.Millisecond, Duration: 300 * time.Millisecond}, Rate: 1000}

// iperf3 paces by the average since the start: after a stall it floods until
// it has caught up.
func TestIperf3BurstsAfterAStall(t *testing.T) {
	l := listenUDP(t)
	r := traffic.StartRun(t.Context())
	defer r.End()
	fd, err := traffic.OpenSocket(unix.AF_INET, unix.SOCK_DGRAM)
	traffictest.Try(t, err)
	defer traffic.CloseSocket(fd)
	to := l.Addr().Addr().As4()
	traffictest.Try(t, unix.Connect(fd, &unix.SockaddrInet4{Port: int(l.Addr().Port()), Addr: to}))
	for name, rate := range map[string]float64{"a datagram a round": 5000, "many datagrams a round": 200000} {
		u := &sendThread{sending: newSending(r, l.Addr(), traffictest.Token, traffictest.ShortWindow, 64, 1), flow: []outflow{{fd: fd}}}
		u.meter = traffic.NewMeter(u.table)
		v, err := newVolley(Mmsg, 64, nil)
		traffictest.Try(t, err)
		p := newRounds(v, rate, false)
		const stall = 300 * time.Millisecond
		begun := r.Now()
		p.start = begun - stall
		var sent int64
		for r.Now()-begun < 20*time.Millisecond {
			n, _, err := p.pass(u)
			traffictest.Try(t, err)
			sent += n
		}
		most := rate*(r.Now()-begun+catchUp).Seconds() + float64(p.count)
		if float64(sent) > most+1 {
			t.Errorf("%s: %d datagrams after a stall of %v, want at most %.0f", name, sent, stall, most)
		}
		if sent == 0 {
			t.Errorf("%s: nothing was sent after the stall", name)
		}
	}
}

// iperf3 reported a negative loss where datagrams came twice or from before
// the interval.
func TestIperf3NegativeLossInReverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arrivals := rapid.SliceOfN(rapid.Int64Range(0, 60), 1, 300).Draw(t, "arrivals")
		openAt := rapid.IntRange(0, len(arrivals)-1).Draw(t, "open")
		closeAt := rapid.IntRange(openAt, len(arrivals)-1).Draw(t, "close")
		s := newSequences()
		for i, n := range arrivals {
			s.see(n)
			if i == openAt {
				s.open()
			}
			if i == closeAt {
				s.close()
			}
		}
		if s.lost() < 0 || s.lost() > s.expected() {
			t.Fatalf("%d lost of %d", s.lost(), s.expected())
		}
	})
}

// share fails where a count is not one in n of the datagrams of a window. The
// change is made to each n-th, so that only the window's edges matter, never the
// time that it took.
func share(t *testing.T, what string, count, expected, n int64) {
	t.Helper()
	const edges = 2
	if expected < 2*n {
		t.Errorf("a window of %d datagrams is too short to count %s", expected, what)
	}
	if off := count - expected/n; off < -edges || off > edges {
		t.Errorf("%s: %d of %d datagrams, want one in %d", what, count, expected, n)
	}
}

// iperf3 takes every datagram that came for one that was sent, so that a
// duplicate hides a loss.
func TestLabIperf3DuplicatesHideLoss(t *testing.T) {
	received, _, _ := throughRelay(t, slow, everyNth(2, func(p []byte) [][]byte { return [][]byte{p, p} }))
	share(t, "duplicates", received.Duplicates, received.Expected, 2)
	if received.Lost != 0 || received.Loss() != 0 {
		t.Errorf("every second datagram came twice: %d of %d lost, loss %v", received.Lost, received.Expected, received.Loss())
	}
	drop := false
	received, _, _ = throughRelay(t, slow, everyNth(4, func(p []byte) [][]byte {
		if drop = !drop; drop {
			return nil
		}
		return [][]byte{p, p}
	}))
	share(t, "lost", received.Lost, received.Expected, 8)
	share(t, "duplicates", received.Duplicates, received.Expected, 8)
}

// iperf3 printed "0 lost" at the end of a lossy test.
func TestLabIperf3ZeroLostOnALossyPath(t *testing.T) {
	received, _, _ := throughRelay(t, slow, everyNth(5, func([]byte) [][]byte { return nil }))
	share(t, "lost", received.Lost, received.Expected, 5)
	if received.BufferDrops != 0 {
		t.Errorf("the relay dropped what was lost, but the socket counts %d drops", received.BufferDrops)
	}
}

// uperf and xfr count what was sent as throughput.
func TestLabUperfCountsAtTheSender(t *testing.T) {
	received, sent, _ := throughRelay(t, slow, everyNth(2, func([]byte) [][]byte { return nil }))
	share(t, "received", received.Datagrams, received.Expected, 2)
	if want := float64(received.Datagrams) / received.Elapsed.Seconds(); math.Abs(received.Rate()-want) > 1e-6*want {
		t.Errorf("the rate is %v/s, but %d came in %v", received.Rate(), received.Datagrams, received.Elapsed)
	}
	if received.Datagrams >= sent.Datagrams {
		t.Errorf("%d were received of %d sent, though half were dropped", received.Datagrams, sent.Datagrams)
	}
}

// iperf3 receives joined datagrams by the size that was agreed on, not by that
// which the kernel reports.
func TestIperf3GROReceiverIgnoresTheSegmentSize(t *testing.T) {
	const size, count = 80, 10
	l := listenUDP(t)
	traffictest.Try(t, joinArrivals(l.fd, true))
	c, err := net.Dial("udp", l.Addr().String())
	traffictest.Try(t, err)
	defer c.Close()
	raw, err := c.(*net.UDPConn).SyscallConn()
	traffictest.Try(t, err)
	traffictest.Try(t, raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_UDP, unix.UDP_SEGMENT, size) }), err)
	var message []byte
	for i := range count {
		p := make([]byte, size)
		traffic.Header{Kind: traffic.KindData, Sequence: int64(i)}.Put(p, &traffictest.Token)
		message = append(message, p...)
	}
	for _, agreed := range []int{size, 2 * size} {
		_, err = c.Write(message)
		traffictest.Try(t, err)
		r := traffic.StartRun(t.Context())
		defer r.End()
		u := newReceiving(r, traffictest.Token, traffictest.ShortWindow, agreed, 1, 1).thread(0, l.fd, newIntake(GSO, agreed, false), nil)
		n, errno := u.intake.take(u.fd)
		if errno != 0 || n != 1 {
			t.Fatalf("%d messages, %v: nothing was joined", n, errno)
		}
		got := u.account(n)
		if agreed == size && (got != count || u.failure != nil) {
			t.Errorf("%d datagrams of one message of %d, %v", got, count, u.failure)
		}
		if agreed != size && (got != 0 || u.failure == nil) {
			t.Errorf("%d datagrams counted, though their size is not that which was agreed on", got)
		}
	}
}

// iperf3 counts the whole length of a datagram that it truncated.
func TestIperf3CountsTruncatedLengths(t *testing.T) {
	for _, mode := range []Mode{Mmsg, Msg, GSO} {
		for _, sizes := range [][2]int{{64, 1400}, {1400, 64}} {
			l := listenUDP(t)
			serve, drive := slow, slow
			serve.Mode, serve.Size, drive.Size = mode, sizes[0], sizes[1]
			_, _, serveErr, driveErr := traffictest.Ends(
				func(ctx context.Context) (Received, error) {
					defer func() { deafen(l) }()
					return ServePPS(ctx, l, serve)
				},
				func(ctx context.Context) (Sent, error) { return SendPPS(ctx, l.Addr(), drive) })
			if serveErr == nil || !strings.Contains(serveErr.Error(), "another size than") || driveErr == nil {
				t.Errorf("%s: %d bytes sent where %d are received: %v; the sender: %v", mode, sizes[1], sizes[0], serveErr, driveErr)
			}
		}
	}
}

// deafen makes a listener deaf, as its process's end would.
func deafen(l *Listener) {
	_ = unix.Connect(l.fd, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{127, 0, 0, 1}})
}

// iperf3 stamps all datagrams of a batch when the call for it returns, so that
// its jitter is that of the batches.
func TestIperf3JitterOfBatches(t *testing.T) {
	l := listenUDP(t)
	traffictest.Try(t, stampArrivals(l.fd, true))
	c, err := net.Dial("udp", l.Addr().String())
	traffictest.Try(t, err)
	defer c.Close()
	in := newIntake("", 64, true)
	p := make([]byte, 64)
	// The kernel begins to stamp a while after it was asked to; until then it
	// gives the time of the call.
	for stamped, limit := false, time.Now().Add(labtest.Generous); !stamped; {
		_, err := c.Write(p)
		traffictest.Try(t, err)
		read := time.Now()
		if _, errno := in.take(l.fd); errno != 0 || read.After(limit) {
			t.Fatalf("no stamps: %v", errno)
		}
		at, ok := in.batch.arrived(0)
		stamped = ok && at < read.UnixNano()
	}
	const count = 20
	var sent [count + 1]int64
	for i := range count {
		traffic.Header{Kind: traffic.KindData, Sequence: int64(i)}.Put(p, &traffictest.Token)
		sent[i] = time.Now().UnixNano()
		_, err := c.Write(p)
		traffictest.Try(t, err)
	}
	sent[count] = time.Now().UnixNano()
	n, errno := in.take(l.fd)
	if errno != 0 || n != count {
		t.Fatalf("%d datagrams in one call, %v", n, errno)
	}
	for i := range n { // the kernel stamps it in the call that sends it
		at, ok := in.batch.arrived(i)
		labtest.Equal(t, fmt.Sprintf("datagram %d is stamped", i), ok, true)
		labtest.Between(t, fmt.Sprintf("stamp of datagram %d", i), at, sent[i], sent[i+1])
	}
}

// What a sender hands over in batches has no jitter at all.
func TestLabBatchesHaveNoJitter(t *testing.T) {
	if received, _ := runUDPPPS(t, slow); received.Jitter != 0 || received.Delays != nil {
		t.Errorf("udp_pps reports a jitter of %v", received.Jitter)
	}
}

// Many flows on a few sockets: each has its own port, keeps its own
// numbers, and reaches the thread that waits for it.
func TestLabUDPPPSManyFlows(t *testing.T) {
	for _, sockets := range []int{1, 2, 5} {
		l, err := ListenGroup(traffictest.Loopback, sockets)
		traffictest.Try(t, err)
		for _, fd := range l.sockets() {
			traffictest.Roomy(t, fd)
		}
		s := slow
		s.Flows, s.Rate = 24, 400
		var threads []*receiveThread
		received, sent := traffictest.MustRun(t,
			func(ctx context.Context) (Received, error) {
				r := traffic.StartRun(ctx)
				defer r.End()
				all := newReceiving(r, s.Token, s.Window, defaultSmall, s.Flows, sockets)
				for i, fd := range l.sockets() {
					threads = append(threads, all.thread(i, fd, newIntake(Mmsg, defaultSmall, false), nil))
				}
				return all.serve(threads)
			},
			func(ctx context.Context) (Sent, error) { return SendPPS(ctx, l.Addr(), s) })
		ports, flows := map[netip.AddrPort]bool{}, 0
		for _, u := range threads {
			for i := range u.flow {
				raw := (*unix.RawSockaddrInet4)(addressPointer(&u.flow[i].from))
				ports[netip.AddrPortFrom(netip.AddrFrom4(raw.Addr), raw.Port)] = true
				flows++
				labtest.MoreThan(t, fmt.Sprintf("%d sockets: datagrams of flow %d", sockets, i), u.flow[i].sequences.expected(), 0)
			}
		}
		if len(ports) != s.Flows || flows != s.Flows {
			t.Errorf("%d sockets: %d flows from %d ports, want %d", sockets, flows, len(ports), s.Flows)
		}
		of := fmt.Sprintf("%d sockets: ", sockets)
		labtest.Equal(t, of+"lost", received.Lost, 0)
		labtest.Equal(t, of+"duplicates", received.Duplicates, 0)
		labtest.Equal(t, of+"reordered", received.Reordered, 0)
		labtest.Equal(t, of+"threads", received.Threads, sockets)
		if whole := s.Rate * float64(s.Flows); labtest.Timed(t) && (received.Rate() > 1.05*whole || sent.Rate() > 1.05*whole) {
			t.Errorf("%d sockets: sent %.0f/s, received %.0f/s, asked for %.0f", sockets, sent.Rate(), received.Rate(), whole)
		}
		traffictest.Try(t, l.Close())
	}
}

func TestUDPPPSRefusesMoreFlowsThanItServes(t *testing.T) {
	l := listenUDP(t)
	more := slow
	more.Flows = 3
	ctx, cancel := context.WithCancel(t.Context())
	go func() { _, _ = SendPPS(ctx, l.Addr(), more) }()
	_, err := ServePPS(t.Context(), l, slow)
	cancel()
	if err == nil || !strings.Contains(err.Error(), "the same number of flows") {
		t.Errorf("three flows where one is served: %v", err)
	}
}

func addressPointer(a *address) unsafe.Pointer { return unsafe.Pointer(&a.raw) }
