package traffic

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// TCPSizes is a sweep over message sizes on one connection. Each size has its
// turn: a bulk phase, in which the driving end sends messages of that size as
// fast as the path carries them, and up to LargestPing a ping-pong phase, in
// which one message is sent and one of the same size comes back. The
// serving end, which receives the bulk, owns the windows of the bulk phases.
type TCPSizes struct {
	Token Token

	// Window is of the whole sweep: every size gets an equal part of the
	// Duration, half of it for each of two phases, and an equal part of the
	// Warmup before its bulk. Edge is called around the bulk phase of the
	// largest size. There is no series over time.
	Window Window

	Sizes   []int // bytes, from 1 to 64 MiB, each once
	NoDelay bool  // each message leaves at once; else the kernel may join them (Nagle)
}

// LargestPing is the largest message whose round trip is measured.
const LargestPing = 4 << 10

// SizeReceived is the bulk phase of one size, at its receiver.
type SizeReceived struct {
	Size    int
	Bytes   int64
	Elapsed time.Duration
}

// Goodput is what arrived in the phase's window.
func (s SizeReceived) Goodput() BitsPerSecond {
	return BitsPerSecond(float64(s.Bytes) * 8 / s.Elapsed.Seconds())
}

// TCPSizesServed is the serving end's outcome.
type TCPSizesServed struct {
	Sizes           []SizeReceived // in the order of TCPSizes
	Congestion      string
	Unauthenticated int64
}

// SizeDriven is the ping-pong phase of one size.
type SizeDriven struct {
	Size int
	RTT  *Histogram
}

// TCPSizesDriven is the driving end's outcome.
type TCPSizesDriven struct {
	Sizes       []SizeDriven // those up to LargestPing, in the order of TCPSizes
	Retransmits int64        // segments, of the whole sweep
	Congestion  string
}

// leastPings is how many round trips a ping-pong phase has at least: as many as
// a median needs.
const leastPings = 2 * tailSamples

func (s TCPSizes) checked() (TCPSizes, error) {
	if len(s.Sizes) == 0 {
		return s, errors.New("no sizes: want one at least")
	}
	seen := map[int]bool{}
	for _, size := range s.Sizes {
		if size < 1 || size > maxBlock || seen[size] {
			return s, fmt.Errorf("messages of %d bytes: want each size once, from 1 to %d", size, maxBlock)
		}
		seen[size] = true
	}
	s.Window.Interval = 0
	return s, s.Window.check(1)
}

// largest is the largest size.
func (s TCPSizes) largest() int {
	largest := 0
	for _, size := range s.Sizes {
		largest = max(largest, size)
	}
	return largest
}

// bulk is the window of a size's bulk phase.
func (s TCPSizes) bulk(size int) Window {
	n := time.Duration(len(s.Sizes))
	w := Window{Warmup: s.Window.Warmup / n, Duration: s.Window.Duration / n}
	if size <= LargestPing {
		w.Duration /= 2
	}
	w.Duration = max(w.Duration, 1)
	if size == s.largest() {
		w.Edge = s.Window.Edge
	}
	return w
}

// Each phase begins with an announcement of the driving end: what it is, and
// the size of its messages. The serving end answers phaseReady.
//
// A bulk phase ends like this: the receiver sends phaseOver; the sender, once it has
// seen it, sends the token, which no payload contains, and nothing more; and
// the receiver, which has read on to the token, sends phaseOver again. A
// ping-pong phase ends with a message of endByte alone, which the receiver
// answers with phaseOver; the other messages begin with requestByte.
const (
	phaseBulk  = 'b'
	phasePing  = 'p'
	phaseEnd   = 'e' // the sweep is over
	phaseReady = 'h'
	phaseOver  = 'o'

	announcementLen = 1 + 4
)

type announcement [announcementLen]byte

func announce(phase byte, size int) (a announcement) {
	a[0] = phase
	binary.BigEndian.PutUint32(a[1:], uint32(size))
	return a
}

func (a announcement) phase() byte { return a[0] }

func (a announcement) size() int { return int(binary.BigEndian.Uint32(a[1:])) }

