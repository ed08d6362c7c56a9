package experiment

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"tare/probe"
	"tare/result"
)

// Soaking is what a soak needs besides a plan: which rounds it has, and what is done with each.
type Soaking struct {
	Every  time.Duration // from the beginning of a round to that of the next
	Rounds int           // that the soak has
	First  int           // number of the round that is measured first; more than 1 where a soak goes on
	Log    func() result.KernelLog
	// Explain adds the causes to what a round gave, while its lab is there.
	Explain func(ctx context.Context, res *result.Result) error
	// Save saves a round: after each block, and when it is over.
	Save func(*result.Result) error
	// Over is called when a round is over, with when the next begins; zero: it was the last.
	Over func(res *result.Result, next time.Time)
}

// Soak measures a plan again and again on a site that has been built and stays: what grows from
// one round to the next, as forwarding tables, connections that are tracked or memory, grows as it
// would elsewhere. Between the rounds nothing is done. The rounds begin at multiples of the
// interval, by a clock that goes on while the machine is suspended and that nobody can set; one whose time
// has passed is left out, and the next round says so. Each round has another seed, unless the plan has one.
//
// It ends with the first round that can't be measured; a cell that fails ends nothing.
func Soak(ctx context.Context, plan result.Plan, o Options, s Soaking) error {
	lab, err := newID()
	if err != nil {
		return err
	}
	return s.rounds(ctx, realClock{}, func(ctx context.Context, r *result.Round, over func()) (*result.Result, error) {
		r.Lab, r.Boot = lab, probe.BootID("/")
		o.Save = func(res *result.Result) error {
			res.Round = r
			return s.Save(res)
		}
		res, err := Run(ctx, plan, o)
		if err != nil {
			return res, err
		}
		if err := s.Explain(ctx, res); err != nil {
			return res, err
		}
		over()
		var unread []result.Unread
		r.States, unread = probe.MachineFacts("/")
		res.Unread = probe.Unread(res.Unread, unread)
		res.Warnings = append(res.Warnings, disturbances(r)...)
		return res, s.Save(res)
	})
}

// instant is one time by three clocks.
type instant struct {
	wall time.Time     // what people read, and may set
	boot time.Duration // goes on while the machine is suspended
	mono time.Duration // does not
}

// soakClock gives the time, and waits.
type soakClock interface {
	now() (instant, error)
	wait(ctx context.Context, span time.Duration) error
}

// longestWait is how long is waited at once: the timers of a program do not go on while the machine
// is suspended, so that a round begins so much late at most.
const longestWait = 10 * time.Second

// rounds measures round after round. over says that one is measured: what comes later is no part of it.
func (s Soaking) rounds(ctx context.Context, c soakClock, measure func(ctx context.Context, r *result.Round, over func()) (*result.Result, error)) error {
	began, err := c.now()
	if err != nil {
		return err
	}
	last, left := began, 0
	for slot := 0; s.First+slot <= s.Rounds; {
		from, err := until(ctx, c, began.boot+time.Duration(slot)*s.Every)
		if err != nil {
			return err
		}
		r := &result.Round{Number: s.First + slot, Rounds: s.Rounds, Every: result.Seconds(s.Every.Seconds()), Left: left}
		var failed error
		res, err := measure(ctx, r, func() {
			var at instant
			if at, failed = c.now(); failed == nil {
				noted(r, from, last, at)
			}
			r.Log, last = s.Log(), at
		})
		if err == nil {
			err = failed
		}
		if err != nil {
			return fmt.Errorf("measure round %d: %w", r.Number, err)
		}
		next := max(slot+1, int((last.boot-began.boot+s.Every-1)/s.Every))
		left, slot = next-slot-1, next
		due := last.wall.Add(began.boot + time.Duration(slot)*s.Every - last.boot)
		if s.First+slot > s.Rounds {
			due = time.Time{}
		}
		s.Over(res, due)
	}
	return nil
}

// until waits until a time, and gives that at which it ended.
func until(ctx context.Context, c soakClock, due time.Duration) (instant, error) {
	for {
		at, err := c.now()
		if err != nil || at.boot >= due {
			return at, err
		}
		if err := c.wait(ctx, min(due-at.boot, longestWait)); err != nil {
			return at, err
		}
	}
}

// realClock is that of the machine.
type realClock struct{}

func (realClock) now() (instant, error) {
	at := instant{wall: time.Now()}
	for clock, to := range map[int32]*time.Duration{unix.CLOCK_BOOTTIME: &at.boot, unix.CLOCK_MONOTONIC: &at.mono} {
		var now unix.Timespec
		if err := unix.ClockGettime(clock, &now); err != nil {
			return at, fmt.Errorf("read the clock: %w", err)
		}
		*to = time.Duration(now.Nano())
	}
	return at, nil
}

func (realClock) wait(ctx context.Context, span time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(span):
		return nil
	}
}
