package experiment

import (
	"context"
	"time"

	"tare/result"
)

// headers is about what a message has around its payload, in bytes.
const headers = 100

// spare waits, before runs between machines, until what was sent before is within the share.
func (r *runner) spare(ctx context.Context, v visit) error {
	pause := r.share.Pause(time.Now())
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
	ends, served := r.conductor.built.ends(v.place.cluster, r.groups[v.group].path)
	return served && apart(r.Topology.Places, ends)
}

// spent counts what runs of a block sent between machines in the time that they took.
func (r *runner) spent(visits []visit, block int, took time.Duration) {
	for _, v := range visits {
		samples := r.recorder.cells[keyOf(v.group, v.place)].Samples
		if n := len(samples); n > 0 && samples[n-1].Block == block && r.leaves(v) {
			rate := bitRate(samples[n-1], runOf(r.plan, r.groups[v.group].workload).Size)
			r.share.Spend(rate*took.Seconds()/float64(len(visits)), time.Now())
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
