package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"tare/result"
	"tare/weigh"
)

// viewSize is what one message size took, the medians over the blocks.
type viewSize struct {
	Size  float64  `json:"size"`          // bytes
	Value float64  `json:"value"`         // bit/s
	RTT   *float64 `json:"rtt,omitempty"` // s, the median round trip; absent where the sweep has none of that size
	N     int      `json:"n"`             // windows
}

// viewLoad is the outcome of the trials at about one offered load.
type viewLoad struct {
	Offered  float64  `json:"offered"`           // 1/s, the median
	Received float64  `json:"received"`          // 1/s, the median
	Loss     float64  `json:"loss"`              // a ratio, the mean
	Softirq  *float64 `json:"softirq,omitempty"` // share of the time of the CPU that is busiest with it, the mean; absent where the trials were too short to measure it
	N        int      `json:"n"`                 // trials
}

// viewWithin are the intervals of a network's windows, one window after the
// other; of a baseline those of one layout.
type viewWithin struct {
	Metric      string    `json:"metric"` // throughput, rate or rtt_p50
	Step        float64   `json:"step"`   // length of an interval, s, to two figures
	Values      []float64 `json:"values"`
	Retransmits []float64 `json:"retransmits,omitempty"` // in each interval, where they were counted
	P90         []float64 `json:"p90,omitempty"`         // of rtt_p50: what a tenth of an interval's round trips take longer than
}

// blocksOf are the values of a metric with their blocks; of both layouts of a
// baseline the mean.
func blocksOf(c *result.Cell, name string) [][2]float64 {
	blocks := [][2]float64{}
	if c.Status != result.StatusOK {
		return blocks
	}
	for _, b := range weigh.BlocksOf(c, name) {
		blocks = append(blocks, [2]float64{float64(b.N), b.Mean()})
	}
	return blocks
}

// sizesOf are the throughputs and round trips of a sweep over message sizes;
// none where the cell swept nothing.
func sizesOf(c *result.Cell) []viewSize {
	carried, trips := map[float64][]float64{}, map[float64][]float64{}
	for _, s := range c.Samples {
		sizes, values, rtt := s.Series["size"], s.Series["throughput"], s.Series["rtt_p50"]
		if len(sizes) == 0 || len(sizes) != len(values) {
			continue
		}
		for n, size := range sizes {
			carried[size] = append(carried[size], values[n])
			if n < len(rtt) { // of the smaller sizes alone, which are the first
				trips[size] = append(trips[size], rtt[n])
			}
		}
	}
	var all []viewSize
	for _, size := range slices.Sorted(maps.Keys(carried)) {
		v := viewSize{Size: size, Value: median(carried[size]), N: len(carried[size])}
		if len(trips[size]) > 0 {
			rtt := median(trips[size])
			v.RTT = &rtt
		}
		all = append(all, v)
	}
	return all
}

// trial is one load that was offered, and what the receiver's CPUs did.
type trial struct {
	offered, received, loss float64
	length                  float64            // s
	softirq                 map[string]float64 // share of the time, by CPU
}

// mostLoads is how many loads a curve is drawn by: trials at about the same are
// put together.
const mostLoads = 24

// loadCurve is what was received over what was offered; none where the cell has
// no trials.
func loadCurve(c *result.Cell) []viewLoad {
	var trials []trial
	for _, s := range c.Samples {
		trials = append(trials, trialsOf(s)...)
	}
	slices.SortFunc(trials, func(a, b trial) int { return cmp.Compare(a.offered, b.offered) })
	var curve []viewLoad
	for bin, bins := 0, min(mostLoads, len(trials)); bin < bins; bin++ {
		curve = append(curve, together(trials[bin*len(trials)/bins:(bin+1)*len(trials)/bins]))
	}
	return curve
}

func trialsOf(s result.Sample) []trial {
	offered, received, loss := s.Series["offered"], s.Series["received"], s.Series["loss"]
	if len(offered) != len(received) || len(offered) != len(loss) {
		return nil
	}
	trials := make([]trial, len(offered))
	for n := range trials {
		trials[n] = trial{offered[n], received[n], loss[n], s.Counters["trial_duration"], map[string]float64{}}
		for name, shares := range s.Series {
			if cpu, is := strings.CutPrefix(name, "softirq_cpu"); is && n < len(shares) {
				trials[n].softirq[cpu] = shares[n]
			}
		}
	}
	return trials
}

