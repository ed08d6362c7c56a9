package main

import (
	"math"
	"slices"
	"time"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// matters is the toll from which one should be known: a ratio.
const matters = 0.05

// figures are how finely one result weighs.
type figures struct {
	took    time.Duration
	tolls   map[string][]float64 // half-widths of the tolls' intervals by metric, as ratios
	aa      map[string][]float64 // and of the baselines against each other
	known   int                  // tolls beyond what matters whose verdict is not inconclusive
	beyond  int                  // tolls beyond what matters
	decided int                  // tolls whose verdict is not inconclusive
	all     int                  // tolls with a verdict
	differs int                  // baselines that are shown to differ from themselves
	added   []float64            // half-widths of what a network adds to the round trip, in s
	spreads map[string][]spread  // of tolls in slots, by metric
}

// metrics are those that the page shows.
func metrics() []string { return []string{"throughput", "rtt_p50"} }

func figuresOf(res *result.Result, added string) figures {
	f := figures{tolls: map[string][]float64{}, aa: map[string][]float64{}, spreads: map[string][]spread{}}
	for _, m := range metrics() {
		f.spreads[m] = spreads(res, m)
	}
	began, err1 := time.Parse(time.RFC3339, res.Started)
	ended, err2 := time.Parse(time.RFC3339, res.Finished)
	if err1 == nil && err2 == nil {
		f.took = ended.Sub(began)
	}
	for _, cell := range res.Cells {
		for _, m := range cell.Metrics {
			if d := m.Toll; cell.Network == added && m.Name == "rtt_p50" && d != nil && d.Delta.Low != nil {
				f.added = append(f.added, (*d.Delta.High-*d.Delta.Low)/2)
			}
			if cell.Network == catalog.Baseline || m.Toll == nil || m.Toll.Low == nil || !slices.Contains(metrics(), m.Name) {
				continue
			}
			f.all++
			if m.Toll.Verdict != string(stats.Inconclusive) {
				f.decided++
			}
			f.tolls[m.Name] = append(f.tolls[m.Name], (*m.Toll.High-*m.Toll.Low)/2)
			if math.Abs(m.Toll.Value) > matters {
				f.beyond++
				if m.Toll.Verdict != string(stats.Inconclusive) {
					f.known++
				}
			}
		}
	}
	for _, aa := range res.Noise.AA {
		f.aa[aa.Metric] = append(f.aa[aa.Metric], (aa.High-aa.Low)/2)
		if aa.Verdict == string(stats.Slower) || aa.Verdict == string(stats.Faster) {
			f.differs++
		}
	}
	return f
}

// joined are the figures of several runs, as if of one.
func joined(all []figures) figures {
	sum := figures{tolls: map[string][]float64{}, aa: map[string][]float64{}, spreads: map[string][]spread{}}
	for _, f := range all {
		sum.took += f.took / time.Duration(len(all))
		sum.known, sum.beyond, sum.differs = sum.known+f.known, sum.beyond+f.beyond, sum.differs+f.differs
		sum.decided, sum.all = sum.decided+f.decided, sum.all+f.all
		sum.added = append(sum.added, f.added...)
		for _, m := range metrics() {
			sum.tolls[m] = append(sum.tolls[m], f.tolls[m]...)
			sum.aa[m] = append(sum.aa[m], f.aa[m]...)
			sum.spreads[m] = append(sum.spreads[m], f.spreads[m]...)
		}
	}
	return sum
}

// worst is the largest of values; NaN: there are none.
func worst(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return slices.Max(values)
}
