package schedule

import (
	"fmt"
	"math"
	"testing"
	"time"

	"tare/test/labtest"
)

// All looks together may be wrong as often as one interval.
func TestLooksSpendTheErrorRate(t *testing.T) {
	for _, most := range []int{MostLooked, 47, 200} {
		sum, looks := 0.0, []int{}
		for blocks := range most + 1 {
			if rate, due := Look(blocks, most); due {
				sum += rate
				looks = append(looks, blocks)
			}
		}
		want := map[int][]int{MostLooked: {7, 10, 15, 22, 30}, 47: {10, 15, 23, 34, 47}, 200: {46, 66, 100, 146, 200}}[most]
		labtest.Equal(t, "looks", fmt.Sprint(looks), fmt.Sprint(want))
		if math.Abs(sum-errorRate) > 1e-12 {
			t.Errorf("with %d blocks they spend %v of %v", most, sum, errorRate)
		}
	}
}

// The first look spends hardly anything, so that what it decides is clear.
func TestFirstLookSpendsLittle(t *testing.T) {
	first, _ := Look(7, MostLooked)
	last, _ := Look(MostLooked, MostLooked)
	labtest.LessThan(t, "rate of the first look", first, 1e-4)
	labtest.MoreThan(t, "rate of the last look", last, 0.02)
}

// found is what a look finds: cells 1 to others of a group, with their baseline 0.
func found(blocks, others int, decided ...int) []Compared {
	c := Compared{Blocks: blocks}
	for n := range others {
		c.Others = append(c.Others, n+1)
	}
	c.Decided = func(cell int, rate float64) bool {
		for _, one := range decided {
			if one == cell {
				return rate > 0
			}
		}
		return false
	}
	return []Compared{c}
}

// A network whose toll is decided leaves its group, and the group ends with its last.
func TestDecidedNetworksLeaveTheirTime(t *testing.T) {
	p := grouped(2)
	p.Looks = true
	s := New(p, began())
	s.look(found(6, 2, 1, 2))
	labtest.Equal(t, "visits where no look is due", len(s.Visits(6)), 4)
	s.look(found(7, 2, 1))
	visits := s.Visits(7)
	labtest.Equal(t, "visits after the first look", len(visits), 3)
	for _, v := range visits {
		labtest.NotEqual(t, "the decided one's place is visited", v.Place, 2)
	}
	labtest.Equal(t, "due", s.Due(29), true)
	labtest.Equal(t, "due after the last look", s.Due(30), false)
	s.look(found(10, 2, 2)) // 1 is no longer asked about
	labtest.Equal(t, "a group without networks is due", s.Due(10), false)
	labtest.Equal(t, "its visits", len(s.Visits(10)), 0)
}

func TestBaselineAloneIsNotDecided(t *testing.T) {
	p := grouped(0)
	p.Looks = true
	s := New(p, began())
	s.look(found(7, 0))
	labtest.Equal(t, "due", s.Due(7), true)
}

func TestPlanWithoutLooksDecidesNothing(t *testing.T) {
	s := New(grouped(1), began())
	s.look(found(7, 1, 1))
	labtest.Equal(t, "visits", len(s.Visits(7)), 3)
}

// A run with much time looks over all of it, one with little as often as any.
func TestLooksAreSpreadOverTheTime(t *testing.T) {
	for limit, want := range map[time.Duration]int{0: MostLooked, 30 * time.Second: MostLooked, 600 * time.Second: 98} {
		p := grouped(1)
		p.Looks, p.MaxTime = true, limit
		s := New(p, began())
		s.Begin(began().Add(12 * time.Second))
		for block := range LeastBlocks { // six in 36 s
			s.spread(block+1, began().Add(12*time.Second+time.Duration(block+1)*6*time.Second))
		}
		labtest.Equal(t, fmt.Sprintf("last look in %v", limit), s.mostLooked(), want)
		s.spread(LeastBlocks+1, began().Add(time.Hour))
		labtest.Equal(t, "last look, once it is known", s.mostLooked(), want)
	}
}

// Blocks that take no time at all are no reason to divide by it.
func TestLooksOfBlocksWithoutTime(t *testing.T) {
	p := grouped(1)
	p.Looks, p.MaxTime = true, 100
	s := New(p, began())
	s.spread(LeastBlocks, began())
	labtest.Equal(t, "last look", s.mostLooked(), 100)
}

// A run that looks has time until its blocks would have been measured with all cells, or until its
// most time.
func TestTimeLeftOfARunThatLooks(t *testing.T) {
	for limit, want := range map[time.Duration][2]time.Duration{0: {0, 9 * time.Second}, 8 * time.Second: {6 * time.Second, 5 * time.Second}} {
		p := grouped(1)
		p.Looks, p.MaxTime = true, limit
		s := New(p, began())
		s.Begin(began().Add(2 * time.Second))
		at := func(seconds int) time.Time { return began().Add(time.Duration(2+seconds) * time.Second) }
		labtest.Equal(t, fmt.Sprintf("left of %v in the first block", limit), s.Left(at(0)), want[0])
		s.Ended(1, time.Second, at(1), nil)
		labtest.Equal(t, fmt.Sprintf("left of %v after it", limit), s.Left(at(1)), want[1])
		labtest.Equal(t, "measured", s.Measured(at(1)), time.Second)
		labtest.Equal(t, "left in the end", s.Left(at(60)), 0)
	}
}