// leastForShare is the shortest time over which a share of CPU time is shown, s: its
// clock ticks every 10 ms at worst, and a trial may be shorter.
const leastForShare = 0.1

// together is the result of several trials.
func together(trials []trial) viewLoad {
	length := 0.0
	var offered, received, loss []float64
	softirq := map[string][]float64{}
	for _, t := range trials {
		offered, received, loss = append(offered, t.offered), append(received, t.received), append(loss, t.loss)
		length += t.length
		for cpu, share := range t.softirq {
			softirq[cpu] = append(softirq[cpu], share)
		}
	}
	v := viewLoad{Offered: median(offered), Received: median(received), Loss: mean(loss), N: len(trials)}
	if length < leastForShare {
		return v
	}
	for _, shares := range softirq {
		if share := mean(shares); v.Softirq == nil || share > *v.Softirq {
			v.Softirq = &share
		}
	}
	return v
}

// mostSteps is how many intervals of a network are drawn.
const mostSteps = 400

// withinOf are the intervals of a cell's windows; nil where it has none, or its
// series are no time's.
func withinOf(c *result.Cell) *viewWithin {
	v, lasted := viewWithin{Metric: "throughput"}, 0.0
	for _, metric := range []string{"rate", "rtt_p50"} {
		if len(c.Samples) > 0 && len(c.Samples[0].Series["throughput"]) == 0 && len(c.Samples[0].Series[metric]) > 0 {
			v.Metric = metric
		}
	}
	for _, s := range c.Samples {
		values := s.Series[v.Metric]
		if s.Layout == "b" || len(values) == 0 || len(s.Series["size"]) > 0 {
			continue
		}
		lasted += stepEnds(c, s, len(values))[len(values)-1]
		v.Values = append(v.Values, values...)
		v.P90 = append(v.P90, s.Series["rtt_p90"]...)
		if again := s.Series["retransmits"]; len(again) >= len(values) {
			v.Retransmits = append(v.Retransmits, again[:len(values)]...)
		}
	}
	if len(v.Values) < 2 {
		return nil
	}
	if len(v.P90) != len(v.Values) {
		v.P90 = nil
	}
	if len(v.Retransmits) != len(v.Values) {
		v.Retransmits = nil
	}
	by := (len(v.Values) + mostSteps - 1) / mostSteps
	v.Step = twoFigures(lasted/float64(len(v.Values))) * float64(by)
	if !(v.Step > 0) || math.IsInf(v.Step, 1) { // no times, or impossible ones
		return nil
	}
	v.Values, v.P90 = joined(v.Values, by, mean), joined(v.P90, by, mean)
	v.Retransmits = joined(v.Retransmits, by, func(values []float64) float64 { return mean(values) * float64(len(values)) })
	return &v
}

// stepEnds is when each step of a sample's series over time ended, in s from the
// window's opening. If the result does not have these times, the window is divided
// into equal parts; zeroes if its length is unknown too.
func stepEnds(c *result.Cell, s result.Sample, steps int) []float64 {
	if ends := s.Series[result.StepEnds]; len(ends) >= steps {
		return ends[:steps]
	}
	ends := make([]float64, steps)
	for n := range ends {
		ends[n] = c.Params.Number("duration") * float64(n+1) / float64(steps)
	}
	return ends
}

// twoFigures rounds a number above zero. The clocks of two windows differ by less.
func twoFigures(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return math.Round(v/unit) * unit
}

// joined puts so many neighbours together.
func joined(values []float64, by int, join func([]float64) float64) []float64 {
	var out []float64
	for part := range slices.Chunk(values, by) {
		out = append(out, join(part))
	}
	return out
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// mean does not overflow where its values are near the largest there is.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return math.Max(-math.MaxFloat64, math.Min(sum, math.MaxFloat64))
}
