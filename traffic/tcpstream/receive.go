package tcpstream

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// FlowReceived is what one flow received in its window. A window in whose time
// nothing arrived ends with the first that does.
type FlowReceived struct {
	Bytes   int64
	Elapsed time.Duration
}

// Received is the outcome of receiving.
type Received struct {
	Flows         []FlowReceived
	Series        []traffic.Point // bytes of all flows
	traffic.Taken                 // in bytes
	Undrained     int             // flows still not empty 2 s after the window: they may disturb what follows
}

// Goodput is the sum over the flows of what each received in its window.
func (r *Received) Goodput() traffic.BitsPerSecond {
	var sum traffic.BitsPerSecond
	for _, f := range r.Flows {
		if f.Elapsed > 0 {
			sum += traffic.BitsPerSecond(float64(f.Bytes) * 8 / f.Elapsed.Seconds())
		}
	}
	return sum
}

// Fairness is Jain's index of the flows' goodput: 1 where all have the same, one part in
// as many as there are flows where one has all. False of a single flow, or where nothing came.
//
// Jain, Chiu, Hawe: A quantitative measure of fairness and discrimination, DEC-TR-301, 1984.
func (r *Received) Fairness() (float64, bool) {
	var sum, squares float64
	for _, f := range r.Flows {
		if f.Elapsed > 0 {
			rate := float64(f.Bytes) / f.Elapsed.Seconds()
			sum, squares = sum+rate, squares+rate*rate
		}
	}
	if len(r.Flows) < 2 || sum == 0 {
		return 0, false
	}
	return sum * sum / (float64(len(r.Flows)) * squares), true
}

// Bytes is what all flows received, each in its window.
func (r *Received) Bytes() int64 {
	var sum int64
	for _, f := range r.Flows {
		sum += f.Bytes
	}
	return sum
}

// Elapsed is the longest of the flows' windows.
func (r *Received) Elapsed() time.Duration {
	var longest time.Duration
	for _, f := range r.Flows {
		longest = max(longest, f.Elapsed)
	}
	return longest
}

// What the receiver sends to the sender on the leading flow: that flow's window
// has opened, and all windows have closed.
const (
	signalOpen   = 'o'
	signalClosed = 'c'
)

// streamReceiver is the receiving half of an end: a thread per flow.
type streamReceiver struct {
	run      *traffic.Run
	window   traffic.Window
	flows    []*streamFlow
	meters   []*traffic.Meter
	unclosed atomic.Int32 // flows whose window has not closed
	quota    quota

	carried int64 // of all flows, when one of them was last silent
	since   time.Duration
}

// streamFlow is one receiving flow.
type streamFlow struct {
	*streamReceiver
	fd        int
	index     int
	flags     int
	meter     *traffic.Meter
	read      int     // bytes of one receive
	buffer    *vector // what a read brings is not looked at
	limit     time.Duration
	opened    bool // its window has
	draining  bool // its window has closed
	done      bool
	undrained bool
}

func newStreamReceiver(r *traffic.Run, fds []int, s Options) *streamReceiver {
	w := &streamReceiver{run: r, window: s.Window, since: r.Now()}
	w.unclosed.Store(int32(len(fds)))
	w.quota.limited = s.Bytes > 0
	w.quota.left.Store(s.Bytes)
	w.quota.spent.Store(traffic.Unset)
	table := traffic.NewTimetable(s.Window, len(fds))
	flags := 0
	if s.Mode == Trunc {
		flags = unix.MSG_TRUNC
	}
	memory := s.ReadBytes
	if s.SharedCPU {
		memory = min(memory, payloadBytes)
	}
	for i, fd := range fds {
		m := traffic.NewMeter(table)
		w.meters = append(w.meters, m)
		w.flows = append(w.flows, &streamFlow{streamReceiver: w, fd: fd, index: i, flags: flags, meter: m, read: s.ReadBytes, buffer: newVector(traffic.Buffer(memory), s.ReadBytes), limit: r.Now() + s.Window.Limit()})
	}
	return w
}

