package schedule

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tare/test/labtest"
)

// grouped is a plan of groups of so many networks each, with their two baselines first.
func grouped(networks ...int) Plan {
	p := Plan{Seed: 1, Blocks: 10}
	cells := 0
	for n, networks := range networks {
		g := Group{Cells: []int{cells, cells}, With: n}
		for range networks {
			cells++
			g.Cells = append(g.Cells, cells)
		}
		cells++
		p.Groups = append(p.Groups, g)
	}
	return p
}

func began() time.Time { return time.Unix(1000, 0) }

func TestBlocksArePermutations(t *testing.T) {
	p := grouped(3, 5, 2, 4)
	p.Groups[2].With = 0 // these take turns with each other
	rapid.Check(t, func(t *rapid.T) {
		p.Seed = rapid.Uint64().Draw(t, "seed")
		block := rapid.IntRange(0, 1000).Draw(t, "block")
		visits := p.All(block)
		if !slices.Equal(visits, p.All(block)) {
			t.Fatal("the same seed gives another order")
		}
		if slices.Equal(visits, p.All(block+1)) {
			t.Fatal("two blocks have one order")
		}
		other := p
		other.Seed++
		if slices.Equal(visits, other.All(block)) || p.Order(block) == other.Order(block) || p.Order(block) == p.Order(block+1) {
			t.Fatal("two seeds, or two blocks, give one order")
		}
		var with []int
		met := map[Visit]bool{}
		for _, v := range visits {
			with = append(with, p.Groups[v.Group].With)
			met[v] = true
		}
		if pieces := len(slices.Compact(with)); pieces != 3 {
			t.Fatalf("three groups that are together are split into %d pieces", pieces)
		}
		if len(visits) != p.Runs() || len(met) != 3+5+2+4+2*4 {
			t.Fatalf("a block of %d runs visits %d places in %d visits", p.Runs(), len(met), len(visits))
		}
	})
}

// The order that a seed gives is part of a result: the same plan gives it with each version.
func TestOrderOfASeed(t *testing.T) {
	p := grouped(2, 1)
	labtest.Equal(t, "order", fmt.Sprint(p.All(0), p.All(1)),
		"[{0 1} {0 0} {0 3} {0 2} {1 1} {1 0} {1 2}] [{1 1} {1 2} {1 0} {0 1} {0 2} {0 3} {0 0}]")
	labtest.Equal(t, "seeds of turns", fmt.Sprint(p.Order(0), p.Order(1)), "11035966612244867331 18395765901794496440")
}

// Each place of a group comes first as often as any other.
func TestNoPlaceIsFavoured(t *testing.T) {
	const blocks = 4000
	p := grouped(8)
	first := map[int]int{}
	for block := range blocks {
		first[p.All(block)[0].Place]++
	}
	for place := range p.Groups[0].Cells {
		labtest.Between(t, fmt.Sprintf("blocks that begin at place %d", place), first[place], blocks/10*3/4, blocks/10*5/4)
	}
}

// Without looks a group is due in the plan's blocks, and no more.
func TestGroupsAreDueInThePlansBlocks(t *testing.T) {
	s := New(grouped(1), began())
	labtest.Equal(t, "due in the last", s.Due(9), true)
	labtest.Equal(t, "due after the last", s.Due(10), false)
	labtest.Equal(t, "visits of the last", len(s.Visits(9)), 3)
	labtest.Equal(t, "visits after the last", len(s.Visits(10)), 0)
}

func TestMostTimeEndsARun(t *testing.T) {
	const sec = time.Second
	for _, c := range []struct {
		most, at, took time.Duration
		blocks         int
		more, cut      bool
	}{
		{0, time.Hour, time.Hour, 1, true, false},
		{20 * sec, 10 * sec, 10 * sec, 1, true, false}, // another one just fits
		{20 * sec, 10 * sec, 10*sec + 1, 1, false, true},
		{20 * sec, 30 * sec, 1, 9, false, true},
		{20 * sec, 30 * sec, 1, 10, true, false}, // nothing is due any more
	} {
		p := grouped(1)
		p.MaxTime = c.most
		s := New(p, began())
		s.Begin(began().Add(sec))
		more, cut := s.Ended(c.blocks, c.took, began().Add(c.at), nil)
		labtest.Equal(t, fmt.Sprintf("%+v: more", c), more, c.more)
		labtest.Equal(t, fmt.Sprintf("%+v: cut", c), cut, c.cut)
	}
}

