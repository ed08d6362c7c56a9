package traffic

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TCPStreamSent is the sender's outcome, over the receiver's window as the
// sender was told of it.
type TCPStreamSent struct {
	Flows      []FlowSent
	Elapsed    time.Duration
	Series     []SenderPoint
	Congestion string // the congestion control read back
}

// Retransmits is the number of segments sent again in the window.
func (s TCPStreamSent) Retransmits() int64 {
	var sum int64
	for _, f := range s.Flows {
		sum += f.Retransmits
	}
	return sum
}

// SenderPoint is one step of the sender's series.
type SenderPoint struct {
	At               time.Duration // since the window opened
	Retransmits      int64         // of all flows, since the window opened
	CongestionWindow int64         // segments, of all flows
	RTT              time.Duration // smoothed, the mean over the flows
}

// SendTCPStream sends one tcp_stream to a ServeTCPStream.
func SendTCPStream(ctx context.Context, to netip.AddrPort, s TCPStream) (TCPStreamSent, error) {
	s, err := s.checked()
	if err != nil {
		return TCPStreamSent{}, fmt.Errorf("send tcp_stream: %w", err)
	}
	r := startRun(ctx)
	defer r.end()
	fds, err := dialFlows(r, to, s.Token, s.Flows)
	if err != nil {
		return TCPStreamSent{}, fmt.Errorf("send tcp_stream: %w", err)
	}
	defer closeSockets(fds)
	sent, err := TCPStreamSent{}, fillSegments(fds)
	if err == nil {
		sent, err = sendStream(r, fds, s)
	}
	if err != nil {
		return TCPStreamSent{}, fmt.Errorf("send tcp_stream: %w", r.cause(err))
	}
	return sent, nil
}

// fillSegments lets the kernel join the end of one write with the start of the
// next (Nagle), as bulk data wants it: else each write ends in a short packet.
func fillSegments(fds []int) error {
	for _, fd := range fds {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 0); err != nil {
			return fmt.Errorf("clear TCP_NODELAY: %w", err)
		}
	}
	return nil
}

// streamSender is the sending end: a thread per flow, and one that watches.
type streamSender struct {
	run      *run
	fds      []int
	window   Window
	payload  []byte
	counters []sentCounter
	enough   atomic.Bool // the receiver's window has closed

	opened      bool
	from, to    time.Duration
	first, last []unix.TCPInfo
	atOpening   []int64
	atClosing   []int64
	series      []SenderPoint
}

// sentCounter stands on cache lines of its own.
type sentCounter struct {
	bytes atomic.Int64
	_     [120]byte
}

func sendStream(r *run, fds []int, s TCPStream) (TCPStreamSent, error) {
	n := len(fds)
	name, err := congestion(fds[0])
	if err != nil {
		return TCPStreamSent{}, err
	}
	w := &streamSender{
		run: r, fds: fds, window: s.Window, payload: randomBytes(s.WriteBytes),
		counters: make([]sentCounter, n),
		first:    make([]unix.TCPInfo, n), last: make([]unix.TCPInfo, n),
		atOpening: make([]int64, n), atClosing: make([]int64, n),
		series: []SenderPoint{},
	}
	if s.Window.Interval > 0 {
		w.series = make([]SenderPoint, 0, s.Window.Duration/s.Window.Interval+2)
	}
	if err := w.work(); err != nil {
		return TCPStreamSent{}, err
	}
	sent := TCPStreamSent{Elapsed: w.to - w.from, Series: w.series, Congestion: name}
	for i := range fds {
		flow := between(&w.first[i], &w.last[i])
		flow.Bytes = w.atClosing[i] - w.atOpening[i]
		sent.Flows = append(sent.Flows, flow)
	}
	return sent, nil
}

// work sends until the receiver's window has closed and all has arrived.
func (w *streamSender) work() error {
	var barrier sync.WaitGroup
	barrier.Add(len(w.fds))
	done := make(chan error, 1)
	go func() {
		done <- onThreads(w.run, len(w.fds), func(i int) error {
			barrier.Done()
			barrier.Wait()
			return w.send(i)
		})
	}()
	watched := w.watch()
	w.enough.Store(true)
	if watched != nil {
		w.run.stop()
	}
	// A failed flow explains a watch that was stopped, not the other way round.
	if err := <-done; err != nil {
		return err
	}
	return watched
}

