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
	run   *Run
	meter *Meter
	rtt   *Histogram // of the window, or of the slot under way; nil: not recorded
	all   *Histogram // of all slots; nil: all of the window counts

	// once does one transaction, and gives when its response was whole.
	once func() (answered time.Duration, err error)
	// passes reports whether the next transaction may succeed after an error; nil: none may.
	passes func(error) bool

	failures  Failures
	succeeded time.Duration // when a transaction last did
}

// Repetition is what several callers do.
type Repetition struct {
	Window Window
	Timed  bool // the time of each transaction is recorded
	Once   []func() (answered time.Duration, err error)
	Passes func(error) bool
}

// Repeat runs the callers through the window, each on a thread. guarded are their sockets
// where a call on them could last for ever.
func (p Repetition) Repeat(r *Run, guarded []int) (Transactions, error) {
	table := NewTimetable(p.Window, len(p.Once))
	callers := make([]*caller, len(p.Once))
	meters := make([]*Meter, len(p.Once))
	for i := range callers {
		meters[i] = NewMeter(table)
		callers[i] = &caller{run: r, meter: meters[i], once: p.Once[i], passes: p.Passes}
		if p.Timed {
			callers[i].rtt = NewHistogram()
		}
		if p.Window.Slots != nil {
			t, err := TakeTurns(r, p.Window.Slots)
			if err != nil {
				return Transactions{}, err
			}
			callers[i].all = NewHistogram()
			meters[i].CountSlots(t, i == 0, callers[i].rtt, callers[i].all)
		}
	}
	watch := StartGuard(r, guarded, r.Now()+table.Limit(), meters...)
	series := StartSampler(r, meters...)
	err := OnThreads(r, len(callers), func(i int) error { return callers[i].work() })
	t := Transactions{Series: series.Finish(), RTT: NewHistogram()}
	if late := watch.End(); late && err != nil && len(guarded) > 0 {
		err = fmt.Errorf("the server answered no more: %w", err)
	}
	if err != nil {
		return Transactions{}, r.Cause(err)
	}
	t.add(callers)
	return t, nil
}

// add adds what the callers counted.
func (t *Transactions) add(callers []*caller) {
	var all Failures
	meters := make([]*Meter, len(callers))
	for i, c := range callers {
		meters[i] = c.meter
		t.Count += c.meter.counted
		switch {
		case c.all != nil:
			t.RTT.Merge(c.all)
		case c.rtt != nil:
			t.RTT.Merge(c.rtt)
		}
		t.Taken.Add(c.meter)
		all.merge(&c.failures)
	}
	t.Elapsed = ElapsedOf(meters)
	t.Failures = all.Named()
}

// work does transactions until the window has closed.
func (c *caller) work() (err error) {
	restore, err := SharpenSleep()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restore()) }()
	c.succeeded = c.run.Now()
	for c.meter.phase != Closed && !c.run.Stopped() {
		c.succeeded += c.meter.AwaitSlot(c.run)
		begun := c.run.Now()
		answered, err := c.once()
		now := c.run.Now()
		if err != nil {
			if err := c.fail(err, now); err != nil {
				return err
			}
			continue
		}
		c.succeeded = now
		if c.meter.Step(Event{At: now, N: 1}) && c.rtt != nil {
			c.rtt.Record(answered - begun)
		}
	}
	c.meter.KeepSlot()
	if c.run.Stopped() {
		return context.Canceled
	}
	return nil
}

// fail counts a transaction that failed. It gives the error that ends the run, where no
// other may succeed or none did for long.
func (c *caller) fail(err error, now time.Duration) error {
	switch {
	case c.run.Stopped():
		return context.Canceled
	case c.passes == nil || !c.passes(err):
		return fmt.Errorf("transaction %d: %w; see what the server reported", c.meter.sum+1, err)
	case now-c.succeeded > DrainLimit:
		return fmt.Errorf("none succeeded for %v: %w; see whether the server runs with the same token", DrainLimit, err)
	}
	if c.meter.phase == Open {
		c.failures.Add("connection", err)
	}
	c.meter.Step(Event{At: now})
	Sleep(time.Millisecond) // a refusal is quick: do not flood
	return nil
}

// ErrAnswer is of a response that is not the one that is due.
var ErrAnswer = errors.New("another response than the one that is due")
