package report

import (
	"math"
	"slices"
	"strconv"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// verdicts is the last column: the verdict on the first headline, and that on
// the round trip behind it where it differs.
func (t *table) verdicts() column {
	c := column{unit: t.say("verdict"), cells: make([]cell, len(t.rows))}
	if len(t.groups) == 2 {
		c.unit += "/rtt"
	}
	for i, r := range t.rows {
		if r.network == catalog.Baseline && r.toll(0, t.headlines[0]) == nil {
			c.cells[i].text = t.say("baseline")
			continue
		}
		first := r.toll(0, t.headlines[0])
		if len(t.groups) == 2 {
			c.cells[i] = t.bothVerdicts(first, r.toll(1, t.headlines[1]))
		} else {
			c.cells[i] = cell{t.verdictText(first), verdictStyle(first)}
		}
	}
	return c
}

// toll is the toll of a metric, nil where there is none.
func (r row) toll(slot int, metric string) *result.Toll {
	if m := r.metric(slot, metric); m != nil {
		return m.Toll
	}
	return nil
}

// bothVerdicts is one verdict where two agree, else both: "equal/slower".
func (w words) bothVerdicts(first, roundTrip *result.Toll) cell {
	switch {
	case first == nil && roundTrip == nil:
		return cell{w.verdictText(nil), verdictStyle(nil)}
	case first == nil:
		return cell{w.shortVerdict(first) + "/" + w.shortVerdict(roundTrip), verdictStyle(roundTrip)}
	case roundTrip == nil, first.Verdict != roundTrip.Verdict:
		return cell{w.shortVerdict(first) + "/" + w.shortVerdict(roundTrip), verdictStyle(first)}
	}
	later := first // what takes more blocks to decide
	if roundTrip.BlocksToSay == 0 || first.BlocksToSay > 0 && roundTrip.BlocksToSay > first.BlocksToSay {
		later = roundTrip
	}
	return cell{w.verdictText(later), verdictStyle(later)}
}

func inconclusive(toll *result.Toll) bool {
	return toll.Verdict == string(stats.Inconclusive)
}

// verdictText is a verdict in full: "slower", "? 24 blocks", "inconclusive".
func (w words) verdictText(toll *result.Toll) string {
	switch {
	case toll == nil:
		return w.say("not_paired")
	case inconclusive(toll) && toll.BlocksToSay > 0:
		return w.say("undecided_blocks", "n", strconv.Itoa(toll.BlocksToSay))
	}
	return clip(w.state(toll.Verdict), 12)
}

// shortVerdict is a verdict that shares its place: "slower", "? 24", "?", "-".
func (w words) shortVerdict(toll *result.Toll) string {
	switch {
	case toll == nil:
		return "-"
	case inconclusive(toll) && toll.BlocksToSay > 0:
		return "? " + strconv.Itoa(toll.BlocksToSay)
	case inconclusive(toll):
		return "?"
	}
	return w.verdictText(toll)
}

func verdictStyle(toll *result.Toll) style {
	if toll == nil {
		return yellow
	}
	return styleOf(toll.Verdict)
}

func styleOf(verdict string) style {
	switch stats.Verdict(verdict) {
	case stats.Slower:
		return red
	case stats.Faster, stats.Equal:
		return green
	}
	return yellow
}

// foot is how far the table can be trusted: its comparisons, margins and
// blocks.
func (t *table) foot(res *result.Result) []string {
	var lines, margins []string
	comparisons := 0
	for slot, metric := range t.headlines {
		if n, text := t.margin(res, slot, metric); n > 0 {
			comparisons += n
			margins = append(margins, text)
		} else if aa, ok := widestAA(t.groups[slot], res, metric); ok {
			lines = append(lines, t.of(t.heading(metric), t.say("aa", "share", percent(aa))))
		}
	}
	if comparisons > 0 {
		lines = append(lines, t.join(append([]string{t.count("comparison", comparisons)}, margins...)...))
	}
	unsure, few := false, 0
	for _, r := range t.rows {
		for slot, metric := range t.headlines {
			m := r.metric(slot, metric)
			if m == nil || m.Toll == nil {
				continue
			}
			unsure = unsure || inconclusive(m.Toll)
			if m.Toll.Low == nil && m.N < stats.MinBlocks {
				few = max(few, m.N)
			}
		}
	}
	if few > 0 {
		lines = append(lines, t.say("few_blocks", "blocks", t.count("block", few), "n", strconv.Itoa(stats.MinBlocks)))
	}
	if unsure {
		lines = append(lines, t.say("undecided_text"))
	}
	lines = append(lines, t.containersFoot()...)
	if t.hasVethReference() {
		lines = append(lines, t.say("veth_reference"))
	}
	return lines
}

// margin counts the tolls of a headline and gives the margin used for them.
func (t *table) margin(res *result.Result, slot int, metric string) (tolls int, text string) {
	var margins []float64
	for _, r := range t.rows {
		if toll := r.toll(slot, metric); toll != nil {
			margins = append(margins, toll.Margin)
		}
	}
	if len(margins) == 0 {
		return 0, ""
	}
	if len(t.groups) > 1 {
		text = t.heading(metric) + " "
	}
	least, most := percent(slices.Min(margins)), percent(slices.Max(margins))
	if least == most {
		text += t.say("margin", "low", least)
	} else {
		text += t.say("margins", "low", least, "high", most)
	}
	if aa, ok := widestAA(t.groups[slot], res, metric); ok {
		return len(margins), text + t.aside("A/A "+percent(aa))
	}
	return len(margins), text + t.aside(t.say("no_aa_interval"))
}

// widestAA is the half-width of the widest interval between the two baselines
// of a group. ok is false where there is none.
func widestAA(g *weigh.Group, res *result.Result, metric string) (halfWidth float64, ok bool) {
	for _, aa := range res.Noise.AA {
		if aa.Metric == metric && matches(g, aa) {
			halfWidth = max(halfWidth, halfWidthOf(aa))
		}
	}
	return halfWidth, halfWidth > 0
}

// matches reports whether an A/A comparison is one of the group's.
func matches(g *weigh.Group, aa result.AA) bool {
	return aa.Path == g.Path && aa.Workload == g.Workload && g.Params.Number("link") == aa.Params.Number("link") && g.Params.Agree(aa.Params)
}

func halfWidthOf(aa result.AA) float64 { return math.Abs(aa.High-aa.Low) / 2 }

// hasVethReference reports whether the baseline is a loopback, and the least that
// any namespace costs was measured too.
func (t *table) hasVethReference() bool {
	if !catalog.Within(t.groups[0].Path) {
		return false
	}
	return slices.ContainsFunc(t.rows, func(r row) bool {
		n, _ := catalog.FindNetwork(r.network)
		return n.Least
	})
}
