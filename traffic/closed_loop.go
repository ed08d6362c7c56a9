package traffic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Dialogue is the client's side of one flow.
type Dialogue interface {
	// Ask sends a new request, and gives the socket that its response is due on. A
	// socket other than the last request's has another number.
	Ask(r *Run) (fd int, err error)
	// Receive receives once, and reports whether the response is now whole. A wait
	// that ended without data is ErrQuiet.
	Receive(flags int) (bool, error)
	// Exchange receives and sends in turn, as long as each call brings just one
	// whole response inside the open window, and returns the outcome of the last receive.
	Exchange(c *ClosedLoop, l *Loop) (bool, error)
}

// ErrQuiet is of a wait that ended without an event.
var ErrQuiet = errors.New("nothing came")

// Loop is a flow: a dialogue and its open request.
type Loop struct {
	Dialogue
	FD    int
	at    int           // its place among its thread's flows
	First time.Duration // when the open request was sent first
	Last  time.Duration // and last
}

// ClosedLoop runs dialogues on one thread until the window has closed.
type ClosedLoop struct {
	Run     *Run
	loops   []Loop
	set     *PollSet // where a thread waits for several flows
	meter   *Meter
	rtt     *Histogram // of the window, or of the slot under way; nil: not recorded
	all     *Histogram // of all slots; nil: all of the window counts
	Flags   int        // of each receive call
	spins   Spins
	timeout time.Duration // zero: requests are never lost
	lost    int64
	looked  time.Duration // when all flows were looked at
	waits   int           // flows whose request is not answered
	limit   time.Duration
}

// CallLoops runs the flows that were opened: in an open loop where a rate was
// asked for, in closed loops otherwise.
func CallLoops(r *Run, c RequestResponse, loops []Loop, flows []OpenFlow) (Transactions, error) {
	if c.Rate > 0 {
		return CallAtRate(r, c, flows)
	}
	return Call(r, c, loops)
}

// Call runs the dialogues through the window, on a thread for each CPU that
// there is, as far as there are flows.
func Call(r *Run, c RequestResponse, loops []Loop) (Transactions, error) {
	dealt := Distribute(loops, min(len(loops), CPUs()))
	table := NewTimetable(c.Window, len(dealt))
	limit := r.Now() + table.Limit()
	parts := make([]*ClosedLoop, len(dealt))
	meters := make([]*Meter, len(dealt))
	for i := range parts {
		meters[i] = NewMeter(table)
		parts[i] = &ClosedLoop{Run: r, loops: dealt[i], meter: meters[i], timeout: c.Timeout, limit: limit}
		if !c.Unrecorded {
			parts[i].rtt = NewHistogram()
		}
		if c.Window.Slots != nil {
			t, err := TakeTurns(r, c.Window.Slots)
			if err != nil {
				return Transactions{}, err
			}
			parts[i].all = NewHistogram()
			meters[i].CountSlots(t, i == 0, parts[i].rtt, parts[i].all)
		}
		if c.Spin {
			parts[i].Flags = unix.MSG_DONTWAIT
		}
	}
	series := StartSampler(r, meters...)
	err := OnThreads(r, len(parts), func(i int) error { return parts[i].work() })
	t := Transactions{Series: series.Finish(), RTT: NewHistogram()}
	if err != nil {
		return Transactions{}, r.Cause(err)
	}
	for i, part := range parts {
		meters[i].KeepSlot()
		t.Count += meters[i].counted
		t.Elapsed = max(t.Elapsed, meters[i].Elapsed())
		t.Lost += part.lost
		switch {
		case part.all != nil:
			t.RTT.Merge(part.all)
		case part.rtt != nil:
			t.RTT.Merge(part.rtt)
		}
		t.Taken.Add(meters[i])
	}
	return t, nil
}

func (c *ClosedLoop) work() (err error) {
	if c.meter.slots != nil {
		restore, err := SharpenSleep()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, restore()) }()
	}
	if err := c.askAll(); err != nil {
		return err
	}
	if len(c.loops) == 1 {
		return c.alone()
	}
	return c.together()
}

// askAll sends a request on each flow: in a slot, where only slots count.
func (c *ClosedLoop) askAll() error {
	if c.meter.slots != nil {
		c.meter.slots.rest(c.Run)
	}
	now := c.Run.Now()
	for i := range c.loops {
		if err := c.ask(&c.loops[i], now); err != nil {
			return err
		}
	}
	return nil
}

