package traffic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// dialogue is the client's side of one flow.
type dialogue interface {
	// ask sends a new request, and gives the socket that its response is due on. A
	// socket other than the last request's has another number.
	ask(r *run) (fd int, err error)
	// receive receives once, and reports whether the response is now whole. A wait
	// that ended without data is errQuiet.
	receive(flags int) (bool, error)
	// exchange receives and sends in turn, as long as each call brings just one
	// whole response inside the open window, and returns the outcome of the last receive.
	exchange(c *closedLoop, l *loop) (bool, error)
}

// errQuiet is of a wait that ended without an event.
var errQuiet = errors.New("nothing came")

// loop is a flow: a dialogue and its open request.
type loop struct {
	dialogue
	fd    int
	at    int           // its place among its thread's flows
	first time.Duration // when the open request was sent first
	last  time.Duration // and last
}

// closedLoop runs dialogues on one thread until the window has closed.
type closedLoop struct {
	run     *run
	loops   []loop
	set     *pollSet // where a thread waits for several flows
	meter   *meter
	rtt     *Histogram // of the window, or of the slot under way; nil: not recorded
	all     *Histogram // of all slots; nil: all of the window counts
	flags   int        // of each receive call
	spins   spins
	timeout time.Duration // zero: requests are never lost
	lost    int64
	looked  time.Duration // when all flows were looked at
	waits   int           // flows whose request is not answered
	limit   time.Duration
}

// callLoops runs the flows that were opened: in an open loop where a rate was
// asked for, in closed loops otherwise.
func callLoops(r *run, c RequestResponse, loops []loop, flows []openFlow) (Transactions, error) {
	if c.Rate > 0 {
		return callAtRate(r, c, flows)
	}
	return call(r, c, loops)
}

// call runs the dialogues through the window, on a thread for each CPU that
// there is, as far as there are flows.
func call(r *run, c RequestResponse, loops []loop) (Transactions, error) {
	dealt := distribute(loops, min(len(loops), cpus()))
	table := newTimetable(c.Window, len(dealt))
	limit := r.now() + table.limit()
	parts := make([]*closedLoop, len(dealt))
	meters := make([]*meter, len(dealt))
	for i := range parts {
		meters[i] = newMeter(table)
		parts[i] = &closedLoop{run: r, loops: dealt[i], meter: meters[i], timeout: c.Timeout, limit: limit}
		if !c.Unrecorded {
			parts[i].rtt = NewHistogram()
		}
		if c.Window.Slots != nil {
			t, err := takeTurns(r, c.Window.Slots)
			if err != nil {
				return Transactions{}, err
			}
			parts[i].all = NewHistogram()
			meters[i].countSlots(t, i == 0, parts[i].rtt, parts[i].all)
		}
		if c.Spin {
			parts[i].flags = unix.MSG_DONTWAIT
		}
	}
	series := startSampler(r, table, meters...)
	err := onThreads(r, len(parts), func(i int) error { return parts[i].work() })
	t := Transactions{Series: series.finish(), RTT: NewHistogram()}
	if err != nil {
		return Transactions{}, r.cause(err)
	}
	for i, part := range parts {
		meters[i].keepSlot()
		t.Count += meters[i].counted
		t.Elapsed = max(t.Elapsed, meters[i].elapsed())
		t.Lost += part.lost
		switch {
		case part.all != nil:
			t.RTT.Merge(part.all)
		case part.rtt != nil:
			t.RTT.Merge(part.rtt)
		}
		t.Taken.add(meters[i])
	}
	return t, nil
}

