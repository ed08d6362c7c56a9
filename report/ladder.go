package report

import (
	"strconv"
	"strings"

	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// ladder is what each network of a section adds to its parent, as people read it.
type ladder struct {
	words
	*weigh.Ladder
}

// newLadder is the ladder of some groups; all are those of the result.
func newLadder(w words, groups, all []*weigh.Group) ladder {
	var headlines []string
	for _, g := range groups {
		headlines = append(headlines, headline(g))
	}
	return ladder{w, weigh.NewLadder(groups, headlines, all)}
}

// label is how the rung is called: "bridge (as route, host-to-container)".
func (l ladder) label(r *weigh.Rung) string {
	name, details := clip(result.Plain(r.Key.Network), 24), []string{}
	if r.As != "" {
		name, details = r.As, []string{l.say("rung_as", "name", name)}
	}
	if r.Key.Twin {
		details = append(details, l.Twin)
	}
	if r.Key.Settings != "" {
		details = append(details, clip(result.Plain(r.Key.Settings.String()), mostLabel))
	}
	if len(details) > 0 {
		name += l.aside(l.join(details...))
	}
	return name
}

// branch is a rung with the lines of the tree that lead to it.
type branch struct {
	*weigh.Rung
	lines string
}

// tree lists a rung and all above it, each with its lines.
func tree(r *weigh.Rung, lines, below string) []branch {
	list := []branch{{r, lines}}
	for i, child := range r.Children {
		if i+1 < len(r.Children) {
			list = append(list, tree(child, below+"├ ", below+"│ ")...)
		} else {
			list = append(list, tree(child, below+"└ ", below+"  ")...)
		}
	}
	return list
}

// ladder prints what each rung adds, where there is more than one rung.
func (p *page) ladder(groups, all []*weigh.Group) {
	l := newLadder(p.words, groups, all)
	if l.Root == nil || !l.Root.TallerThanOne() {
		return
	}
	var marks notes
	branches := tree(l.Root, "", "")
	names := column{unit: p.say("ladder"), cells: make([]cell, len(branches))}
	texts := make([][]string, len(branches))
	for i, b := range branches {
		names.cells[i].text = b.lines + l.label(b.Rung)
		texts[i] = l.standIn(b.Rung)
	}
	marks.annotate(&names, texts)
	lines := grid{names}
	for slot := range l.Groups {
		lines = append(lines, l.steps(branches, slot, &marks)...)
	}
	p.line("")
	p.print(lines)
	p.legend(&marks)
}

// standIn marks a rung that is not the real data path.
func (l ladder) standIn(r *weigh.Rung) []string {
	for _, c := range r.Cells {
		if c != nil && l.fidelityNote(c) != "" {
			return []string{l.fidelityNote(c)}
		}
	}
	return []string{}
}

// steps is what the rungs add under one load: a column of numbers and one of
// their intervals; the baseline shows its own value.
func (l ladder) steps(branches []branch, slot int, marks *notes) []column {
	steps := make([]weigh.Step, len(branches))
	var sizes []float64
	for i, b := range branches {
		if s, ok := l.Step(b.Rung, slot); ok {
			steps[i] = s
			sizes = append(sizes, s.Value)
		}
	}
	s, unit := differenceScale("ratio", sizes...), l.say("toll_percent")
	if l.Quantity(slot).Unit == "s" {
		s = differenceScale("s", sizes...)
		unit = l.say("added_unit", "unit", s.unit)
	}
	value := column{head: l.heading(l.Metrics[slot]), unit: unit, right: true, cells: make([]cell, len(branches))}
	ends := column{joined: true, cells: make([]cell, len(branches))}
	texts := make([][]string, len(branches))
	for i, b := range branches {
		switch {
		case b.Parent == nil:
			ends.cells[i].text = l.own(b.Rung, slot)
		case steps[i].Pairs == 0:
			value.cells[i].text = "-" + marks.mark([]string{
				l.say("no_pair", "workload", result.Plain(l.Groups[slot].Workload))})
		default:
			value.cells[i].text, ends.cells[i].text = writeStep(steps[i], s)
			texts[i] = l.stepNotes(steps[i])
		}
	}
	marks.annotate(&value, texts)
	return []column{value, ends}
}

// own is the value of a rung itself.
func (l ladder) own(r *weigh.Rung, slot int) string {
	if r.Cells[slot] == nil {
		return "-"
	}
	m := weigh.Metric(r.Cells[slot], l.Metrics[slot])
	if m == nil {
		return "-"
	}
	return strings.TrimSpace(scaleFor(m.Unit, m.Value).withUnit(m.Value))
}

func writeStep(s weigh.Step, in scale) (number, ends string) {
	if !s.Whole {
		return in.difference(s.Value, nil, nil)
	}
	return in.difference(s.Value, &s.Low, &s.High)
}

// stepNotes are the reasons to trust a step less.
func (w words) stepNotes(s weigh.Step) []string {
	texts := []string{}
	if s.Pairs < s.Blocks {
		texts = append(texts, w.say("unpaired_blocks", "blocks", w.count("block", s.Blocks-s.Pairs), "n", strconv.Itoa(s.Blocks)))
	}
	if !s.Whole && s.Pairs < stats.MinBlocks {
		texts = append(texts, w.say("few_pairs", "pairs", w.count("pair", s.Pairs), "n", strconv.Itoa(stats.MinBlocks)))
	}
	return texts
}
