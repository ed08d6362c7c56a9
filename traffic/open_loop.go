package traffic

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// maxOpen is how many requests of a flow may be open at once. A request
	// that is due beyond them waits, and its response time with it.
	maxOpen = 4096
	// spinLead is how long before a request is due a thread that may spin stops
	// sleeping: the longest that a timer wakes it late on a quiet CPU.
	spinLead = 60 * time.Microsecond
)

// OpenFlow is a flow of an open loop. Its open requests are those from answered
// to sent; a ring holds when each was due and when it went.
type OpenFlow struct {
	fd             int
	token          *Token // of datagrams; nil: TCP, whose responses come in order
	request        []byte
	response       []byte
	got            int
	sent, answered int64
	due, went      []time.Duration
	settled        []bool // of datagrams: answered out of order, or lost
}

// NewOpenFlow is for a request that is sent again and again, as datagrams where there is a token.
func NewOpenFlow(fd int, token *Token, request []byte) OpenFlow {
	return OpenFlow{
		fd: fd, token: token, request: request, response: Buffer(len(request)),
		due: make([]time.Duration, maxOpen), went: make([]time.Duration, maxOpen), settled: make([]bool, maxOpen),
	}
}

// openLoop sends requests when they are due, whatever happened to the ones
// before, and counts a response time from when its request was due: a request
// that the loop itself sent late has waited like any other. No response time is
// corrected afterwards.
type openLoop struct {
	run          *Run
	flows        []OpenFlow
	polls        []unix.PollFd
	meter        *Meter
	gap          float64 // ns between two requests
	begun        time.Duration
	asked        int64 // requests that went
	atOpen       int64 // of them before the window
	timeout      time.Duration
	spin         bool
	response     *Histogram // from when it was due
	service      *Histogram // from when it went
	trips        *tripLog
	lost         int64
	lastReceived time.Duration // when a response last came
	limit        time.Duration
}

// CallAtRate runs an open loop over the flows at c.Rate requests a second.
func CallAtRate(r *Run, c RequestResponse, flows []OpenFlow) (Transactions, error) {
	table := NewTimetable(c.Window, 1)
	o := &openLoop{
		run: r, flows: flows, meter: NewMeter(table), gap: 1e9 / c.Rate, timeout: c.Timeout, spin: c.Spin || c.OwnCPU,
		response: NewHistogram(), service: NewHistogram(), polls: make([]unix.PollFd, len(flows)),
	}
	if c.Steps {
		o.trips = newTripLog(c.Window, c.Rate)
	}
	for i, f := range flows {
		o.polls[i] = unix.PollFd{Fd: int32(f.fd), Events: unix.POLLIN}
	}
	series := StartSampler(r, o.meter)
	o.begun, o.lastReceived, o.limit = r.Now(), r.Now(), r.Now()+table.Limit()+time.Duration(o.gap)
	err := OnThreads(r, 1, func(int) error { return o.work() })
	t := Transactions{Series: series.Finish()}
	if err != nil {
		return Transactions{}, r.Cause(err)
	}
	elapsed := o.meter.Elapsed()
	t.Count, t.Elapsed, t.RTT, t.Service, t.Lost = o.meter.counted, elapsed, o.response, o.service, o.lost
	t.Trips = o.trips.steps(c.Window, o.meter.from)
	t.Offered = float64(o.asked-o.atOpen) / elapsed.Seconds()
	return t, nil
}

func (o *openLoop) work() error {
	// Without slack a timer ends when it is due (prctl(2)). gVisor's kernel has none.
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("set timer slack: %w", err)
	}
	for o.meter.phase != Closed {
		now := o.run.Now()
		if err := o.ask(now); err != nil {
			return err
		}
		for i := range o.flows {
			if err := o.receive(&o.flows[i]); err != nil {
				return err
			}
		}
		switch {
		case o.run.Stopped():
			return context.Canceled
		case now > o.limit || now-o.lastReceived > Grace+time.Duration(o.gap):
			return fmt.Errorf("the server answered %d requests and then no more; see whether it still runs and whether the path still carries packets", o.meter.sum)
		}
		o.meter.Step(Event{At: now})
		o.wait()
	}
	o.leaveOpen()
	return nil
}

// dueAt is when request k is due.
func (o *openLoop) dueAt(k int64) time.Duration {
	return o.begun + time.Duration(float64(k)*o.gap)
}

