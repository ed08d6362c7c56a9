package simtest

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"tare/result"
	"tare/traffic"
	"tare/workload"
)

// World is what there is to measure. Deviations are of the natural logarithm.
type World struct {
	Value float64            // of the headline, at the first baseline
	Tolls map[string]float64 // by cluster: how much worse it is, as a ratio; "host-b" is the other baseline
	Drift func(at time.Duration) float64

	Block float64 // deviation between the blocks of a place: of what its connections have
	Slot  float64 // deviation between slots, or windows
	Late  float64 // the share of slots that are late
	Early float64 // how much more there is in the second half of each slot of networks, in log

	CC   string // that the sockets have
	Seed uint64
}

// Measure is a model: agents measure the world.
func (w World) Measure(r Request) Reply {
	if r.Serves() {
		return Reply{Tally: workload.Tally{CC: w.CC}}
	}
	kind, _ := workload.Find(r.Workload)
	place := fnv.New64a()
	place.Write([]byte(r.At))
	draw := rand.New(rand.NewPCG(w.Seed^place.Sum64(), uint64(r.Number)))
	cluster, _, _ := strings.Cut(r.At, ".")
	level := w.Value * w.worse(cluster, kind.Headline) * math.Exp(w.Block*draw.NormFloat64())
	at := func(now time.Duration) float64 {
		drift := 0.0
		if w.Drift != nil {
			drift = w.Drift(now)
		}
		return level * math.Exp(drift+w.Slot*draw.NormFloat64())
	}
	t := workload.Tally{CC: w.CC, Counters: map[string]float64{}}
	if r.Run.Slots == nil {
		t.Metrics = map[string]float64{kind.Headline: at(0)}
		w.count(&t, r.Run.Duration)
		return Reply{Tally: t}
	}
	t.Slots, t.Later = map[string][]float64{}, map[string][]float64{}
	for cycle := range r.Run.Slots.Cycles {
		v, later := at(begins(r.Run.Slots, cycle)), 1.0
		if draw.Float64() < w.Late {
			v, later = 0, 0
		} else if !strings.HasPrefix(cluster, "host") {
			later = math.Exp(w.Early)
		}
		t.Slots[kind.Headline], t.Later[kind.Headline] = append(t.Slots[kind.Headline], v), append(t.Later[kind.Headline], later)
	}
	t.Metrics = map[string]float64{kind.Headline: at(begins(r.Run.Slots, 0))}
	w.count(&t, r.Run.Slots.Window)
	return Reply{Tally: t}
}

// worse is a cluster's ratio to the first baseline.
func (w World) worse(cluster, headline string) float64 {
	toll := w.Tolls[cluster]
	if q, _ := result.QuantityOf(headline); q.Better == result.Higher {
		return 1 - toll
	}
	return 1 + toll
}

// begins is when a run's slot of a cycle that counts begins, by the site's clock.
func begins(s *traffic.Slots, cycle int) time.Duration {
	turn := time.Duration(s.Runs)*time.Duration(s.Warmup+cycle) + time.Duration(s.Place(s.Warmup+cycle))
	return s.Begin + time.Duration(s.Runs)*s.Window + turn*s.Length
}

// count counts the work and the CPU time of a window: half a CPU, and a thousand transactions a
// second.
func (w World) count(t *workload.Tally, window time.Duration) {
	if window > 0 {
		t.Window, t.Work = window, 1000*window.Seconds()
		t.CPU = &workload.CPU{Busy: window.Seconds() / 2}
	}
}