// A run that looks for verdicts goes on until it can have any, but not for ever.
func TestLooksHavePatienceUntilTheFirst(t *testing.T) {
	const sec = time.Second
	for _, c := range []struct {
		at     time.Duration
		blocks int
		more   bool
	}{
		{20 * sec, 3, true}, {29 * sec, 6, true}, {29*sec + 1, 6, false}, {20 * sec, 7, false}, {19 * sec, 7, true},
	} {
		p := grouped(1)
		p.Looks, p.MaxTime = true, 20*sec
		s := New(p, began())
		s.Begin(began())
		more, cut := s.Ended(c.blocks, sec, began().Add(c.at), nil)
		labtest.Equal(t, fmt.Sprintf("%+v: more", c), more, c.more)
		labtest.Equal(t, fmt.Sprintf("%+v: cut", c), cut, !c.more)
	}
}

// A group whose slots grew has more blocks than the plan: a run that ends then was not cut.
func TestBlocksMeasuredAgainAreNotCut(t *testing.T) {
	p := slotted()
	p.MaxTime = time.Second
	s := New(p, began())
	s.Turned(0, func([]int) Fit { return TooShort })
	more, cut := s.Ended(10, 1, began().Add(time.Minute), nil)
	labtest.Equal(t, "more", more, false)
	labtest.Equal(t, "cut", cut, false)
}

// A run that looks has as much time as its blocks would take with all cells.
func TestLookingKeepsToItsTime(t *testing.T) {
	p := grouped(2)
	p.Looks = true
	s := New(p, began())
	s.Begin(began().Add(5 * time.Second)) // which the check took
	at := func(d time.Duration) time.Time { return began().Add(5*time.Second + d) }
	undecided := []Compared{{Blocks: 7, Baseline: 0, Others: []int{1, 2}, Decided: func(cell int, _ float64) bool { return cell == 1 }}}
	for block := 1; block < 7; block++ {
		more, _ := s.Ended(block, time.Second, at(time.Duration(block)*time.Second), nil)
		labtest.Equal(t, fmt.Sprintf("more after %d", block), more, true)
	}
	// The first look decides one: blocks become shorter, the time stays 10 s.
	s.Ended(7, time.Second, at(7*time.Second), undecided)
	for _, c := range []struct {
		after time.Duration
		more  bool
	}{{9750 * time.Millisecond, true}, {9751 * time.Millisecond, false}} {
		more, cut := s.Ended(11, 500*time.Millisecond, at(c.after), nil)
		labtest.Equal(t, fmt.Sprintf("more after %v", c.after), more, c.more)
		labtest.Equal(t, "cut", cut, false)
	}
}

func TestPreciseEnough(t *testing.T) {
	for _, c := range []struct {
		precision float64
		blocks    int
		halves    []float64
		want      bool
	}{
		{0.05, LeastBlocks, []float64{0.01, 0.05}, true},
		{0.05, LeastBlocks, []float64{0.01, 0.0501}, false},
		{0.05, LeastBlocks, []float64{0.01, math.NaN()}, false},
		{0.05, LeastBlocks - 1, []float64{0.01}, false}, // no interval yet
		{0.05, LeastBlocks, nil, true},                  // what failed gets no better
		{0, LeastBlocks, []float64{0}, false},
		{-1, LeastBlocks, nil, false},
	} {
		labtest.Equal(t, fmt.Sprintf("%+v", c), Plan{Precision: c.precision}.Precise(c.blocks, c.halves), c.want)
	}
}

// Two runs of a cell may fail, or a fourth of those that did not.
func TestGivesUp(t *testing.T) {
	for _, c := range []struct {
		missed, samples int
		want            bool
	}{{2, 0, false}, {3, 0, true}, {3, 11, true}, {3, 12, false}, {4, 12, true}, {4, 16, false}, {5, 19, true}} {
		labtest.Equal(t, fmt.Sprintf("%+v", c), GivesUp(c.missed, c.samples), c.want)
	}
}
