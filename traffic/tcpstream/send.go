package tcpstream

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// Sent is the outcome of sending, over the receiver's window as the
// sender was signals of it.
type Sent struct {
	Flows      []FlowSent
	Elapsed    time.Duration
	Series     []SenderPoint
	WriteBytes int   // of one write; in mode Auto the size that the warm-up chose
	Skipped    int64 // writes of a paced run that were given up, since their time had passed; warm-up included
}

// Retransmits is the number of segments sent again in the window.
func (s *Sent) Retransmits() int64 {
	var sum int64
	for _, f := range s.Flows {
		sum += f.Retransmits
	}
	return sum
}

// OfferedRate is the payload that was handed to the sockets in the window.
func (s *Sent) OfferedRate() traffic.BitsPerSecond {
	var sum int64
	for _, f := range s.Flows {
		sum += f.Bytes
	}
	return traffic.BitsPerSecond(float64(sum) * 8 / s.Elapsed.Seconds())
}

// SenderPoint is one step of the sender's series.
type SenderPoint struct {
	Retransmits      int64         // of all flows, since the window opened
	CongestionWindow int64         // segments, of all flows
	RTT              time.Duration // smoothed, the mean over the flows
}

// streamSender is the sending half of an end: a thread per flow, and one that
// watches.
type streamSender struct {
	run       *traffic.Run
	fds       []int
	window    traffic.Window
	source    *source
	counters  []sentCounter
	paces     []pace
	block     atomic.Int64  // bytes of one write
	enough    atomic.Bool   // the receiver's window has closed
	receiving *atomic.Int32 // windows of this end's own flows that have not
	tuner     *tuner        // nil but in mode Auto
	alive     traffic.Acknowledged

	opened      bool
	from, to    time.Duration
	first, last []unix.TCPInfo
	atOpening   []int64
	atClosing   []int64
	series      []SenderPoint
}

// sentCounter has its own cache lines.
type sentCounter struct {
	bytes atomic.Int64
	_     [120]byte
}

func sendStream(r *traffic.Run, fds []int, s Options, receiving *atomic.Int32) (*Sent, error) {
	n := len(fds)
	w := &streamSender{
		run: r, fds: fds, window: s.Window, receiving: receiving,
		counters: make([]sentCounter, n), paces: s.paces(),
		first: make([]unix.TCPInfo, n), last: make([]unix.TCPInfo, n),
		atOpening: make([]int64, n), atClosing: make([]int64, n),
		series: []SenderPoint{},
	}
	w.block.Store(int64(s.blockBytes()))
	if s.Mode == Auto {
		w.tuner = newTuner(s.Window.Warmup)
	}
	if s.Window.Interval > 0 {
		w.series = make([]SenderPoint, 0, s.Window.Duration/s.Window.Interval+2)
	}
	var err error
	if w.source, err = openSource(s); err != nil {
		return nil, err
	}
	// A paced write leaves at its time; others fill their segments (Nagle), for
	// else each write would end in a short packet.
	if err = traffic.NoDelay(fds, s.Rate > 0); err == nil {
		err = w.work()
	}
	if err = errors.Join(err, w.source.close()); err != nil {
		return nil, err
	}
	sent := &Sent{Elapsed: w.to - w.from, Series: w.series, WriteBytes: int(w.block.Load())}
	for i := range fds {
		flow := between(&w.first[i], &w.last[i])
		flow.Bytes = w.atClosing[i] - w.atOpening[i]
		sent.Flows = append(sent.Flows, flow)
		sent.Skipped += w.paces[i].skipped
	}
	return sent, nil
}

// work sends until the receiver's window has closed and all has arrived.
func (w *streamSender) work() error {
	flows := make([]int, len(w.fds))
	for i := range flows {
		flows[i] = i
	}
	groups := traffic.Distribute(flows, w.threads())
	var barrier sync.WaitGroup
	barrier.Add(len(groups))
	done := make(chan error, 1)
	go func() {
		done <- traffic.OnThreads(w.run, len(groups), func(i int) error {
			barrier.Done()
			barrier.Wait()
			return w.send(groups[i])
		})
	}()
	watched := w.watch()
	w.enough.Store(true)
	if watched != nil {
		w.run.Stop()
	}
	// A failed flow explains a watch that was stopped, not the other way round.
	if err := <-done; err != nil {
		return err
	}
	return watched
}

// wanted reports whether a window still needs the flows' data.
func (w *streamSender) wanted() bool {
	return !w.run.Stopped() && (!w.enough.Load() || w.receiving.Load() > 0)
}

