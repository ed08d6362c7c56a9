package schedule

import (
	"fmt"
	"testing"
	"time"

	"tare/test/labtest"
)

const ms = time.Millisecond

// slotted is a plan of three groups, of which the first and the last take turns together.
func slotted() Plan {
	p := grouped(1, 1, 1)
	p.Groups[0].Slot, p.Groups[2].Slot, p.Groups[2].With = 3*ms, 3*ms, 0
	return p
}

func TestSlotsOfABlock(t *testing.T) {
	for _, c := range []struct {
		lengths        Lengths
		length, settle time.Duration
		want           Slots
	}{
		{Lengths{Warmup: 0.030, Duration: 0.060}, 10 * ms, 0, Slots{10 * ms, ms, ms, 2, 8}},
		{Lengths{Warmup: 0.030, Duration: 0.0641}, 10 * ms, 0, Slots{10 * ms, ms, ms, 2, 9}},
		{Lengths{Warmup: 0.030, Duration: 0.060}, 10 * ms, 4 * ms, Slots{10 * ms, 4 * ms, ms, 2, 12}},
		{Lengths{Warmup: 0.030, Duration: 0.060}, 3 * ms, 0, Slots{3 * ms, ms / 2, 3 * ms / 10, 5, 28}},
		{Lengths{}, 40 * ms, 0, Slots{40 * ms, 4 * ms, 4 * ms, 1, 4}},
	} {
		labtest.Equal(t, fmt.Sprintf("%+v in slots of %v", c.lengths, c.length), c.lengths.Slots(c.length, c.settle), c.want)
	}
	labtest.Equal(t, "after a window", Slots{Warmup: 5, Cycles: 7}.AfterWindow(), Slots{Warmup: 1, Cycles: 7})
}

// All blocks' windows together are as long as CPU time needs, and what settles does not count.
func TestWindowBeforeSlots(t *testing.T) {
	s := Slots{Length: 3 * ms, Settle: ms / 2, Guard: 3 * ms / 10}
	for blocks, want := range map[int]time.Duration{1: 612360 * time.Microsecond, LeastBlocks: 102360 * time.Microsecond, 30: 102360 * time.Microsecond} {
		got := s.Window(0.5, blocks)
		labtest.Between(t, fmt.Sprintf("window in %d blocks", blocks), got, want-time.Microsecond, want+time.Microsecond)
		counts := got - got/6 - s.Guard
		labtest.Between(t, "what counts of all", counts*time.Duration(min(blocks, LeastBlocks)), 509*ms, 511*ms)
	}
}

func TestSlotsGrowUntilTheirBeginningIsLikeTheRest(t *testing.T) {
	short := func([]int) Fit { return TooShort }
	even := func([]int) Fit { return Fits }
	s := New(slotted(), began())
	labtest.Equal(t, "slot", s.Slot(2), 3*ms)
	labtest.Equal(t, "cells of a block with even slots that are measured again", len(s.Turned(0, even)), 0)
	again := s.Turned(2, func(cells []int) Fit {
		labtest.Equal(t, "cells that are asked about", fmt.Sprint(cells), "[0 1 4 5]")
		return TooShort
	})
	labtest.Equal(t, "cells that are measured again", fmt.Sprint(again), "[0 1 4 5]")
	labtest.Equal(t, "slot", s.Slot(0), 6*ms)
	labtest.Equal(t, "slot of the one in windows", s.Slot(1), 0)
	labtest.Equal(t, "the group is due in place of the two blocks", s.due(2, 11), true)
	labtest.Equal(t, "and no more", s.due(2, 12), false)
	labtest.Equal(t, "the other is due", s.due(1, 10), false)

	for range tuning {
		labtest.Equal(t, "even slots grow", len(s.Turned(0, even)), 0)
	}
	labtest.Equal(t, "slots grow late", len(s.Turned(0, short)), 0)
}

func TestSlotsDoNotGrowForEver(t *testing.T) {
	short := func([]int) Fit { return TooShort }
	s := New(slotted(), began())
	for _, want := range []time.Duration{6 * ms, 12 * ms, 24 * ms, 40 * ms, 40 * ms} {
		s.Turned(0, short)
		labtest.Equal(t, "slot", s.Slot(0), want)
	}
	labtest.Equal(t, "the group is due in place of four blocks", s.due(0, 13), true)
	labtest.Equal(t, "and no more", s.due(0, 14), false)
}

// Slots that are too short in the last of their first blocks are still doubled.
func TestSlotsGrowInTheirFirstBlocks(t *testing.T) {
	s := New(slotted(), began())
	for block := range tuning {
		last := block == tuning-1
		again := s.Turned(0, func([]int) Fit { return map[bool]Fit{true: TooShort}[last] })
		labtest.Equal(t, fmt.Sprintf("slots grow in block %d", block), len(again) > 0, last)
	}
}

// Slots that count nothing make room for windows, in the first blocks; the blocks are measured again.
func TestUselessSlotsMakeRoomForWindows(t *testing.T) {
	useless := func([]int) Fit { return Useless }
	s := New(slotted(), began())
	s.Turned(0, func([]int) Fit { return Fits })
	labtest.Equal(t, "cells that are measured again", fmt.Sprint(s.Turned(2, useless)), "[0 1 4 5]")
	labtest.Equal(t, "slot", s.Slot(0), 0)
	labtest.Equal(t, "the group is due in place of the two blocks", s.due(2, 11), true)
	labtest.Equal(t, "and no more", s.due(2, 12), false)

	s = New(slotted(), began())
	for range tuning {
		s.Turned(0, func([]int) Fit { return Fits })
	}
	labtest.Equal(t, "cells that are measured again later", len(s.Turned(0, useless)), 0)
	labtest.Equal(t, "slot", s.Slot(0), 3*ms)
}