// ServeTCPSizes serves one tcp_sizes.
func ServeTCPSizes(ctx context.Context, l *Listener, s TCPSizes) (_ TCPSizesServed, err error) {
	defer during("serve tcp_sizes", &err)
	if s, err = s.checked(); err != nil {
		return TCPSizesServed{}, err
	}
	r := startRun(ctx)
	defer r.end()
	a := newAcceptor(r, l, s.Token, greetingLen)
	fds, err := a.acceptUnder(s.Window.CC, 1)
	if err != nil {
		a.close()
		return TCPSizesServed{}, err
	}
	defer closeSockets(fds)
	w := newSizesServer(r, fds[0], s)
	served := TCPSizesServed{}
	if served.Congestion, err = prepareSizes(fds, s); err == nil {
		err = onThreads(r, 1, func(int) error { return w.work() })
	}
	a.close()
	if err != nil {
		return TCPSizesServed{}, r.cause(err)
	}
	served.Unauthenticated = a.unauthenticated
	for _, size := range s.Sizes {
		m := w.meters[size]
		if m.phase != closed {
			return TCPSizesServed{}, fmt.Errorf("the sweep ended without its messages of %d bytes; see what the driving end reported", size)
		}
		served.Sizes = append(served.Sizes, SizeReceived{size, m.counted, m.elapsed()})
	}
	return served, nil
}

// SendTCPSizes drives one tcp_sizes against a ServeTCPSizes. The sizes have
// their turns in an order drawn from the token.
func SendTCPSizes(ctx context.Context, to netip.AddrPort, s TCPSizes) (_ TCPSizesDriven, err error) {
	defer during("send tcp_sizes", &err)
	if s, err = s.checked(); err != nil {
		return TCPSizesDriven{}, err
	}
	r := startRun(ctx)
	defer r.end()
	fds, err := dialFlows(r, to, s.Token, 1, s.Window.CC)
	if err != nil {
		return TCPSizesDriven{}, err
	}
	defer closeSockets(fds)
	w := newSizesDriver(r, fds, s)
	driven := TCPSizesDriven{}
	if driven.Congestion, err = prepareSizes(fds, s); err == nil {
		err = onThreads(r, 1, func(int) error { return w.work() })
	}
	if err != nil {
		return TCPSizesDriven{}, r.cause(err)
	}
	driven.Retransmits = int64(w.info.Total_retrans)
	for _, size := range s.Sizes {
		if rtt := w.pings[size]; rtt != nil {
			driven.Sizes = append(driven.Sizes, SizeDriven{size, rtt})
		}
	}
	return driven, nil
}

// prepareSizes sets the connection's options and gives its congestion control.
func prepareSizes(fds []int, s TCPSizes) (string, error) {
	if err := noDelay(fds, s.NoDelay); err != nil {
		return "", err
	}
	return congestion(fds[0])
}

// deadline ends a sweep whose peer sends nothing more. It is renewed whenever
// something passes.
type deadline struct {
	run   *run
	limit time.Duration // of the sweep
	since time.Duration // when something passed last
}

func newDeadline(r *run, w Window) *deadline {
	return &deadline{run: r, limit: r.now() + w.limit(), since: r.now()}
}

// passed takes the time at which something passed.
func (d *deadline) passed(now time.Duration) { d.since = now }

// check gives why the sweep can't go on at now, or nil.
func (d *deadline) check(now time.Duration) error {
	switch {
	case d.run.stopped.Load():
		return d.run.cause(errAnother)
	case now-d.since > stallLimit:
		return fmt.Errorf("nothing passed for %v: the other end stopped, or the path drops packets; see what it reported, the links and the MTU of the path", stallLimit)
	case now > d.limit:
		return errors.New("the sweep did not end in time: its round trips take too long for so many sizes; take fewer sizes or a longer duration")
	}
	return nil
}

// hearOnce reads once into p, and gives 0 for a wait that ended without data.
func receiveOnce(d *deadline, fd int, p []byte) (int, error) {
	n, errno := recv(fd, p, 0)
	switch {
	case errno == 0 && n == 0:
		return 0, errPeerClosed
	case errno == 0:
		return n, nil
	case !again(errno):
		return 0, errno
	}
	return 0, d.check(d.run.now())
}