// ask sends what is due. Requests take turns over the flows; one whose flow
// takes no more waits, and all after it.
func (o *openLoop) ask(now time.Duration) error {
	if o.meter.phase != Open {
		o.atOpen = o.asked
	}
	for o.dueAt(o.asked) <= now {
		f := &o.flows[o.asked%int64(len(o.flows))]
		if f.sent-f.answered == maxOpen {
			return nil
		}
		if f.token != nil {
			Header{Kind: KindData, Sequence: f.sent}.Put(f.request, f.token)
		}
		n, errno := Send(f.fd, f.request, unix.MSG_DONTWAIT)
		switch {
		case Waited(errno) || errno == unix.ENOBUFS:
			return nil
		case errno != 0:
			return fmt.Errorf("send request %d: %w; see what the server reported", o.asked+1, errno)
		case n < len(f.request):
			if err := SendAll(o.run, f.fd, f.request[n:]); err != nil {
				return fmt.Errorf("send request %d: %w; see what the server reported", o.asked+1, err)
			}
		}
		at := f.sent % maxOpen
		f.due[at], f.went[at], f.settled[at] = o.dueAt(o.asked), o.run.Now(), false
		f.sent++
		o.asked++
	}
	return nil
}

// receive takes all that has arrived on a flow. What comes after the response that closes
// the window was unanswered when it closed.
func (o *openLoop) receive(f *OpenFlow) error {
	for o.meter.phase != Closed {
		n, errno := Receive(f.fd, f.response[f.got:], unix.MSG_DONTWAIT)
		switch {
		case Waited(errno):
			o.settle(f)
			return nil
		case errno == unix.EMSGSIZE && f.token != nil:
			continue // the path turned out narrower
		case errno != 0:
			return fmt.Errorf("receive response %d: %w; see what the server reported", o.meter.sum+1, errno)
		case n == 0 && f.token == nil:
			return fmt.Errorf("receive response %d: %w; see what the server reported", o.meter.sum+1, ErrPeerClosed)
		}
		if f.token != nil {
			h, ok := ParseHeader(f.response[:n], f.token)
			if ok && h.Kind == KindAnswer && h.Sequence >= f.answered && h.Sequence < f.sent && !f.settled[h.Sequence%maxOpen] {
				o.count(f, h.Sequence)
			}
			continue
		}
		if f.got += n; f.got == len(f.response) {
			f.got = 0
			o.count(f, f.answered)
			f.answered++
		}
	}
	return nil
}

// count takes the response to a request.
func (o *openLoop) count(f *OpenFlow, request int64) {
	at, now := request%maxOpen, o.run.Now()
	f.settled[at] = true
	o.lastReceived = now
	if o.meter.Step(Event{At: now, N: 1}) {
		o.response.Record(now - f.due[at])
		o.trips.add(f.due[at], now-f.due[at])
		o.service.Record(now - f.went[at])
	}
}

// settle gives up datagrams that were not answered in time, and passes over
// those that were answered out of order.
func (o *openLoop) settle(f *OpenFlow) {
	if f.token == nil {
		return
	}
	now := o.run.Now()
	for ; f.answered < f.sent; f.answered++ {
		at := f.answered % maxOpen
		if f.settled[at] {
			continue
		}
		if now-f.went[at] < o.timeout {
			return
		}
		if o.meter.phase == Open {
			o.lost++
			o.response.Record(now - f.due[at])
		}
	}
}

// leaveOpen records the requests that the window's end found unanswered, and
// those that were due and could not go, with the time that they had waited.
func (o *openLoop) leaveOpen() {
	waited := func(due time.Duration) {
		if due >= o.meter.from && due < o.meter.to {
			o.response.Record(o.meter.to - due)
			o.trips.add(due, o.meter.to-due)
		}
	}
	for i := range o.flows {
		f := &o.flows[i]
		for k := f.answered; k < f.sent; k++ {
			if !f.settled[k%maxOpen] {
				waited(f.due[k%maxOpen])
			}
		}
	}
	for k := o.asked; o.dueAt(k) < o.meter.to; k++ {
		waited(o.dueAt(k))
	}
}

// wait sleeps until something has come or a request is nearly due.
func (o *openLoop) wait() {
	left := o.dueAt(o.asked) - o.run.Now()
	if o.spin {
		left -= spinLead
	}
	if left <= 0 {
		return
	}
	ts := unix.NsecToTimespec(int64(min(left, Tick)))
	// What came, or a signal, is found by asking.
	_, _, _ = syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&o.polls[0])), uintptr(len(o.polls)), uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
}
