package experiment

import (
	"context"
	"time"

	"tare/result"
)

// shareOver is the time over which what a run sends is averaged: within it, it sends as fast
// as it goes.
const shareOver = 10 * time.Second

// headers is about what a message has around its payload, in bytes.
const headers = 100

// share keeps what a run sends between machines that others use too to a rate: a bucket that
// fills at that rate, up to what it gives in shareOver.
type share struct {
	rate   float64 // bit/s; 0: as much as it can
	room   float64 // bits that may be sent at once; below 0: too many were
	filled time.Time
}

func newShare(rate result.BitsPerSecond, now time.Time) *share {
	return &share{rate: float64(rate), room: float64(rate) * shareOver.Seconds(), filled: now}
}

// spend takes what was sent, in bits.
func (s *share) spend(bits float64, now time.Time) {
	s.room = min(s.rate*shareOver.Seconds(), s.room+s.rate*now.Sub(s.filled).Seconds()) - bits
	s.filled = now
}

// pause is how long nothing may be sent.
func (s *share) pause(now time.Time) time.Duration {
	s.spend(0, now)
	if s.rate == 0 || s.room >= 0 {
		return 0
	}
	return time.Duration(-s.room / s.rate * float64(time.Second))
}

// spare waits, before runs between machines, until what was sent before is within the share.
func (r *runner) spare(ctx context.Context, v visit) error {
	pause := r.share.pause(time.Now())
	if pause == 0 || !r.leaves(v) {
		return nil
	}
	r.Progress(Progress{Pause: pause})
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leaves reports whether a run sends from one machine to another.
func (r *runner) leaves(v visit) bool {
	ends, served := r.ends[v.place.cluster][r.groups[v.group].path]
	return served && apart(r.Topology.Places, ends)
}

// spent counts what runs of a block sent between machines in the time that they took.
func (r *runner) spent(visits []visit, block int, took time.Duration) {
	for _, v := range visits {
		samples := r.cells[keyOf(v.group, v.place)].Samples
		if n := len(samples); n > 0 && samples[n-1].Block == block && r.leaves(v) {
			rate := bitRate(samples[n-1], runOf(r.plan, r.groups[v.group].workload).Size)
			r.share.spend(rate*took.Seconds()/float64(len(visits)), time.Now())
		}
	}
}

// bitRate is about what a run sent into the busier direction, in bit/s. size is that of a
// message, in bytes.
func bitRate(s result.Sample, size int) float64 {
	if throughput, is := s.Metrics["throughput"]; is {
		return throughput
	}
	return s.Metrics["rate"] * 8 * float64(size+headers)
}
