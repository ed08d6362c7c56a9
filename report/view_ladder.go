package report

import (
	"math"

	"tare/result"
	"tare/stats"
)

// viewRung is one network on the ladder of a group.
type viewRung struct {
	Label    string    `json:"label"`
	Parent   string    `json:"parent"` // the label of the rung below, "" for the baseline
	Fidelity string    `json:"fidelity"`
	Level    float64   `json:"level"`          // where it stands, in the metric's unit: the baseline's value and all steps up to here
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

// ladderView is the ladder of a load, from the baseline up; none where no rung
// stands on another than the baseline, or a level is not known.
func ladderView(l *load, loads []*load) []viewRung {
	ladder, root := newLadder(wordsOf(English), group{loads: []*load{l}}, loads)
	if root == nil || !root.tallerThanOne() || root.cells[0] == nil {
		return nil
	}
	base := metricOf(root.cells[0], ladder.headlines[0])
	if base == nil || !finite(base.Value) {
		return nil
	}
	return ladder.climb(root, viewRung{Label: ladder.label(root), Fidelity: root.cells[0].Fidelity, Level: base.Value})
}

// climb lists a rung and all above it.
func (l *ladder) climb(r *rung, shown viewRung) []viewRung {
	list := []viewRung{shown}
	for _, child := range r.children {
		above := viewRung{Label: l.label(child), Parent: shown.Label, Level: shown.Level}
		if c := child.cells[0]; c != nil {
			above.Fidelity = c.Fidelity
		}
		if s, ok := l.step(child, 0); ok {
			above.climbs(s, l.quantity(0))
		}
		list = append(list, l.climb(child, above)...)
	}
	return list
}

// climbs takes the rung to its level, from that of the rung below.
func (v *viewRung) climbs(s step, q result.Quantity) {
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
	if !finite(s.value.Value, level(s.value.Value)) {
		return
	}
	v.Level = level(s.value.Value)
	v.Step = &viewStep{N: s.pairs, Value: s.value.Value, From: from}
	if low, high := level(s.value.Low), level(s.value.High); s.interval && s.pairs >= stats.MinBlocks && finite(s.value.Low, s.value.High, low, high) {
		v.Step.Low, v.Step.High, v.Step.ToLow, v.Step.ToHigh = &s.value.Low, &s.value.High, &low, &high
	}
}

// finite tells whether JSON has a word for all the values.
func finite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