func (c *closedLoop) work() (err error) {
	if c.meter.slots != nil {
		restore, err := sharpenSleep()
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
func (c *closedLoop) askAll() error {
	if c.meter.slots != nil {
		c.meter.slots.rest(c.run)
	}
	now := c.run.now()
	for i := range c.loops {
		if err := c.ask(&c.loops[i], now); err != nil {
			return err
		}
	}
	return nil
}

// alone waits in the receive call of the only flow. Requests that can't be
// lost wait there without a timeout.
func (c *closedLoop) alone() error {
	l := &c.loops[0]
	if c.timeout > 0 || c.flags != 0 {
		return c.turns(l)
	}
	if err := setTimeout(l.fd, 0); err != nil {
		return err
	}
	watch := startGuard(c.run, []int{l.fd}, c.limit, c.meter)
	err := c.turns(l)
	if late := watch.end(); late {
		return fmt.Errorf("the server answered %d requests and then no more; see whether it still runs and whether the path still carries packets", c.meter.sum)
	}
	if err != nil {
		return err
	}
	return setTimeout(l.fd, tick)
}

func (c *closedLoop) turns(l *loop) error {
	for c.meter.phase != closed {
		whole, err := l.exchange(c, l)
		if err := c.turn(l, whole, err); err != nil {
			return err
		}
	}
	return nil
}

// together waits for all flows at once.
func (c *closedLoop) together() error {
	fds := make([]int, len(c.loops))
	for i := range c.loops {
		c.loops[i].at, fds[i] = i, c.loops[i].fd
	}
	set, err := openPollSet(fds)
	if err != nil {
		return err
	}
	defer closeSocket(set.fd)
	c.set = set
	for c.meter.phase != closed {
		ready, err := set.wait(c.flags != 0)
		if err != nil {
			return err
		}
		for _, event := range ready {
			l := &c.loops[event.Fd]
			whole, err := l.receive(unix.MSG_DONTWAIT)
			if err := c.turn(l, whole, err); err != nil {
				return err
			}
		}
		if now := c.run.now(); now-c.looked >= tick {
			c.looked = now
			if err := c.look(now); err != nil {
				return err
			}
		}
	}
	return nil
}

// look sees which flows have waited for long, once a tick.
func (c *closedLoop) look(now time.Duration) error {
	for i := range c.loops {
		if err := c.quiet(&c.loops[i], now); err != nil {
			return err
		}
	}
	return nil
}

// pass counts a response inside the window and begins the next round trip. It
// gives false at an edge of the window, which turn must look at.
func (c *closedLoop) pass(l *loop, now time.Duration) bool {
	if !c.meter.pass(now) {
		return false
	}
	if c.rtt != nil {
		c.rtt.Record(now - l.first)
	}
	l.first = now
	return true
}

// turn handles what was received on a flow, and sends the next request if the
// response is complete.
func (c *closedLoop) turn(l *loop, whole bool, err error) error {
	now := c.run.now()
	switch {
	case err == errQuiet:
		return c.quiet(l, now)
	case err != nil:
		return fmt.Errorf("receive response %d: %w; see what the server reported", c.meter.sum+1, err)
	case c.run.stopped.Load():
		return context.Canceled
	case !whole:
		return nil
	}
	c.waits--
	if c.meter.step(event{at: now, n: 1}) && c.rtt != nil {
		c.rtt.Record(now - l.first)
	}
	switch {
	case c.meter.phase == closed:
		return nil
	case !c.meter.atRest(now):
		return c.ask(l, now)
	case c.waits > 0:
		return nil
	}
	c.meter.keepSlot()
	return c.askAll()
}

func (c *closedLoop) ask(l *loop, now time.Duration) error {
	l.first, l.last = now, now
	c.waits++
	return c.send(l)
}

func (c *closedLoop) send(l *loop) error {
	fd, err := l.ask(c.run)
	if err == nil && fd != l.fd && c.set != nil {
		err = c.set.add(fd, l.at)
	}
	if err != nil {
		return fmt.Errorf("send request %d: %w; see what the server reported", c.meter.sum+1, err)
	}
	l.fd = fd
	return nil
}

// quiet takes a wait that brought nothing: it sends a lost request again and
// ends what has lasted too long.
func (c *closedLoop) quiet(l *loop, now time.Duration) error {
	if c.flags != 0 {
		c.spins.again()
	}
	c.meter.step(event{at: now})
	switch {
	case c.run.stopped.Load():
		return context.Canceled
	case c.meter.phase == closed:
		return nil
	case now > c.limit || now-l.first > grace:
		return fmt.Errorf("the server answered %d requests and then no more; see whether it still runs and whether the path still carries packets", c.meter.sum)
	case c.timeout == 0 || now-l.last < c.timeout:
		return nil
	}
	if c.meter.slots != nil { // whose slot it is sends now
		c.meter.slots.rest(c.run)
		now = c.run.now()
		l.first = now
		c.lost++
	} else if c.meter.phase == open {
		c.lost++
	}
	l.last = now
	return c.send(l)
}
