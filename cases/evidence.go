package cases

import (
	"fmt"
	"math"
	"slices"

	"tare/network"
	"tare/result"
	"tare/stats"
)

// evidence is what was measured, by experiment.
type evidence map[string]*result.Result

// cell finds the cell of a spot; nil: there is none.
func (e evidence) cell(s spot) *result.Cell {
	res := e[s.experiment]
	if res == nil {
		return nil
	}
	for n := range res.Cells {
		c := &res.Cells[n]
		if c.Network != s.network || c.Path != s.path || c.Workload != s.workload {
			continue
		}
		if link, _ := c.Params["link"].(float64); s.link > 0 && result.BitsPerSecond(link) != s.link {
			continue
		}
		if has(c.Params, s.params) {
			return c
		}
	}
	return nil
}

// has tells whether a cell was measured with parameters of its network.
func has(params result.Params, asked result.Settings) bool {
	for name, value := range asked.Map() {
		if fmt.Sprint(params[name]) != value {
			return false
		}
	}
	return true
}

// lacks is why nothing was measured at a spot; empty: it was.
func (e evidence) lacks(s spot) string {
	c := e.cell(s)
	switch {
	case c == nil:
		if res := e[s.experiment]; res != nil {
			for _, skipped := range res.Plan.Skipped {
				if skipped.Name == s.network {
					return s.network + " is not here: " + skipped.Reason
				}
			}
		}
		return s.network + " was not measured on " + s.path
	case c.Status != result.StatusOK:
		return s.network + " " + c.Status + ": " + c.Reason
	case len(e.values(s)) == 0:
		return "no block of " + s.network + " has a " + s.metric
	}
	return ""
}

// standIn tells whether another data path stood for the spot's network.
func (e evidence) standIn(s spot) bool {
	c := e.cell(s)
	return c != nil && c.Fidelity == network.StandIn
}

// values are those of a spot by block: two where the baseline stands in both
// layouts, "a" first.
func (e evidence) values(s spot) map[int][]float64 {
	c := e.cell(s)
	if c == nil || c.Status != result.StatusOK {
		return nil
	}
	values := map[int][]float64{}
	for _, sample := range c.Samples {
		if v, known := valueOf(sample, s); known {
			at := len(values[sample.Block])
			if sample.Layout == "a" {
				at = 0
			}
			values[sample.Block] = slices.Insert(values[sample.Block], at, v)
		}
	}
	return values
}

func valueOf(sample result.Sample, s spot) (float64, bool) {
	if s.size == 0 {
		v, known := sample.Metrics[s.metric]
		return v, known
	}
	// A sweep tells round trips of the smaller sizes only: the first of its series.
	at, series := slices.Index(sample.Series["size"], float64(s.size)), sample.Series[s.metric]
	if at < 0 || at >= len(series) {
		return 0, false
	}
	return series[at], true
}

// metric is that of a spot's cell; nil: it has none, or the spot is one size of a
// sweep.
func (e evidence) metric(s spot) *result.Metric {
	c := e.cell(s)
	if c == nil || c.Status != result.StatusOK || s.size > 0 {
		return nil
	}
	n := slices.IndexFunc(c.Metrics, func(m result.Metric) bool { return m.Name == s.metric })
	if n < 0 {
		return nil
	}
	return &c.Metrics[n]
}

// value is what the blocks amount to; NaN: nothing was measured.
func (e evidence) value(s spot) float64 {
	if m := e.metric(s); m != nil {
		return m.Value
	}
	var all []float64
	for _, values := range e.values(s) {
		all = append(all, values...)
	}
	middle, _ := stats.HodgesLehmann(all)
	return middle.Value
}

// weighed is by how much one spot is worse than another.
type weighed struct {
	stats.Interval
	margins stats.Margins
	verdict stats.Verdict // that the first is slower, faster, equal, or not told
	whole   bool          // whether the interval is one of 95 %
}

// weigh sets one spot against another: block by block where both stood in the
// blocks of one experiment, else without pairs.
func (e evidence) weigh(s, than spot) weighed {
	direction := stats.HigherIsBetter
	if q, known := result.QuantityOf(s.metric); known && q.Better == result.Lower {
		direction = stats.LowerIsBetter
	}
	own, other := e.values(s), e.values(than)
	w := weighed{margins: stats.Margins{Declared: stats.DeclaredMargin, AA: wider(e.aa(s, direction), e.aa(than, direction))}}
	if s.experiment == than.experiment {
		w.Interval, w.whole = stats.Toll(stats.LogRatios(paired(own, other)), direction)
	} else {
		w.Interval, w.whole = stats.Change(logs(other), logs(own), direction)
	}
	w.verdict = stats.Inconclusive
	if w.whole {
		w.verdict = stats.Judge(w.Interval, w.margins)
	}
	return w
}

// aa is what the host shows against itself where the spot was measured.
func (e evidence) aa(s spot, direction stats.Direction) stats.Interval {
	var blocks []stats.Block
	for _, both := range e.values(s.host()) {
		if len(both) == 2 {
			blocks = append(blocks, stats.Block{Cell: both[0], Baselines: both[1:]})
		}
	}
	interval, _ := stats.Toll(stats.LogRatios(blocks), direction)
	return interval
}

// wider is the wider of two intervals; one that is not known is the widest.
func wider(a, b stats.Interval) stats.Interval {
	for _, i := range []stats.Interval{a, b} {
		if math.IsNaN(i.High - i.Low) {
			return stats.Interval{Low: math.Inf(-1), High: math.Inf(1)}
		}
	}
	if a.High-a.Low > b.High-b.Low {
		return a
	}
	return b
}

// paired joins the blocks of two spots; of two layouts of a cell the mean counts.
func paired(own, other map[int][]float64) []stats.Block {
	var blocks []stats.Block
	for block, values := range own {
		if baselines, stands := other[block]; stands {
			blocks = append(blocks, stats.Block{Cell: mean(values), Baselines: baselines})
		}
	}
	return blocks
}

func logs(values map[int][]float64) []float64 {
	var all []float64
	for _, v := range values {
		all = append(all, math.Log(mean(v)))
	}
	return all
}

// mean is the geometric one.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values)))
}