// watch reads what the receiver reports of its window, and takes TCP_INFO at
// both edges and at each interval.
func (w *streamSender) watch() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	limit := w.run.Now() + w.window.Limit()
	w.alive.At = w.run.Now()
	waits := []unix.PollFd{{Fd: int32(w.fds[0]), Events: unix.POLLIN}}
	var signals [8]byte
	var timeout unix.Timespec
	for {
		timeout = unix.NsecToTimespec(int64(w.untilNext()))
		_, errno := traffic.Syscall(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&waits[0])), 1, uintptr(unsafe.Pointer(&timeout)), 0, 0, 0)
		if errno != 0 && errno != unix.EINTR {
			return fmt.Errorf("wait for the receiver: %w", errno)
		}
		n, errno := traffic.Receive(w.fds[0], signals[:], unix.MSG_DONTWAIT)
		now := w.run.Now()
		switch {
		case errno == 0 && n == 0:
			return errors.New("the receiver closed the first flow before its window closed; see what it reported")
		case errno != 0 && !traffic.Waited(errno):
			return fmt.Errorf("receive from the receiver on flow 1: %w; see what it reported", errno)
		case w.run.Stopped():
			return w.run.Cause(traffic.ErrAnother)
		case now > limit:
			return fmt.Errorf("the receiver did not close its window within %v", w.window.Limit())
		}
		for _, b := range signals[:n] {
			if over, err := w.edge(b); over || err != nil {
				return err
			}
		}
		if err := w.look(now); err != nil {
			return err
		}
	}
}

// look does what is due between two waits.
func (w *streamSender) look(now time.Duration) error {
	if w.tuner != nil {
		w.block.Store(int64(w.tuner.step(now, w.total(), w.opened)))
	}
	if err := w.alive.Look(now, w.fds, w.last, w.window.Slots.Silence()); err != nil {
		return err
	}
	return w.sample(now)
}

// total is what all flows have handed to their sockets.
func (w *streamSender) total() int64 {
	var sum int64
	for i := range w.counters {
		sum += w.counters[i].bytes.Load()
	}
	return sum
}

// edge handles a signal of the receiver; over: its window has closed.
func (w *streamSender) edge(signal byte) (over bool, err error) {
	infos, counts, at := w.first, w.atOpening, &w.from
	switch signal {
	case signalOpen:
		w.opened = true
	case signalClosed:
		if !w.opened {
			return false, errors.New("the receiver closed a window that it had not opened")
		}
		infos, counts, at = w.last, w.atClosing, &w.to
	default:
		return false, fmt.Errorf("the receiver signals %#x, which means nothing", signal)
	}
	*at = w.run.Now()
	for i := range w.counters {
		counts[i] = w.counters[i].bytes.Load()
	}
	if err := traffic.TCPInfos(w.fds, infos); err != nil {
		return false, err
	}
	// The last point is due as the window closes, and either comes first.
	for signal == signalClosed && w.due(w.to+w.window.Interval/2) {
		w.addPoint()
	}
	return signal == signalClosed, nil
}

// untilNext is how long to wait for the receiver: up to what is due next.
func (w *streamSender) untilNext() time.Duration {
	now, wait := w.run.Now(), traffic.Tick
	if w.window.Slots != nil { // whoever rests wakes for nothing
		return traffic.StallLimit / 16
	}
	if w.opened && len(w.series) < cap(w.series) {
		wait = w.from + time.Duration(len(w.series))*w.window.Interval - now
	}
	if w.tuner != nil {
		wait = min(wait, w.tuner.until(now))
	}
	return min(max(wait, 0), traffic.Tick)
}

// sample adds a point to the series if it is time.
func (w *streamSender) sample(now time.Duration) error {
	if !w.opened || !w.due(now) {
		return nil
	}
	if err := traffic.TCPInfos(w.fds, w.last); err != nil {
		return err
	}
	w.addPoint()
	return nil
}

// due reports whether it is time for the series' next point.
func (w *streamSender) due(now time.Duration) bool {
	return len(w.series) < cap(w.series) && now >= w.from+time.Duration(len(w.series))*w.window.Interval
}

// addPoint adds a point to the series: what was last read.
func (w *streamSender) addPoint() {
	var p SenderPoint
	for i := range w.last {
		p.Retransmits += int64(w.last[i].Total_retrans - w.first[i].Total_retrans)
		p.CongestionWindow += int64(w.last[i].Snd_cwnd)
		p.RTT += microseconds(uint64(w.last[i].Rtt))
	}
	p.RTT /= time.Duration(len(w.last))
	w.series = append(w.series, p)
}
