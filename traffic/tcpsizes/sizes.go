// Package tcpsizes is the loops of tcp_sizes, a sweep over message sizes on one connection.
package tcpsizes

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"tare/traffic"
)

// Options are those of a sweep over message sizes on one connection. Each size has its
// turn: a bulk phase, in which the driving end sends messages of that size as
// fast as the path carries them, and up to LargestPing a ping-pong phase, in
// which one message is sent and one of the same size comes back. The
// serving end, which receives the bulk, owns the windows of the bulk phases.
type Options struct {
	Token traffic.Token

	// Window is of the whole sweep: every size gets an equal part of the
	// Duration, half of it for each of two phases, and an equal part of the
	// Warmup before its bulk. Edge is called around the bulk phase of the
	// largest size. There is no series over time.
	Window traffic.Window

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
func (s SizeReceived) Goodput() traffic.BitsPerSecond {
	return traffic.BitsPerSecond(float64(s.Bytes) * 8 / s.Elapsed.Seconds())
}

// Served is the serving end's outcome.
type Served struct {
	Sizes           []SizeReceived // in the order of Options
	Congestion      string
	Unauthenticated int64
}

// SizeDriven is the ping-pong phase of one size.
type SizeDriven struct {
	Size int
	RTT  *traffic.Histogram
}

// Driven is the driving end's outcome.
type Driven struct {
	Sizes       []SizeDriven // those up to LargestPing, in the order of Options
	Retransmits int64        // segments, of the whole sweep
	Congestion  string
}

// leastPings is how many round trips a ping-pong phase has at least: as many as
// a median needs.
const leastPings = 2 * traffic.TailSamples

func (s Options) checked() (Options, error) {
	if len(s.Sizes) == 0 {
		return s, errors.New("no sizes: want one at least")
	}
	seen := map[int]bool{}
	for _, size := range s.Sizes {
		if size < 1 || size > traffic.MaxBlock || seen[size] {
			return s, fmt.Errorf("messages of %d bytes: want each size once, from 1 to %d", size, traffic.MaxBlock)
		}
		seen[size] = true
	}
	s.Window.Interval = 0
	return s, s.Window.Check(1)
}

// largest is the largest size.
func (s Options) largest() int {
	largest := 0
	for _, size := range s.Sizes {
		largest = max(largest, size)
	}
	return largest
}

// bulk is the window of a size's bulk phase.
func (s Options) bulk(size int) traffic.Window {
	n := time.Duration(len(s.Sizes))
	w := traffic.Window{Warmup: s.Window.Warmup / n, Duration: s.Window.Duration / n}
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
// ping-pong phase ends with a message of EndByte alone, which the receiver
// answers with phaseOver; the other messages begin with RequestByte.
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

// Serve serves one tcp_sizes.
func Serve(ctx context.Context, l *traffic.Listener, s Options) (_ Served, err error) {
	defer traffic.During("serve tcp_sizes", &err)
	if s, err = s.checked(); err != nil {
		return Served{}, err
	}
	r := traffic.StartRun(ctx)
	defer r.End()
	a := traffic.NewAcceptor(r, l, s.Token, traffic.GreetingLen)
	fds, err := a.AcceptFlows(s.Window.CC, 1)
	if err != nil {
		a.Close()
		return Served{}, err
	}
	defer traffic.CloseSockets(fds)
	w := newServer(r, fds[0], s)
	served := Served{}
	if served.Congestion, err = prepare(fds, s); err == nil {
		err = traffic.OnThreads(r, 1, func(int) error { return w.work() })
	}
	a.Close()
	if err != nil {
		return Served{}, r.Cause(err)
	}
	served.Unauthenticated = a.Unauthenticated
	for _, size := range s.Sizes {
		m := w.meters[size]
		if m.Phase() != traffic.Closed {
			return Served{}, fmt.Errorf("the sweep ended without its messages of %d bytes; see what the driving end reported", size)
		}
		served.Sizes = append(served.Sizes, SizeReceived{size, m.Counted(), m.Elapsed()})
	}
	return served, nil
}

// Send drives one tcp_sizes against a Serve. The sizes have
// their turns in an order drawn from the token.
func Send(ctx context.Context, to netip.AddrPort, s Options) (_ Driven, err error) {
	defer traffic.During("send tcp_sizes", &err)
	if s, err = s.checked(); err != nil {
		return Driven{}, err
	}
	r := traffic.StartRun(ctx)
	defer r.End()
	fds, err := traffic.DialFlows(r, to, s.Token, 1, s.Window.CC)
	if err != nil {
		return Driven{}, err
	}
	defer traffic.CloseSockets(fds)
	w := newDriver(r, fds, s)
	driven := Driven{}
	if driven.Congestion, err = prepare(fds, s); err == nil {
		err = traffic.OnThreads(r, 1, func(int) error { return w.work() })
	}
	if err != nil {
		return Driven{}, r.Cause(err)
	}
	driven.Retransmits = int64(w.info.Total_retrans)
	for _, size := range s.Sizes {
		if rtt := w.pings[size]; rtt != nil {
			driven.Sizes = append(driven.Sizes, SizeDriven{size, rtt})
		}
	}
	return driven, nil
}

// prepare sets the connection's options and gives its congestion control.
func prepare(fds []int, s Options) (string, error) {
	if err := traffic.NoDelay(fds, s.NoDelay); err != nil {
		return "", err
	}
	return traffic.Congestion(fds[0])
}

// deadline ends a sweep whose peer sends nothing more. It is renewed whenever
// something passes.
type deadline struct {
	run   *traffic.Run
	limit time.Duration // of the sweep
	since time.Duration // when something passed last
}

func newDeadline(r *traffic.Run, w traffic.Window) *deadline {
	return &deadline{run: r, limit: r.Now() + w.Limit(), since: r.Now()}
}

// passed takes the time at which something passed.
func (d *deadline) passed(now time.Duration) { d.since = now }

// check gives why the sweep can't go on at now, or nil.
func (d *deadline) check(now time.Duration) error {
	switch {
	case d.run.Stopped():
		return d.run.Cause(traffic.ErrAnother)
	case now-d.since > traffic.StallLimit:
		return fmt.Errorf("nothing passed for %v: the other end stopped, or the path drops packets; see what it reported, the links and the MTU of the path", traffic.StallLimit)
	case now > d.limit:
		return errors.New("the sweep did not end in time: its round trips take too long for so many sizes; take fewer sizes or a longer duration")
	}
	return nil
}

// hearOnce reads once into p, and gives 0 for a wait that ended without data.
func receiveOnce(d *deadline, fd int, p []byte) (int, error) {
	n, errno := traffic.Receive(fd, p, 0)
	switch {
	case errno == 0 && n == 0:
		return 0, traffic.ErrPeerClosed
	case errno == 0:
		return n, nil
	case !traffic.Waited(errno):
		return 0, errno
	}
	return 0, d.check(d.run.Now())
}
