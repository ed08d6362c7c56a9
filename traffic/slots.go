package traffic

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Slots is the timetable of runs that take turns: in each cycle each of them has
// one slot, in an order drawn anew. The runs exchange nothing: their ends know the
// same timetable and have the same clock, that of one machine. So what is compared
// is measured within the same tenth of a second, on connections that stay open.
type Slots struct {
	Begin  time.Duration // of the first cycle, by CLOCK_MONOTONIC
	Length time.Duration // of a slot
	Settle time.Duration // at the beginning of a slot, where nothing is counted
	Guard  time.Duration // at its end, where nothing is sent or counted
	Runs   int           // that take turns
	Run    int           // which of them this is, from 0
	Warmup int           // cycles before those that count
	Cycles int           // that count
	Seed   uint64        // of the order
}

// Slot is what a slot counted: from the first event once it has settled to the first
// after its end. Elapsed is zero where it began late, by an eighth of its length, or
// where nothing came.
type Slot struct {
	Count   int64
	Elapsed time.Duration
	Median  time.Duration // of round trips; zero where none were recorded

	// The part up to the middle, by which the beginning of a slot can be compared
	// with the rest of it.
	FirstCount   int64
	FirstElapsed time.Duration
}

const (
	leastSlot = time.Millisecond
	mostSlots = 1 << 20 // of a run
)

func (s *Slots) check() error {
	switch {
	case s == nil:
		return nil
	case s.Runs < 1 || s.Run < 0 || s.Run >= s.Runs:
		return fmt.Errorf("run %d of %d takes turns: want 0 to %d", s.Run, s.Runs, s.Runs-1)
	case s.Length < leastSlot || s.Settle < 0 || s.Settle > s.Length/2 || s.Guard < 0 || s.Guard > s.Length/4:
		return fmt.Errorf("slots of %v, of which %v and %v do not count: want %v or more, up to a half and a fourth", s.Length, s.Settle, s.Guard, leastSlot)
	case s.Warmup < 0 || s.Cycles < 1 || s.Warmup+s.Cycles > mostSlots/s.Runs:
		return fmt.Errorf("%d and %d cycles: want up to %d", s.Warmup, s.Cycles, mostSlots/s.Runs)
	}
	return nil
}

// cycle is how long each of the runs takes its turn once.
func (s *Slots) cycle() time.Duration { return time.Duration(s.Runs) * s.Length }

// Span is how long all cycles take.
func (s *Slots) Span() time.Duration { return time.Duration(s.Warmup+s.Cycles) * s.cycle() }

// Place is which slot of a cycle is the run's, from 0; the first cycle is 0, and
// counts after Warmup others.
func (s *Slots) Place(cycle int) int {
	order := rand.New(rand.NewPCG(s.Seed, uint64(cycle))).Perm(s.Runs)
	return order[s.Run]
}

// turns goes through a run's slots, by the run's own clock.
type turns struct {
	*Slots
	now   func() time.Duration
	begin time.Duration // of the first cycle
	next  int           // cycle after the one whose slot was taken last

	early  time.Duration // before closes nothing more is sent, so that all has arrived by the slot's end
	closed func()        // called when the run stops sending in a slot; may be nil

	from          time.Duration // of that slot
	opens, closes time.Duration // of what counts of it
}

// takeTurns is the run's way through its timetable; nil where it has none.
func takeTurns(r *run, s *Slots) (*turns, error) {
	if s == nil {
		return nil, nil //nolint:nilnil // no timetable is no error
	}
	begun, err := r.at(s.Begin)
	if err != nil {
		return nil, err
	}
	t := &turns{Slots: s, now: r.now, begin: begun}
	if t.begin+s.Span() < r.now() {
		return nil, errors.New("its slots are over: do both ends have the same clock?")
	}
	t.advance()
	return t, nil
}

// at converts a time by CLOCK_MONOTONIC to the run's clock. It reads both until
// nothing came between.
func (r *run) at(monotonic time.Duration) (time.Duration, error) {
	var ts unix.Timespec
	for {
		before := r.now()
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			return 0, fmt.Errorf("read the clock: %w", err)
		}
		if r.now()-before < 10*time.Microsecond {
			return monotonic - time.Duration(ts.Nano()) + before, nil
		}
	}
}

// advance goes to the next slot; false: there is none.
func (t *turns) advance() bool {
	if t.next == t.Warmup+t.Cycles {
		return false
	}
	t.from = t.begin + time.Duration(t.next)*t.cycle() + time.Duration(t.Place(t.next))*t.Length
	t.opens, t.closes = t.from+t.Settle, t.from+t.Length-t.Guard
	t.next++
	return true
}

// await waits until the run may send; false: its slots are over. Without a
// timetable it always may.
func (t *turns) await(r *run) bool {
	if t == nil {
		return true
	}
	now := r.now()
	for ; now >= t.closes-t.early; now = r.now() {
		if t.closed != nil {
			t.closed()
		}
		if !t.advance() {
			t.restUntil(r, t.closes) // what was sent last is still under way
			return false
		}
		t.rest(r)
	}
	if now < t.from { // of the first slot
		t.rest(r)
	}
	return true
}

// restMost is how soon a run at rest notices a stop.
const restMost = 100 * time.Millisecond

// rest waits for the beginning of the slot.
func (t *turns) rest(r *run) { t.restUntil(r, t.from) }

// restUntil waits for a time on the run's clock. The thread keeps its processor of the
// runtime (see blocking): had it given it up, the runtime's monitor would wake with the
// slot and then look every 20 us for some milliseconds (runtime/proc.go, sysmon, Go
// 1.26), which made round trips longer by a tenth to a fourth, in longer slots less.
func (t *turns) restUntil(r *run, at time.Duration) {
	for now := r.now(); now < at && !r.stopped.Load(); now = r.now() {
		ts := unix.NsecToTimespec(int64(min(at-now, restMost)))
		_, _, _ = syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
	}
}
