package traffic

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// TCPStream is bulk data over TCP. The receiver owns the window.
type TCPStream struct {
	Token      Token
	Window     Window
	Flows      int // a thread each; default 1
	WriteBytes int // of one send; default 128 KiB
	ReadBytes  int // of one receive, which need not equal WriteBytes; default 128 KiB
}

// FlowReceived is what one flow received in its window.
type FlowReceived struct {
	Bytes   int64
	Elapsed time.Duration
}

// TCPStreamReceived is the receiver's outcome.
type TCPStreamReceived struct {
	Flows      []FlowReceived
	Series     []Point // bytes of all flows
	Congestion string  // the congestion control read back
	Undrained  int     // flows still not empty 2 s after the window: they may disturb what follows
	Strangers  int64   // connections without the token
}

// Goodput is the sum over the flows of what each received in its window.
func (r TCPStreamReceived) Goodput() BitsPerSecond {
	var sum BitsPerSecond
	for _, f := range r.Flows {
		sum += BitsPerSecond(float64(f.Bytes) * 8 / f.Elapsed.Seconds())
	}
	return sum
}

const (
	defaultBlock = 128 << 10
	maxBlock     = 64 << 20
)

func (s TCPStream) checked() (TCPStream, error) {
	s.Flows = orDefault(s.Flows, 1)
	s.WriteBytes = orDefault(s.WriteBytes, defaultBlock)
	s.ReadBytes = orDefault(s.ReadBytes, defaultBlock)
	switch {
	case s.Flows < 1 || s.Flows > maxFlows:
		return s, fmt.Errorf("%d flows: want 1 to %d", s.Flows, maxFlows)
	case s.WriteBytes < 1 || s.WriteBytes > maxBlock || s.ReadBytes < 1 || s.ReadBytes > maxBlock:
		return s, fmt.Errorf("blocks of %d and %d bytes: want 1 to %d", s.WriteBytes, s.ReadBytes, maxBlock)
	}
	return s, s.Window.check(s.Flows)
}

func orDefault[T int | time.Duration](value, fallback T) T {
	if value == 0 {
		return fallback
	}
	return value
}

// What the receiver tells the sender on the first flow: that flow's window has
// opened, and all windows have closed.
const (
	toldOpen  = 'o'
	toldClose = 'c'
)

// ServeTCPStream receives one tcp_stream.
func ServeTCPStream(ctx context.Context, l *Listener, s TCPStream) (TCPStreamReceived, error) {
	s, err := s.checked()
	if err != nil {
		return TCPStreamReceived{}, fmt.Errorf("serve tcp_stream: %w", err)
	}
	r := startRun(ctx)
	defer r.end()
	d := openDoor(r, l, s.Token, greetingLen)
	fds, err := d.admitFlows(s.Flows)
	if err != nil {
		d.shut()
		return TCPStreamReceived{}, fmt.Errorf("serve tcp_stream: %w", err)
	}
	defer closeSockets(fds)
	received, err := receiveStream(r, fds, s)
	d.shut()
	received.Strangers = d.strangers
	if err != nil {
		return TCPStreamReceived{}, fmt.Errorf("serve tcp_stream: %w", r.cause(err))
	}
	return received, nil
}

// streamFlow is one receiving flow.
type streamFlow struct {
	run       *run
	fd        int
	lead      int // the first flow's socket
	index     int
	meter     *meter
	unclosed  *atomic.Int32 // flows whose window has not closed
	buffer    []byte
	undrained bool
}

func receiveStream(r *run, fds []int, s TCPStream) (TCPStreamReceived, error) {
	var received TCPStreamReceived
	name, err := congestion(fds[0])
	if err != nil {
		return received, err
	}
	table := newTimetable(s.Window, len(fds))
	var unclosed atomic.Int32
	unclosed.Store(int32(len(fds)))
	flows := make([]*streamFlow, len(fds))
	meters := make([]*meter, len(fds))
	for i, fd := range fds {
		meters[i] = newMeter(table)
		flows[i] = &streamFlow{run: r, fd: fd, lead: fds[0], index: i, meter: meters[i], unclosed: &unclosed, buffer: touched(s.ReadBytes)}
	}
	series := startSampler(r, table, meters...)
	err = onThreads(r, len(flows), func(i int) error { return flows[i].receive() })
	received.Series = series.finish()
	if err != nil {
		return received, err
	}
	received.Congestion = name
	var sum int64
	for _, f := range flows {
		received.Flows = append(received.Flows, FlowReceived{f.meter.counted, f.meter.elapsed()})
		if sum += f.meter.counted; f.undrained {
			received.Undrained++
		}
	}
	if sum == 0 {
		return received, fmt.Errorf("the sender's data stopped: nothing arrived in the window of %v; see what it reported, and the MTU of the path", s.Window.Duration)
	}
	return received, nil
}

// tell makes an edge of the window known to the sender, by one byte into an
// empty send buffer. If the connection has failed, the next receive says so.
func (f *streamFlow) tell(edge byte) {
	_, _ = send(f.lead, []byte{edge}, unix.MSG_DONTWAIT)
}

// receive reads the flow through the window and then to its end.
func (f *streamFlow) receive() error {
	limit := f.run.now() + f.meter.table.limit()
	opened, draining := false, false
	for !f.run.stopped.Load() {
		n, errno := recv(f.fd, f.buffer, 0)
		now := f.run.now()
		switch {
		case errno == 0 && n == 0 && draining:
			return nil
		case errno == 0 && n == 0:
			return fmt.Errorf("the sender closed flow %d before the window closed, after %d bytes; see what it reported", f.index+1, f.meter.sum)
		case errno != 0 && !again(errno) && draining:
			return nil
		case errno != 0 && !again(errno):
			return fmt.Errorf("receive flow %d after %d bytes: %w; see what the sender reported", f.index+1, f.meter.sum, errno)
		}
		f.meter.step(event{now, int64(n), n == len(f.buffer)})
		switch {
		case !opened && f.meter.phase >= open:
			if opened = true; f.index == 0 {
				f.tell(toldOpen)
			}
		case !draining && f.meter.phase == closed:
			draining, limit = true, now+drainLimit
			if f.unclosed.Add(-1) == 0 {
				f.tell(toldClose)
			}
		case now > limit && draining:
			f.undrained = true
			return nil
		case now > limit:
			return errors.New("the sender sent nothing on at least one flow; see what it reported")
		}
	}
	return f.run.cause(errors.New("another flow failed"))
}

// touched makes a buffer whose memory is already mapped.
func touched(size int) []byte {
	p := make([]byte, size)
	for i := 0; i < len(p); i += 4096 {
		p[i] = 1
	}
	return p
}

// onThreads runs work(0) to work(n-1) on a locked thread each and gives the
// first error, which stops the others.
func onThreads(r *run, n int, work func(int) error) error {
	var all sync.WaitGroup
	var first sync.Once
	var failure error
	for i := range n {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if err := work(i); err != nil {
				first.Do(func() { failure = err })
				r.stop()
			}
		})
	}
	all.Wait()
	return failure
}
