package schedule

import (
	"fmt"
	"testing"
	"time"

	"tare/result"
	"tare/test/labtest"
)

func TestTimeOfABlock(t *testing.T) {
	windows, slots, brief := Timed{Runs: 3}, Timed{Runs: 4, Slot: 10 * ms}, Timed{Runs: 4, Slot: 3 * ms, Brief: true}
	l := Lengths{Warmup: 0.030, Duration: 0.060, Blocks: 10}
	for _, c := range []struct {
		lengths Lengths
		groups  []Timed
		want    time.Duration
	}{
		{l, nil, 0},
		{l, []Timed{windows}, 3 * (30 + 60 + 10) * ms},
		{l, []Timed{slots}, 4 * (10*10 + 20) * ms},
		{l, []Timed{brief}, 4 * (33*3 + 20 + 60) * ms},
		{Lengths{0.030, 0.060, 0}, []Timed{brief}, 4 * (33*3 + 20 + 600) * ms},
		{Lengths{0.030, 0.0599, 10}, []Timed{brief}, 4 * (33*3 + 20) * ms}, // no time for windows
		{l, []Timed{windows, slots}, 3*100*ms + 4*120*ms},
	} {
		labtest.Equal(t, fmt.Sprintf("%+v of %+v: a block", c.lengths, c.groups), c.lengths.Block(c.groups), c.want)
		labtest.Equal(t, "all", c.lengths.All(c.groups), time.Duration(c.lengths.Blocks)*c.want)
	}
}

func TestWarmupGoesWithTheDuration(t *testing.T) {
	for _, c := range []struct{ warmup, duration, want result.Seconds }{
		{0, 0.060, 0.030}, {0, 0.120, 0.030}, {0, 0.200, 0.050}, {0, 2, 0.5}, {0.001, 2, 0.001}, {0, 0.2014, 0.050},
	} {
		got := Lengths{Warmup: c.warmup, Duration: 7, Blocks: 3}.Lasting(c.duration)
		labtest.Equal(t, fmt.Sprintf("%+v", c), got, Lengths{c.want, c.duration, 3})
	}
}

// Few runs are measured for longer, within bounds, and all fit into the time that there is.
func TestTimeBuysLength(t *testing.T) {
	for _, c := range []struct {
		runs, blocks int
		slots        bool
		want         result.Seconds
	}{
		{1, 1, false, 2}, {1, 20, false, 2}, {2, 11, false, 1.99}, {40, 10, false, 0.1}, {80, 10, false, 0.06}, {0, 0, false, 2},
		{1, 1, true, 2}, {4, 10, true, 0.888}, {400, 10, true, 0.025}, {0, 10, true, 2},
	} {
		groups := []Timed{{Runs: c.runs}}
		if c.slots {
			groups[0].Slot = 10 * ms
		}
		l := Lengths{Blocks: c.blocks}
		got := l.Buys(groups, c.slots, 0)
		labtest.Equal(t, fmt.Sprintf("%+v", c), got, c.want)
		if c.slots && got < 2 && got > LeastTogether {
			labtest.AtMost(t, "time of all", l.Lasting(got).All(groups), slotsBudget)
			labtest.MoreThan(t, "time of all a millisecond longer", l.Lasting(got+0.008).All(groups), slotsBudget)
		}
	}
}

// A shorter time buys less, and a longer one no more than there is.
func TestLessTimeBuysLess(t *testing.T) {
	for _, slots := range []bool{false, true} {
		groups := []Timed{{Runs: 8}}
		if slots {
			groups[0].Slot = 10 * ms
		}
		l := Lengths{Blocks: 10}
		usual := l.Buys(groups, slots, 0)
		labtest.Equal(t, "in an hour", l.Buys(groups, slots, time.Hour), usual)
		labtest.AtMost(t, "time of all in 20 s", l.Lasting(l.Buys(groups, slots, 20*time.Second)).All(groups), 20*time.Second)
		labtest.LessThan(t, "in 20 s", l.Buys(groups, slots, 20*time.Second), usual)
	}
}

func TestBlocksThatFit(t *testing.T) {
	labtest.Equal(t, "blocks in 20 s", Blocks(20*time.Second, 999*ms), 20)
	labtest.Equal(t, "blocks in no time", Blocks(1, time.Second), LeastBlocks)
}

// Lengths shrink until all fits, or nothing is left of them.
func TestLengthsShrinkToFit(t *testing.T) {
	groups := []Timed{{Runs: 4}}
	long := Lengths{Warmup: 0.1, Duration: 0.4, Blocks: 7}
	for _, c := range []struct {
		within time.Duration
		want   Lengths
		fit    bool
	}{
		{28 * 510 * ms, long, true},
		{28*510*ms - 1, Lengths{0.08, 0.4 * 0.8, 7}, true},
		{28 * 65 * ms, Lengths{0.030, 0.025, 7}, true},
		{28*65*ms - 1, Lengths{0.030, 0.025, 7}, false},
	} {
		got, fit := long.Within(groups, c.within)
		labtest.Equal(t, fmt.Sprintf("fits %v", c.within), fit, c.fit)
		labtest.Near(t, "duration", float64(got.Duration), float64(c.want.Duration), 1e-12)
		labtest.Near(t, "warm-up", float64(got.Warmup), float64(c.want.Warmup), 1e-12)
	}
	brief := Lengths{Warmup: 0.001, Duration: 0.4, Blocks: 7}
	got, _ := brief.Within(groups, 28*200*ms)
	labtest.Equal(t, "a short warm-up", got.Warmup, 0.001)
}