// work receives through the window and then to the flows' end.
func (w *streamReceiver) work() (*Received, error) {
	series := traffic.StartSampler(w.run, w.meters...)
	groups := traffic.Distribute(w.flows, min(len(w.flows), traffic.CPUs()))
	err := traffic.OnThreads(w.run, len(groups), func(i int) error {
		switch {
		case w.window.Slots != nil:
			return w.receiveInSlots(groups[i])
		case len(groups[i]) == 1:
			return groups[i][0].receive()
		}
		return w.receiveMany(groups[i])
	})
	received := &Received{Series: series.Finish()}
	if err != nil {
		return nil, err
	}
	for _, f := range w.flows {
		received.Taken.Add(f.meter)
		received.Flows = append(received.Flows, FlowReceived{f.meter.Counted(), f.meter.Elapsed()})
		if f.undrained {
			received.Undrained++
		}
	}
	for n := len(received.Series); n > 0 && received.Series[n-1].At > received.Elapsed()+traffic.Tick; n-- {
		received.Series = received.Series[:n-1] // taken after an early end
	}
	return received, nil
}

// signal reports an edge of the window to the sender, by one byte into an
// empty send buffer. If the connection has failed, the next receive reports it.
func (f *streamFlow) signal(edge byte) {
	_, _ = traffic.Send(f.flows[0].fd, []byte{edge}, unix.MSG_DONTWAIT)
}

// receiveInSlots reads flows that are silent most of the time, without the ticks
// that find the edges of a window.
func (w *streamReceiver) receiveInSlots(flows []*streamFlow) (err error) {
	for _, f := range flows {
		t, err := traffic.TakeTurns(w.run, w.window.Slots)
		if err != nil {
			return err
		}
		f.meter.CountSlots(t, f.index == 0, nil, nil)
	}
	if len(flows) > 1 {
		return w.receiveMany(flows)
	}
	f := flows[0]
	if err := traffic.SetTimeout(f.fd, 0); err != nil {
		return err
	}
	watch := traffic.StartGuard(w.run, []int{f.fd}, f.limit)
	defer watch.End()
	return f.receive()
}

// receive reads the flow through the window and then to its end.
func (f *streamFlow) receive() error {
	for !f.run.Stopped() {
		n, errno := f.buffer.receive(f.fd, f.flags)
		if err := f.turn(n, errno); err != nil || f.done {
			return err
		}
	}
	return f.run.Cause(traffic.ErrAnother)
}

// flowSet is several flows that one thread reads.
type flowSet struct {
	*traffic.PollSet
	flows []*streamFlow
	left  int // that are not done
}

func openFlowSet(flows []*streamFlow) (*flowSet, error) {
	fds := make([]int, len(flows))
	for i, f := range flows {
		fds[i] = f.fd
	}
	set, err := traffic.OpenPollSet(fds)
	return &flowSet{set, flows, len(flows)}, err
}

// turn handles the outcome of one call. A flow that is done leaves the set: what it still
// gets wakes nobody.
func (s *flowSet) turn(f *streamFlow, n int, errno syscall.Errno) error {
	if err := f.turn(n, errno); err != nil || !f.done {
		return err
	}
	s.left--
	return s.Remove(f.fd)
}

