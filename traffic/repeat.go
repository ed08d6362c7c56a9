package traffic

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// caller is the client's side of one flow whose transactions are more than a message each
// way on a socket: one after another, on its own thread.
type caller struct {
	run   *run
	meter *meter
	rtt   *Histogram // of the window, or of the slot under way; nil: not recorded
	all   *Histogram // of all slots; nil: all of the window counts

	// once does one transaction, and gives when its response was whole.
	once func() (answered time.Duration, err error)
	// passes reports whether the next transaction may succeed after an error; nil: none may.
	passes func(error) bool

	failures  failures
	succeeded time.Duration // when a transaction last did
}

// repetition is what several callers do.
type repetition struct {
	window Window
	timed  bool // the time of each transaction is recorded
	once   []func() (answered time.Duration, err error)
	passes func(error) bool
}

// repeat runs the callers through the window, each on a thread. guarded are their sockets
// where a call on them could last for ever.
func (p repetition) repeat(r *run, guarded []int) (Transactions, error) {
	table := newTimetable(p.window, len(p.once))
	callers := make([]*caller, len(p.once))
	meters := make([]*meter, len(p.once))
	for i := range callers {
		meters[i] = newMeter(table)
		callers[i] = &caller{run: r, meter: meters[i], once: p.once[i], passes: p.passes}
		if p.timed {
			callers[i].rtt = NewHistogram()
		}
		if p.window.Slots != nil {
			t, err := takeTurns(r, p.window.Slots)
			if err != nil {
				return Transactions{}, err
			}
			callers[i].all = NewHistogram()
			meters[i].countSlots(t, i == 0, callers[i].rtt, callers[i].all)
		}
	}
	watch := startGuard(r, guarded, r.now()+table.limit(), meters...)
	series := startSampler(r, table, meters...)
	err := onThreads(r, len(callers), func(i int) error { return callers[i].work() })
	t := Transactions{Series: series.finish(), RTT: NewHistogram()}
	if late := watch.end(); late && err != nil && len(guarded) > 0 {
		err = fmt.Errorf("the server answered no more: %w", err)
	}
	if err != nil {
		return Transactions{}, r.cause(err)
	}
	t.add(callers)
	return t, nil
}

// add adds what the callers counted.
func (t *Transactions) add(callers []*caller) {
	var all failures
	meters := make([]*meter, len(callers))
	for i, c := range callers {
		meters[i] = c.meter
		t.Count += c.meter.counted
		switch {
		case c.all != nil:
			t.RTT.Merge(c.all)
		case c.rtt != nil:
			t.RTT.Merge(c.rtt)
		}
		t.Taken.add(c.meter)
		all.merge(&c.failures)
	}
	t.Elapsed = elapsedOf(meters)
	t.Failures = all.named()
}

// work does transactions until the window has closed.
func (c *caller) work() (err error) {
	restore, err := sharpenSleep()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restore()) }()
	c.succeeded = c.run.now()
	for c.meter.phase != closed && !c.run.stopped.Load() {
		c.awaitSlot()
		begun := c.run.now()
		answered, err := c.once()
		now := c.run.now()
		if err != nil {
			if err := c.fail(err, now); err != nil {
				return err
			}
			continue
		}
		c.succeeded = now
		if c.meter.step(event{at: now, n: 1}) && c.rtt != nil {
			c.rtt.Record(answered - begun)
		}
	}
	c.meter.keepSlot()
	if c.run.stopped.Load() {
		return context.Canceled
	}
	return nil
}

// awaitSlot waits for the run's turn, where it has turns.
func (c *caller) awaitSlot() {
	now := c.run.now()
	if !c.meter.atRest(now) {
		return
	}
	c.meter.keepSlot()
	c.meter.slots.rest(c.run)
	c.succeeded += c.run.now() - now
}

// fail counts a transaction that failed. It gives the error that ends the run, where no
// other may succeed or none did for long.
func (c *caller) fail(err error, now time.Duration) error {
	switch {
	case c.run.stopped.Load():
		return context.Canceled
	case c.passes == nil || !c.passes(err):
		return fmt.Errorf("transaction %d: %w; see what the server reported", c.meter.sum+1, err)
	case now-c.succeeded > drainLimit:
		return fmt.Errorf("none succeeded for %v: %w; see whether the server runs with the same token", drainLimit, err)
	}
	if c.meter.phase == open {
		c.failures.add("connection", err)
	}
	c.meter.step(event{at: now})
	sleep(time.Millisecond) // a refusal is quick: do not flood
	return nil
}
