package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tare/network"
	"tare/result"
	"tare/stats"
)

// verdicts is the last column: the verdict on the first headline, and that on
// the round trip behind it where it differs.
func (t *table) verdicts() column {
	c := column{unit: "verdict", cells: make([]cell, len(t.rows))}
	if len(t.loads) == 2 {
		c.unit += "/rtt"
	}
	for i, r := range t.rows {
		if r.network == network.Baseline && r.toll(0, t.headlines[0]) == nil {
			c.cells[i].text = "baseline"
			continue
		}
		first := r.toll(0, t.headlines[0])
		if len(t.loads) == 2 {
			c.cells[i] = bothVerdicts(first, r.toll(1, t.headlines[1]))
		} else {
			c.cells[i] = cell{verdictText(first), verdictStyle(first)}
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
func bothVerdicts(first, roundTrip *result.Toll) cell {
	switch {
	case first == nil && roundTrip == nil:
		return cell{verdictText(nil), verdictStyle(nil)}
	case first == nil:
		return cell{shortVerdict(first) + "/" + shortVerdict(roundTrip), verdictStyle(roundTrip)}
	case roundTrip == nil, first.Verdict != roundTrip.Verdict:
		return cell{shortVerdict(first) + "/" + shortVerdict(roundTrip), verdictStyle(first)}
	}
	later := first // what takes more blocks to tell
	if roundTrip.BlocksToSay == 0 || first.BlocksToSay > 0 && roundTrip.BlocksToSay > first.BlocksToSay {
		later = roundTrip
	}
	return cell{verdictText(later), verdictStyle(later)}
}

func inconclusive(toll *result.Toll) bool {
	return toll.Verdict == string(stats.Inconclusive)
}

// verdictText is a verdict in full: "slower", "? 24 blocks", "inconclusive".
func verdictText(toll *result.Toll) string {
	switch {
	case toll == nil:
		return "not paired"
	case inconclusive(toll) && toll.BlocksToSay > 0:
		return "? " + strconv.Itoa(toll.BlocksToSay) + " blocks"
	}
	return clip(clean(toll.Verdict), 12)
}

// shortVerdict is a verdict that shares its place: "slower", "? 24", "?", "-".
func shortVerdict(toll *result.Toll) string {
	switch {
	case toll == nil:
		return "-"
	case inconclusive(toll) && toll.BlocksToSay > 0:
		return "? " + strconv.Itoa(toll.BlocksToSay)
	case inconclusive(toll):
		return "?"
	}
	return verdictText(toll)
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

// foot says how far the table can be trusted: its comparisons, margins and
// blocks.
func (t *table) foot(res *result.Result) []string {
	var lines, margins []string
	comparisons := 0
	for slot, metric := range t.headlines {
		if n, text := t.margin(res, slot, metric); n > 0 {
			comparisons += n
			margins = append(margins, text)
		} else if aa, ok := t.loads[slot].widestAA(res, metric); ok {
			lines = append(lines, heading(metric)+": host against itself (A/A) ±"+percent(aa))
		}
	}
	if comparisons > 0 {
		lines = append(lines, plural(comparisons, "comparison")+", "+strings.Join(margins, ", "))
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
		lines = append(lines, fmt.Sprintf("%s: too few for intervals and verdicts, which take %d", plural(few, "block"), stats.MinBlocks))
	}
	if unsure {
		lines = append(lines, "?: inconclusive; with a number, about so many blocks would tell")
	}
	lines = append(lines, t.containersFoot()...)
	if t.hasVethReference() {
		lines = append(lines, "host is its own loopback here; veth is the second reference: the least that any container costs")
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
	if len(t.loads) > 1 {
		text = heading(metric) + " "
	}
	text += "margin " + percent(slices.Min(margins))
	if most := percent(slices.Max(margins)); most != percent(slices.Min(margins)) {
		text += " to " + most
	}
	if aa, ok := t.loads[slot].widestAA(res, metric); ok {
		text += " (A/A " + percent(aa) + ")"
	} else {
		text += " (no A/A interval)"
	}
	return len(margins), text
}

// widestAA is the half-width of the widest interval between the two baselines
// of a load. ok is false where there is none.
func (l *load) widestAA(res *result.Result, metric string) (halfWidth float64, ok bool) {
	for _, aa := range res.Noise.AA {
		if aa.Metric == metric && l.matches(aa) {
			halfWidth = max(halfWidth, halfWidthOf(aa))
		}
	}
	return halfWidth, halfWidth > 0
}

// matches tells whether an A/A comparison is one of the load's.
func (l *load) matches(aa result.AA) bool {
	return aa.Path == l.key.path && aa.Workload == l.key.workload && agree(l.cells[0].Params, aa.Params)
}

func halfWidthOf(aa result.AA) float64 { return math.Abs(aa.High-aa.Low) / 2 }

// hasVethReference tells whether the baseline is a loopback and veth stands
// beside it.
func (t *table) hasVethReference() bool {
	if !network.Within(t.loads[0].key.path) {
		return false
	}
	return slices.ContainsFunc(t.rows, func(r row) bool { return r.network == "veth" })
}