// send is the thread of flow i.
func (w *streamSender) send(i int) error {
	fd, counter := w.fds[i], &w.counters[i].bytes
	var sum int64
	for !w.enough.Load() && !w.run.stopped.Load() {
		n, errno := send(fd, w.payload, 0)
		if errno == 0 {
			sum += int64(n)
			counter.Store(sum)
		} else if !again(errno) {
			return fmt.Errorf("send flow %d after %d bytes: %w; see what the receiver reported", i+1, sum, errno)
		}
	}
	if w.run.stopped.Load() {
		return nil
	}
	if err := unix.Shutdown(fd, unix.SHUT_WR); err != nil {
		return fmt.Errorf("end flow %d: %w; see what the receiver reported", i+1, err)
	}
	awaitClose(w.run, fd, w.run.now()+drainLimit+drainLimit/4)
	return nil
}

// watch reads what the receiver tells of its window, and takes TCP_INFO at
// both edges and at each interval.
func (w *streamSender) watch() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	limit := w.run.now() + w.window.limit()
	waits := []unix.PollFd{{Fd: int32(w.fds[0]), Events: unix.POLLIN}}
	var told [8]byte
	var timeout unix.Timespec
	for {
		timeout = unix.NsecToTimespec(int64(w.untilSample()))
		_, errno := blocking(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&waits[0])), 1, uintptr(unsafe.Pointer(&timeout)), 0, 0, 0)
		if errno != 0 && errno != unix.EINTR {
			return fmt.Errorf("wait for the receiver: %w", errno)
		}
		n, errno := recv(w.fds[0], told[:], unix.MSG_DONTWAIT)
		switch {
		case errno == 0 && n == 0:
			return errors.New("the receiver closed the first flow before its window closed; see what it reported")
		case errno != 0 && !again(errno):
			return fmt.Errorf("hear from the receiver: %w; see what it reported", errno)
		case w.run.stopped.Load():
			return w.run.cause(errors.New("a flow failed"))
		case w.run.now() > limit:
			return fmt.Errorf("the receiver did not close its window within %v", w.window.limit())
		}
		for _, b := range told[:n] {
			if over, err := w.edge(b); over || err != nil {
				return err
			}
		}
		if err := w.sample(); err != nil {
			return err
		}
	}
}

// edge takes what the receiver told; over says that its window has closed.
func (w *streamSender) edge(told byte) (over bool, err error) {
	infos, counts, at := w.first, w.atOpening, &w.from
	switch told {
	case toldOpen:
		w.opened = true
	case toldClose:
		if !w.opened {
			return false, errors.New("the receiver closed a window that it had not opened")
		}
		infos, counts, at = w.last, w.atClosing, &w.to
	default:
		return false, fmt.Errorf("the receiver told %#x, which means nothing", told)
	}
	*at = w.run.now()
	for i := range w.counters {
		counts[i] = w.counters[i].bytes.Load()
	}
	return told == toldClose, tcpInfos(w.fds, infos)
}

// untilSample is how long to wait for the receiver: up to the next sample.
func (w *streamSender) untilSample() time.Duration {
	if !w.opened || len(w.series) == cap(w.series) {
		return tick
	}
	next := w.from + time.Duration(len(w.series))*w.window.Interval
	return min(max(next-w.run.now(), 0), tick)
}

// sample adds a point to the series if it is time.
func (w *streamSender) sample() error {
	if !w.opened || len(w.series) == cap(w.series) {
		return nil
	}
	now := w.run.now()
	if now < w.from+time.Duration(len(w.series))*w.window.Interval {
		return nil
	}
	if err := tcpInfos(w.fds, w.last); err != nil {
		return err
	}
	p := SenderPoint{At: now - w.from}
	for i := range w.last {
		p.Retransmits += int64(w.last[i].Total_retrans - w.first[i].Total_retrans)
		p.CongestionWindow += int64(w.last[i].Snd_cwnd)
		p.RTT += microseconds(uint64(w.last[i].Rtt))
	}
	p.RTT /= time.Duration(len(w.last))
	w.series = append(w.series, p)
	return nil
}

// randomBytes makes a payload that no device on the way can compress.
func randomBytes(n int) []byte {
	p := make([]byte, n)
	generator := rand.NewChaCha8([32]byte{})
	_, _ = generator.Read(p) // never fails
	return p
}
