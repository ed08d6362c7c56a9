package report

import (
	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// viewRung is one network on the ladder of a group.
type viewRung struct {
	Label    string    `json:"label"`
	Parent   string    `json:"parent"` // the label of the rung below, "" for the baseline
	Fidelity string    `json:"fidelity"`
	Level    float64   `json:"level"`          // where it is, in the metric's unit: the baseline's value and all steps up to here
	Step     *viewStep `json:"step,omitempty"` // absent for the baseline, and where no block holds both rungs
}

// viewStep is what a rung adds to the one below it: seconds where the metric is
// a time, else a toll, a ratio.
type viewStep struct {
	N      int      `json:"n"` // blocks that hold both
	Value  float64  `json:"value"`
	Low    *float64 `json:"low,omitempty"`
	High   *float64 `json:"high,omitempty"`
	From   float64  `json:"from"` // the level of the rung below, in the metric's unit
	ToLow  *float64 `json:"to_low,omitempty"`
	ToHigh *float64 `json:"to_high,omitempty"` // the levels that the interval's ends lead to
}

// ladderView is the ladder of a group, from the baseline up; none where every rung
// has the baseline as its parent, or a level is not known.
func ladderView(g *weigh.Group, groups []*weigh.Group) []viewRung {
	l := newLadder(wordsOf(English), []*weigh.Group{g}, groups)
	if l.Root == nil || !l.Root.TallerThanOne() || l.Root.Cells[0] == nil {
		return nil
	}
	base := weigh.Metric(l.Root.Cells[0], l.Metrics[0])
	if base == nil || !result.Finite(base.Value) {
		return nil
	}
	return l.climb(l.Root, viewRung{Label: l.label(l.Root), Fidelity: l.Root.Cells[0].Fidelity, Level: base.Value})
}

// climb lists a rung and all rungs above it.
func (l ladder) climb(r *weigh.Rung, shown viewRung) []viewRung {
	list := []viewRung{shown}
	for _, child := range r.Children {
		above := viewRung{Label: l.label(child), Parent: shown.Label, Level: shown.Level}
		if c := child.Cells[0]; c != nil {
			above.Fidelity = c.Fidelity
		}
		if s, ok := l.Step(child, 0); ok {
			above.climbs(s, l.Quantity(0))
		}
		list = append(list, l.climb(child, above)...)
	}
	return list
}

// climbs takes the rung to its level, from that of the rung below.
func (v *viewRung) climbs(s weigh.Step, q result.Quantity) {
	from := v.Level
	level := func(added float64) float64 {
		switch {
		case q.Unit == "s":
			return from + added
		case q.Better == result.Lower:
			return from * (1 + added)
		}
		return from * (1 - added)
	}
	if !result.Finite(s.Value, level(s.Value)) {
		return
	}
	v.Level = level(s.Value)
	v.Step = &viewStep{N: s.Pairs, Value: s.Value, From: from}
	if low, high := level(s.Low), level(s.High); s.Whole && s.Pairs >= stats.MinBlocks && result.Finite(s.Low, s.High, low, high) {
		v.Step.Low, v.Step.High, v.Step.ToLow, v.Step.ToHigh = &s.Low, &s.High, &low, &high
	}
}
