package report

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"tare/result"
	"tare/stats"
)

// step is what a rung adds to the one below it.
type step struct {
	value    stats.Interval // seconds where the metric is a time, else a toll
	interval bool           // whether its ends are known
	pairs    int            // blocks that hold both rungs
	blocks   int            // blocks that hold the upper one
}

// step compares a rung with the one below it, block by block: a time by its
// difference, all else by its toll. ok is false where no block holds both.
func (l *ladder) step(r *rung, slot int) (s step, ok bool) {
	if r.parent == nil || r.cells[slot] == nil || r.parent.cells[slot] == nil {
		return step{}, false
	}
	metric := l.headlines[slot]
	upper, lower := perBlock(r.cells[slot], metric), perBlock(r.parent.cells[slot], metric)
	var ratios, differences []float64
	for _, block := range slices.Sorted(maps.Keys(upper)) {
		pair := stats.Block{Cell: upper[block][0], Baselines: lower[block]}
		if ratio, ok := pair.LogRatio(); ok {
			ratios = append(ratios, ratio)
			differences = append(differences, -pair.Cell*math.Expm1(-ratio))
		}
	}
	s.pairs, s.blocks = len(ratios), len(upper)
	if l.quantity(slot).Unit == "s" {
		s.value, s.interval = stats.HodgesLehmann(differences)
		return s, s.pairs > 0
	}
	direction := stats.HigherIsBetter
	if l.quantity(slot).Better == result.Lower {
		direction = stats.LowerIsBetter
	}
	s.value, s.interval = stats.Toll(ratios, direction)
	return s, s.pairs > 0
}

// quantity is the unit and direction of a headline.
func (l *ladder) quantity(slot int) result.Quantity {
	for _, c := range l.loads[slot].cells {
		if m := metricOf(c, l.headlines[slot]); m != nil {
			return result.Quantity{Name: m.Name, Unit: m.Unit, Better: m.Better}
		}
	}
	q, _ := result.QuantityOf(l.headlines[slot])
	return q
}

// tallerThanOne tells whether any rung stands on another than the baseline.
func (r *rung) tallerThanOne() bool {
	return slices.ContainsFunc(r.children, func(child *rung) bool { return len(child.children) > 0 })
}

// branch is a rung with the lines of the tree that lead to it.
type branch struct {
	*rung
	lines string
}

// tree lists a rung and all above it, each with its lines.
func tree(r *rung, lines, below string) []branch {
	list := []branch{{r, lines}}
	for i, child := range r.children {
		if i+1 < len(r.children) {
			list = append(list, tree(child, below+"├ ", below+"│ ")...)
		} else {
			list = append(list, tree(child, below+"└ ", below+"  ")...)
		}
	}
	return list
}

// ladder prints what each rung adds, where there is more than one rung.
func (p *page) ladder(g group, all []*load) {
	l, root := newLadder(p.words, g, all)
	if root == nil || !root.tallerThanOne() {
		return
	}
	var marks notes
	branches := tree(root, "", "")
	names := column{unit: p.say("ladder"), cells: make([]cell, len(branches))}
	texts := make([][]string, len(branches))
	for i, b := range branches {
		names.cells[i].text = b.lines + l.label(b.rung)
		texts[i] = l.standIn(b.rung)
	}
	marks.annotate(&names, texts)
	lines := grid{names}
	for slot := range l.loads {
		lines = append(lines, l.steps(branches, slot, &marks)...)
	}
	p.line("")
	p.print(lines)
	p.legend(&marks)
}

// standIn marks a rung that is another data path.
func (l *ladder) standIn(r *rung) []string {
	for _, c := range r.cells {
		if c != nil && l.fidelityNote(c) != "" {
			return []string{l.fidelityNote(c)}
		}
	}
	return []string{}
}

// steps is what the rungs add under one load: a column of numbers and one of
// their intervals; the baseline shows its own value.
func (l *ladder) steps(branches []branch, slot int, marks *notes) []column {
	steps := make([]step, len(branches))
	var sizes []float64
	for i, b := range branches {
		if s, ok := l.step(b.rung, slot); ok {
			steps[i] = s
			sizes = append(sizes, s.value.Value)
		}
	}
	s, unit := differenceScale("ratio", sizes...), l.say("toll_percent")
	if l.quantity(slot).Unit == "s" {
		s = differenceScale("s", sizes...)
		unit = l.say("added_unit", "unit", s.unit)
	}
	value := column{head: l.heading(l.headlines[slot]), unit: unit, right: true, cells: make([]cell, len(branches))}
	ends := column{joined: true, cells: make([]cell, len(branches))}
	texts := make([][]string, len(branches))
	for i, b := range branches {
		switch {
		case b.parent == nil:
			ends.cells[i].text = l.own(b.rung, slot)
		case steps[i].pairs == 0:
			value.cells[i].text = "-" + marks.mark([]string{
				l.say("no_pair", "workload", clean(l.loads[slot].key.workload))})
		default:
			value.cells[i].text, ends.cells[i].text = steps[i].write(s)
			texts[i] = steps[i].notes(l.words)
		}
	}
	marks.annotate(&value, texts)
	return []column{value, ends}
}

// own is the value of a rung itself.
func (l *ladder) own(r *rung, slot int) string {
	if r.cells[slot] == nil {
		return "-"
	}
	m := metricOf(r.cells[slot], l.headlines[slot])
	if m == nil {
		return "-"
	}
	return strings.TrimSpace(scaleFor(m.Unit, m.Value).withUnit(m.Value))
}

func (s step) write(in scale) (number, ends string) {
	if !s.interval {
		return in.difference(s.value.Value, nil, nil)
	}
	return in.difference(s.value.Value, &s.value.Low, &s.value.High)
}

// notes says what weakens a step.
func (s step) notes(w words) []string {
	texts := []string{}
	if s.pairs < s.blocks {
		texts = append(texts, w.say("unpaired_blocks", "blocks", w.count("block", s.blocks-s.pairs), "n", strconv.Itoa(s.blocks)))
	}
	if !s.interval && s.pairs < stats.MinBlocks {
		texts = append(texts, w.say("few_pairs", "pairs", w.count("pair", s.pairs), "n", strconv.Itoa(stats.MinBlocks)))
	}
	return texts
}
