package experiment

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"tare/result"
	"tare/test/labtest"
)

// simulatedClock is a machine's time, which goes on where a test says so.
type simulatedClock struct{ at instant }

func (c *simulatedClock) now() (instant, error) { return c.at, nil }

func (c *simulatedClock) wait(ctx context.Context, span time.Duration) error {
	c.pass(span)
	return ctx.Err()
}

func (c *simulatedClock) pass(span time.Duration) {
	c.at.wall, c.at.boot, c.at.mono = c.at.wall.Add(span), c.at.boot+span, c.at.mono+span
}

// suspend is as if the machine had been suspended.
func (c *simulatedClock) suspend(span time.Duration) {
	c.at.wall, c.at.boot = c.at.wall.Add(span), c.at.boot+span
}

// soaked are the rounds of a soak of 6 with one a minute; during one is called in each.
func soaked(t *testing.T, first int, during func(c *simulatedClock, round int) error) (all []result.Round, begun []time.Duration, err error) {
	t.Helper()
	c := &simulatedClock{instant{wall: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC), boot: time.Hour, mono: time.Hour}}
	s := Soaking{
		Every: time.Minute, Rounds: 6, First: first,
		Log:  func() result.KernelLog { return result.KernelLog{} },
		Over: func(*result.Result, time.Time) {},
	}
	err = s.rounds(context.Background(), c, func(_ context.Context, r *result.Round, over func()) (*result.Result, error) {
		begun = append(begun, c.at.boot-time.Hour)
		if err := during(c, r.Number); err != nil {
			return nil, err
		}
		over()
		all = append(all, *r)
		return nil, nil
	})
	return all, begun, err
}

func numbers(all []result.Round) (text string) {
	for _, r := range all {
		text += fmt.Sprintf(" %d", r.Number)
	}
	return text
}

func TestRoundsBeginAtMultiplesOfTheInterval(t *testing.T) {
	all, begun, err := soaked(t, 1, func(c *simulatedClock, _ int) error {
		c.pass(20 * time.Second)
		return nil
	})
	labtest.Equal(t, "error", err, nil)
	labtest.Equal(t, "rounds", numbers(all), " 1 2 3 4 5 6")
	for n, at := range begun {
		labtest.Equal(t, "begin", at, time.Duration(n)*time.Minute)
	}
	labtest.Equal(t, "warnings", len(disturbances(&all[5])), 0)
}

// A round that takes longer than the interval is named, and those whose time has passed are left out
// and counted: the soak ends when it would have.
func TestLongRoundIsNamed(t *testing.T) {
	all, begun, err := soaked(t, 1, func(c *simulatedClock, round int) error {
		c.pass(20 * time.Second)
		if round == 2 {
			c.pass(2 * time.Minute)
		}
		return nil
	})
	labtest.Equal(t, "error", err, nil)
	labtest.Equal(t, "rounds", numbers(all), " 1 2 5 6")
	labtest.Equal(t, "left out before the third", all[2].Left, 2)
	labtest.Equal(t, "left out before the fourth", all[3].Left, 0)
	labtest.Equal(t, "begin of the third", begun[2], 4*time.Minute)
	labtest.Contains(t, "warnings", fmt.Sprint(disturbances(&all[1])), "it took 140.0 s, longer than the 60.0 s")
}

func TestSuspensionAndSettingOfTheClockAreNamed(t *testing.T) {
	all, begun, err := soaked(t, 1, func(c *simulatedClock, round int) error {
		c.pass(20 * time.Second)
		switch round {
		case 2:
			c.suspend(90 * time.Second)
		case 5:
			c.at.wall = c.at.wall.Add(-time.Hour)
		}
		return nil
	})
	labtest.Equal(t, "error", err, nil)
	labtest.Equal(t, "rounds", numbers(all), " 1 2 4 5 6")
	labtest.Equal(t, "suspended", all[1].Suspended, 90)
	labtest.Equal(t, "clock", all[3].ClockSet, -3600)
	labtest.Equal(t, "begin of the last, which the clock does not move", begun[4], 5*time.Minute)
	labtest.Contains(t, "warnings", fmt.Sprint(disturbances(&all[3])), "by -3600.0 s")
	labtest.Equal(t, "warnings on the last", len(disturbances(&all[4])), 0)
}

// A soak that goes on has the rounds that are left; one that fails ends, and says in which round.
func TestSoakGoesOn(t *testing.T) {
	all, begun, err := soaked(t, 5, func(*simulatedClock, int) error { return nil })
	labtest.Equal(t, "error", err, nil)
	labtest.Equal(t, "rounds", numbers(all), " 5 6")
	labtest.Equal(t, "begin", begun[0], 0)
	broken := errors.New("the disk is full")
	all, _, err = soaked(t, 1, func(_ *simulatedClock, round int) error {
		if round == 3 {
			return broken
		}
		return nil
	})
	labtest.Equal(t, "rounds", numbers(all), " 1 2")
	labtest.Equal(t, "error", errors.Is(err, broken), true)
	labtest.Contains(t, "error", err.Error(), "round 3")
}