// alone waits in the receive call of the only flow. Requests that can't be
// lost wait there without a timeout.
func (c *ClosedLoop) alone() error {
	l := &c.loops[0]
	if c.timeout > 0 || c.Flags != 0 {
		return c.turns(l)
	}
	if err := SetTimeout(l.FD, 0); err != nil {
		return err
	}
	watch := StartGuard(c.Run, []int{l.FD}, c.limit, c.meter)
	err := c.turns(l)
	if late := watch.End(); late {
		return fmt.Errorf("the server answered %d requests and then no more; see whether it still runs and whether the path still carries packets", c.meter.sum)
	}
	if err != nil {
		return err
	}
	return SetTimeout(l.FD, Tick)
}

func (c *ClosedLoop) turns(l *Loop) error {
	for c.meter.phase != Closed {
		whole, err := l.Exchange(c, l)
		if err := c.turn(l, whole, err); err != nil {
			return err
		}
	}
	return nil
}

// together waits for all flows at once.
func (c *ClosedLoop) together() error {
	fds := make([]int, len(c.loops))
	for i := range c.loops {
		c.loops[i].at, fds[i] = i, c.loops[i].FD
	}
	set, err := OpenPollSet(fds)
	if err != nil {
		return err
	}
	defer set.Close()
	c.set = set
	for c.meter.phase != Closed {
		ready, err := set.Wait(c.Flags != 0)
		if err != nil {
			return err
		}
		for _, event := range ready {
			l := &c.loops[event.Fd]
			whole, err := l.Receive(unix.MSG_DONTWAIT)
			if err := c.turn(l, whole, err); err != nil {
				return err
			}
		}
		if now := c.Run.Now(); now-c.looked >= Tick {
			c.looked = now
			if err := c.look(now); err != nil {
				return err
			}
		}
	}
	return nil
}

// look sees which flows have waited for long, once a tick.
func (c *ClosedLoop) look(now time.Duration) error {
	for i := range c.loops {
		if err := c.quiet(&c.loops[i], now); err != nil {
			return err
		}
	}
	return nil
}

// Pass counts a response inside the window and begins the next round trip. It
// gives false at an edge of the window, which turn must look at.
func (c *ClosedLoop) Pass(l *Loop, now time.Duration) bool {
	if !c.meter.Pass(now) {
		return false
	}
	if c.rtt != nil {
		c.rtt.Record(now - l.First)
	}
	l.First = now
	return true
}

// turn handles what was received on a flow, and sends the next request if the
// response is complete.
func (c *ClosedLoop) turn(l *Loop, whole bool, err error) error {
	now := c.Run.Now()
	switch {
	case err == ErrQuiet:
		return c.quiet(l, now)
	case err != nil:
		return fmt.Errorf("receive response %d: %w; see what the server reported", c.meter.sum+1, err)
	case c.Run.Stopped():
		return context.Canceled
	case !whole:
		return nil
	}
	c.waits--
	if c.meter.Step(Event{At: now, N: 1}) && c.rtt != nil {
		c.rtt.Record(now - l.First)
	}
	switch {
	case c.meter.phase == Closed:
		return nil
	case !c.meter.AtRest(now):
		return c.ask(l, now)
	case c.waits > 0:
		return nil
	}
	c.meter.KeepSlot()
	return c.askAll()
}

func (c *ClosedLoop) ask(l *Loop, now time.Duration) error {
	l.First, l.Last = now, now
	c.waits++
	return c.send(l)
}

func (c *ClosedLoop) send(l *Loop) error {
	fd, err := l.Ask(c.Run)
	if err == nil && fd != l.FD && c.set != nil {
		err = c.set.add(fd, l.at)
	}
	if err != nil {
		return fmt.Errorf("send request %d: %w; see what the server reported", c.meter.sum+1, err)
	}
	l.FD = fd
	return nil
}

// quiet takes a wait that brought nothing: it sends a lost request again and
// ends what has lasted too long.
func (c *ClosedLoop) quiet(l *Loop, now time.Duration) error {
	if c.Flags != 0 {
		c.spins.Again()
	}
	c.meter.Step(Event{At: now})
	switch {
	case c.Run.Stopped():
		return context.Canceled
	case c.meter.phase == Closed:
		return nil
	case now > c.limit || now-l.First > Grace:
		return fmt.Errorf("the server answered %d requests and then no more; see whether it still runs and whether the path still carries packets", c.meter.sum)
	case c.timeout == 0 || now-l.Last < c.timeout:
		return nil
	}
	if c.meter.slots != nil { // whose slot it is sends now
		c.meter.slots.rest(c.Run)
		now = c.Run.Now()
		l.First = now
		c.lost++
	} else if c.meter.phase == Open {
		c.lost++
	}
	l.Last = now
	return c.send(l)
}
