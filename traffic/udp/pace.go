package udp

import (
	"math"
	"time"

	"tare/traffic"
)

// pacer is an absolute schedule: slot k is due at start + k slots, whatever
// happened to those before it. So a stall never turns into a flood, nor does it
// shift what follows.
type pacer struct {
	slot  float64 // nanoseconds; no time.Duration, since a fraction of one adds up
	burst int64   // how many late slots may follow each other at once; more are given up
	spin  bool    // wait for the last 80 us in a busy loop

	start time.Duration
	index int64 // of the next slot

	late    int64 // slots that were taken inside the window
	skipped int64 // slots that were due inside it and given up
}

const (
	// spinAhead is how long before its time a spinning sender wakes.
	spinAhead = 80 * time.Microsecond
	// shortest is the wait below which a sleep costs more than it saves.
	shortest = 10 * time.Microsecond
)

func newPacer(slot float64, burst int64, spin bool) pacer {
	return pacer{slot: slot, burst: burst, spin: spin, start: traffic.Unset}
}

// next waits for the next slot, a tick at most, and takes it if it is due. The window
// opened at opened; unset: it is not open.
func (p *pacer) next(r *traffic.Run, opened time.Duration) (now time.Duration, due bool) {
	now = r.Now()
	if p.start == traffic.Unset {
		p.start = now
	}
	at := p.start + time.Duration(float64(p.index)*p.slot)
	if now = p.await(r, now, at); now < at {
		return now, false
	}
	p.count(at, now, opened)
	return now, true
}

// count takes the slot that was due at at as sent, and gives up those after it that are too
// late. Of them, those that were due before the window opened are none of its slots: a sender
// that was held up while it warmed up comes back inside the window.
func (p *pacer) count(at, now, opened time.Duration) {
	behind := int64(float64(now-at) / p.slot)
	skipped := max(behind-p.burst+1, 0)
	p.index += 1 + skipped
	if now < opened {
		return
	}
	if behind > 0 {
		p.late++
	}
	// at + k slots is inside for k from this on.
	first := max(int64(math.Ceil(float64(opened-at)/p.slot)), 1)
	p.skipped += max(skipped+1-first, 0)
}

// await waits until due, or a tick, and gives the time then.
func (p *pacer) await(r *traffic.Run, now, due time.Duration) time.Duration {
	if due-now > traffic.Tick {
		traffic.Sleep(traffic.Tick)
		return r.Now()
	}
	rest := due - now
	if p.spin {
		rest -= spinAhead
	}
	if rest > shortest {
		traffic.Sleep(rest)
		now = r.Now()
	}
	for now < due {
		now = r.Now()
	}
	return now
}
