package tcpstream

import (
	"time"

	"tare/traffic"
)

// tunedSizes are what mode Auto tries, in bytes of one write.
var tunedSizes = [...]int{64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20}

const (
	// tunePasses is how often each size is tried, so that a slow moment of the
	// machine does not decide.
	tunePasses = 4
	// leastTuning is the shortest warm-up of mode Auto.
	leastTuning = 600 * time.Millisecond
	// tuneLead is the share of the warm-up before the first trial, and after
	// the last.
	tuneLead = 8
)

// tuner tries sizes of a write by turns, for all flows at once, and keeps the
// one that the sockets took most bytes of in its time. It is done before the
// warm-up is.
type tuner struct {
	slice  time.Duration // of one trial
	next   time.Duration // when the current trial ends; unset before the first byte
	trial  int           // the number of the current one; -1 before the first
	begun  time.Duration
	before int64
	bytes  [len(tunedSizes)]float64
	spent  [len(tunedSizes)]float64
	size   int // to write now
}

func newTuner(warmup time.Duration) *tuner {
	trials := time.Duration(tunePasses * len(tunedSizes))
	return &tuner{slice: warmup * (tuneLead - 2) / tuneLead / trials, next: traffic.Unset, trial: -1, size: traffic.DefaultBlock}
}

// until is how long it is until the next step.
func (t *tuner) until(now time.Duration) time.Duration {
	if t.next == traffic.Unset || t.done() {
		return traffic.Tick
	}
	return t.next - now
}

// step takes how much all flows have sent until now, and gives the size of the
// writes to come. over: the warm-up has ended.
func (t *tuner) step(now time.Duration, sent int64, over bool) int {
	switch {
	case t.done():
		return t.size
	case over:
		t.trial = tunePasses * len(tunedSizes)
		t.choose()
	case t.next == traffic.Unset && sent > 0:
		t.next = now + t.slice*tunePasses*time.Duration(len(tunedSizes))/(tuneLead-2)
	case now >= t.next:
		t.turn(now, sent)
	}
	return t.size
}

func (t *tuner) done() bool { return t.trial == tunePasses*len(tunedSizes) }

// turn ends one trial and begins the next. Every second pass runs backwards,
// so that what changes steadily favours no size.
func (t *tuner) turn(now time.Duration, sent int64) {
	if t.trial >= 0 {
		i := t.tried()
		t.bytes[i] += float64(sent - t.before)
		t.spent[i] += (now - t.begun).Seconds()
	}
	t.trial++
	t.begun, t.before, t.next = now, sent, now+t.slice
	if t.done() {
		t.choose()
	} else {
		t.size = tunedSizes[t.tried()]
	}
}

// tried is the index of the size that is tried now.
func (t *tuner) tried() int {
	pass, i := t.trial/len(tunedSizes), t.trial%len(tunedSizes)
	if pass%2 == 1 {
		return len(tunedSizes) - 1 - i
	}
	return i
}

// tuneTie is how far below the fastest a larger size may stay and be kept all
// the same: such short trials are no more exact, and fewer calls cost less CPU.
const tuneTie = 0.05

// choose keeps the largest of the fastest sizes that were tried.
func (t *tuner) choose() {
	best := 0.0
	rate := func(i int) float64 {
		if t.spent[i] == 0 {
			return 0
		}
		return t.bytes[i] / t.spent[i]
	}
	for i := range tunedSizes {
		best = max(best, rate(i))
	}
	t.size = traffic.DefaultBlock
	for i, size := range tunedSizes {
		if r := rate(i); r > 0 && r >= best*(1-tuneTie) {
			t.size = size
		}
	}
}