// receiveMany reads several flows on one thread.
func (w *streamReceiver) receiveMany(flows []*streamFlow) error {
	set, err := openFlowSet(flows)
	if err != nil {
		return err
	}
	defer set.Close()
	var looked time.Duration
	for set.left > 0 {
		if w.run.Stopped() {
			return w.run.Cause(traffic.ErrAnother)
		}
		ready, err := set.Wait(false)
		if err != nil {
			return err
		}
		for _, event := range ready {
			f := flows[event.Fd]
			n, errno := f.buffer.receive(f.fd, f.flags|unix.MSG_DONTWAIT)
			if err := set.turn(f, n, errno); err != nil {
				return err
			}
		}
		if now := w.run.Now(); now-looked >= traffic.Tick { // a flow that has nothing still sees its window's edges
			looked = now
			for _, f := range flows {
				if f.done {
					continue
				}
				if err := set.turn(f, 0, unix.EAGAIN); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// turn handles the outcome of one call.
func (f *streamFlow) turn(n int, errno syscall.Errno) error {
	now := f.run.Now()
	switch {
	case errno == 0 && n == 0 && f.draining:
		// The sender waits for this, and where both ends send it would be for
		// each other. A connection that is gone has ended too.
		_ = unix.Shutdown(f.fd, unix.SHUT_WR)
		f.done = true
		return nil
	case errno == 0 && n == 0 && f.meter.EndSlots(now):
		return f.edges(now, n)
	case errno == 0 && n == 0:
		return fmt.Errorf("the sender closed flow %d before the window closed, after %d bytes; see what it reported", f.index+1, f.meter.Sum())
	case errno != 0 && !traffic.Waited(errno) && f.draining:
		f.done = true
		return nil
	case errno != 0 && !traffic.Waited(errno):
		return fmt.Errorf("receive flow %d after %d bytes: %w; see what the sender reported", f.index+1, f.meter.Sum(), errno)
	}
	f.count(traffic.Event{At: now, N: int64(n), More: n == f.read})
	return f.edges(now, n)
}

// count takes an event into the flow's window.
func (f *streamFlow) count(e traffic.Event) {
	if f.quota.limited && f.meter.Phase() == traffic.Open {
		f.quota.spend(f.meter, &e)
	}
	if e.N > 0 || f.meter.Phase() != traffic.Open || f.meter.Since() != 0 { // no window closes on nothing
		f.meter.Step(e)
	}
}

// edges reports the window's edges to the sender, and ends what has lasted too
// long.
func (f *streamFlow) edges(now time.Duration, n int) error {
	switch {
	case !f.opened && f.meter.Phase() >= traffic.Open:
		if f.opened = true; f.index == 0 {
			f.signal(signalOpen)
		}
	case !f.draining && f.meter.Phase() == traffic.Closed:
		f.draining, f.limit = true, now+traffic.DrainLimit
		if f.unclosed.Add(-1) == 0 {
			f.signal(signalClosed)
		}
	case now > f.limit && f.draining:
		f.undrained, f.done = true, true
	case now > f.limit:
		return errors.New("the sender sent nothing on at least one flow; see what it reported")
	case n == 0 && f.index == 0 && !f.draining:
		return f.stalled(now)
	}
	return nil
}

// stalled ends a run that carries nothing any more. Only the first flow asks,
// when it has nothing itself.
func (w *streamReceiver) stalled(now time.Duration) error {
	var sum int64
	for _, m := range w.meters {
		sum += m.Total()
	}
	switch {
	case sum != w.carried:
		w.carried, w.since = sum, now
	case now-w.since > traffic.StallLimit+w.window.Slots.Silence():
		return fmt.Errorf("nothing arrived for %v, after %d bytes: the sender stopped, or the path drops its packets; see what it reported, the links and the MTU of the path", traffic.StallLimit, sum)
	}
	return nil
}

// quota is how many bytes may still arrive in the window, of all flows.
type quota struct {
	limited bool
	left    atomic.Int64
	spent   atomic.Int64 // when it was, on the run's clock; unset before
}

// spend takes an event inside the window. The one that brings the last byte closes the
// flow's window, and so does the next one of each other flow: no flow takes more than one
// read beyond the bytes.
func (q *quota) spend(m *traffic.Meter, e *traffic.Event) {
	if q.left.Add(-e.N) <= 0 {
		q.spent.CompareAndSwap(traffic.Unset, int64(e.At))
	}
	if at := time.Duration(q.spent.Load()); at != traffic.Unset {
		// The event may have been read before another thread's spent the last byte. What follows
		// an event without bytes, which closes no window, closes it too, whatever is queued.
		m.CloseBy(min(at, e.At))
		e.More = false
	}
}
