package traffic

import (
	"context"
	"time"
)

// Client is what a client that is no loop of this package does in its slots. All its
// calls but AddTo are made by the thread that began it.
type Client struct {
	run     *Run
	meter   *Meter
	rtt     *Histogram // of the slot under way
	all     *Histogram // of all slots
	restore func() error
}

// InSlots begins a client's way through the timetable of a window. One of a run's
// clients calls the window's Edge. Close ends it.
func InSlots(ctx context.Context, w Window, edges bool) (*Client, error) {
	r := StartRun(ctx)
	t, err := TakeTurns(r, w.Slots)
	if err != nil {
		r.End()
		return nil, err
	}
	c := &Client{run: r, meter: NewMeter(NewTimetable(w, 1)), rtt: NewHistogram(), all: NewHistogram()}
	if c.restore, err = SharpenSleep(); err != nil {
		r.End()
		return nil, err
	}
	c.meter.CountSlots(t, edges, c.rtt, c.all)
	return c, nil
}

// Await waits until the client may send, and gives that time; false: its slots are
// over, or the context is.
func (c *Client) Await() (now time.Duration, mine bool) {
	if now = c.run.Now(); c.meter.AtRest(now) {
		c.meter.KeepSlot()
		c.meter.slots.rest(c.run)
		now = c.run.Now()
	}
	return now, c.meter.phase != Closed && !c.run.Stopped()
}

// Count counts what the client sent at a time that Await gave, and what is answered
// now.
func (c *Client) Count(sent time.Duration) {
	now := c.run.Now()
	if c.meter.Step(Event{At: now, N: 1}) {
		c.rtt.Record(now - sent)
	}
}

// Close ends the client's turns.
func (c *Client) Close() error {
	c.meter.KeepSlot()
	c.run.End()
	return c.restore()
}

// Latency is that of all slots that count.
func (c *Client) Latency() *Histogram { return c.all }

// AddTo adds the client's turns to those of others, and gives how much it counted in
// its slots, in which time.
func (c *Client) AddTo(others *Taken) (count int64, elapsed time.Duration) {
	others.Add(c.meter)
	return c.meter.counted, c.meter.Elapsed()
}
