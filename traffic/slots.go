package traffic

import (
	"errors"
	"fmt"
	"math"
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
	Begin  time.Duration // of the windows, or else of the first cycle, by CLOCK_MONOTONIC
	Window time.Duration // that each run has once before the cycles, where CPU time is counted; 0: it has none
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
	case s.Window < 0 || s.Window > 0 && s.Window < s.Length:
		return fmt.Errorf("windows of %v: want the length of a slot, %v, or more", s.Window, s.Length)
	case s.Warmup < 0 || s.Cycles < 1 || s.Warmup+s.Cycles > mostSlots/s.Runs:
		return fmt.Errorf("%d and %d cycles: want up to %d", s.Warmup, s.Cycles, mostSlots/s.Runs)
	}
	return nil
}

// cycle is how long each of the runs takes its turn once.
func (s *Slots) cycle() time.Duration { return time.Duration(s.Runs) * s.Length }

// windows is how long the windows of all runs take.
func (s *Slots) windows() time.Duration { return time.Duration(s.Runs) * s.Window }

// Span is how long all windows and cycles take.
func (s *Slots) Span() time.Duration {
	return s.windows() + time.Duration(s.Warmup+s.Cycles)*s.cycle()
}

// Silence is the longest that a run may be silent between two of its turns.
func (s *Slots) Silence() time.Duration {
	if s == nil {
		return 0
	}
	return s.windows() + 2*s.cycle()
}

// window is the cycle of the windows.
const window = -1

// settles is how long the beginning of a run's turn does not count: of its window as
// much of it as of a slot.
func (s *Slots) settles(cycle int) time.Duration {
	if cycle == window {
		return time.Duration(float64(s.Settle) / float64(s.Length) * float64(s.Window))
	}
	return s.Settle
}

// Place is which slot of a cycle is the run's, from 0; the first cycle is 0, and
// counts after Warmup others.
func (s *Slots) Place(cycle int) int {
	order := rand.New(rand.NewPCG(s.Seed, uint64(cycle))).Perm(s.Runs)
	return order[s.Run]
}

// Turns goes through a run's slots, by the run's own clock.
type Turns struct {
	*Slots
	now   func() time.Duration
	begin time.Duration // of all
	turn  int           // the cycle of the turn that was taken last

	early  time.Duration // before closes nothing more is sent, so that all has arrived by the slot's end
	closed func()        // called when the run stops sending in a slot; may be nil

	from          time.Duration // of that turn
	opens, closes time.Duration // of what counts of it
}

// TakeTurns is the run's way through its timetable; nil where it has none.
func TakeTurns(r *Run, s *Slots) (*Turns, error) {
	if s == nil {
		return nil, nil //nolint:nilnil // no timetable is no error
	}
	begun, err := r.at(s.Begin)
	if err != nil {
		return nil, err
	}
	t := s.turns(begun)
	t.now = r.Now
	if t.begin+s.Span() < r.Now() {
		return nil, errors.New("its slots are over: do both ends have the same clock?")
	}
	t.advance()
	return t, nil
}

// turns are those of a run whose timetable begins then, before the first of them.
func (s *Slots) turns(begin time.Duration) *Turns {
	first := 0
	if s.Window > 0 {
		first = window
	}
	return &Turns{Slots: s, begin: begin, turn: first - 1}
}

// at converts a time by CLOCK_MONOTONIC to the run's clock. It reads both until little time
// is between the two, and uses the closest pair if that never happens, as under strace or on
// an emulated machine.
func (r *Run) at(monotonic time.Duration) (time.Duration, error) {
	var ts unix.Timespec
	var at time.Duration
	const readings, little = 100, 10 * time.Microsecond
	closest := time.Duration(math.MaxInt64)
	for n := 0; n < readings && closest > little; n++ {
		before := r.Now()
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			return 0, fmt.Errorf("read the clock: %w", err)
		}
		if between := r.Now() - before; between < closest {
			closest, at = between, monotonic-time.Duration(ts.Nano())+before
		}
	}
	return at, nil
}

// advance goes to the next turn; false: there is none.
func (t *Turns) advance() bool {
	if t.last() {
		return false
	}
	t.turn++
	begin, length := t.begin, t.Window
	if t.turn != window {
		begin, length = t.begin+t.windows()+time.Duration(t.turn)*t.cycle(), t.Length
	}
	t.from = begin + time.Duration(t.Place(t.turn))*length
	t.opens, t.closes = t.from+t.settles(t.turn), t.from+length-t.Guard
	return true
}

// last reports whether no turn follows.
func (t *Turns) last() bool { return t.turn == t.Warmup+t.Cycles-1 }

// Await waits until the run may send; false: its slots are over. Without a
// timetable it always may.
func (t *Turns) Await(r *Run) bool {
	if t == nil {
		return true
	}
	now := r.Now()
	for ; now >= t.closes-t.early; now = r.Now() {
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

// OnClose has a function called whenever the run stops sending in a slot.
func (t *Turns) OnClose(closed func()) { t.closed = closed }

// MakeRoom makes a flow that sent so much in its slot end the next one earlier, where
// what it left in its socket and on the path takes longer to arrive than the guard.
func (t *Turns) MakeRoom(fd int, sent int64) {
	left, err := unix.IoctlGetInt(fd, unix.SIOCOUTQ)
	if err != nil || sent <= 0 {
		return // the next write names what is wrong
	}
	arrives := time.Duration(float64(left) / float64(sent) * float64(t.closes-t.early-t.from))
	t.early = min(max(t.early/2+(arrives-t.Guard)/2, 0), (t.Length-t.Settle-t.Guard)/2)
}

// restMost is how soon a run at rest notices a stop.
const restMost = 100 * time.Millisecond

// rest waits for the beginning of the slot.
func (t *Turns) rest(r *Run) { t.restUntil(r, t.from) }

// restUntil waits for a time on the run's clock. The thread keeps its processor of the
// runtime (see Syscall): had it given it up, the runtime's monitor would wake with the
// slot and then look every 20 us for some milliseconds (runtime/proc.go, sysmon, Go
// 1.26), which made round trips longer by a tenth to a fourth, in longer slots less.
func (t *Turns) restUntil(r *Run, at time.Duration) {
	for now := r.Now(); now < at && !r.Stopped(); now = r.Now() {
		ts := unix.NsecToTimespec(int64(min(at-now, restMost)))
		_, _, _ = syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
	}
}
