package diagnose

import (
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
	"tare/weigh"
)

// Divide gives the cells of a result the causes and shares that a contrast shows: the
// same cells measured next to others that divide their tolls. What the network costs by
// itself is as the contrast has it. What was changed in the lab is named by the cell's
// own findings, and has the share by which an untouched lab's toll is less.
func Divide(res, contrast *result.Result, lab string) {
	Weigh(contrast, lab)
	groups, all := weigh.Groups(contrast), weigh.Groups(res)
	for n := range res.Cells {
		cell := &res.Cells[n]
		again := weigh.Same(contrast, cell)
		if again == nil || cell.Status != result.StatusOK || cell.Network == catalog.Baseline {
			continue
		}
		if _, slow := slower(again); !slow {
			continue
		}
		e := weighed(contrast, groups, again, lab)
		faults := without(cell.Findings, e.ownCost)
		own := without(again.Findings, func(f result.Finding) bool { return !e.ownCost(f) })
		if p, compared := e.changed(); compared {
			faults = e.changes(faults, again.Findings, p)
		}
		cheaper := weighed(res, all, cell, lab).cheaper() // the result has other networks than the contrast
		for _, name := range e.cheaper() {
			cheaper = result.AddOnce(cheaper, name)
		}
		was, is := e.nature(), e.natureBeside(cheaper)
		for n := range own {
			own[n].Fix = strings.Replace(own[n].Fix, was, is, 1)
		}
		cell.Findings = append(faults, own...)
		settle(cell)
	}
	for _, cell := range contrast.Cells {
		cell.Samples, cell.Findings = []result.Sample{}, []result.Finding{}
		res.Contrasts = append(res.Contrasts, cell)
	}
}

// changes gives the first of the findings that name a change of the lab the share of all
// changes. Without one, what the contrast found says that there is a change.
func (e *Evidence) changes(faults, found []result.Finding, p weigh.Part) []result.Finding {
	if len(faults) == 0 {
		return without(found, e.ownCost)
	}
	m, _ := slower(e.Cell)
	// What is known to take next to nothing is not what was changed, if anything else may be.
	at := max(0, slices.IndexFunc(faults, func(f result.Finding) bool { return f.Share == 0 || f.Share >= weigh.LeastPart }))
	for n := range faults {
		faults[n].Share, faults[n].Low, faults[n].High = 0, nil, nil
	}
	first := &faults[at]
	first.Evidence = append(first.Evidence, tollAs(e.Network+" in an untouched lab", p.Below, m.Name))
	*first = explaining(p, *first)
	if p.Whole && p.Share.High < weigh.LeastPart {
		first.Confidence *= doubted
	}
	return faults
}

// ownCost reports whether a finding is of what the network costs by itself, in any lab.
func (e *Evidence) ownCost(f result.Finding) bool {
	kind, _ := catalog.FindNetwork(e.Network)
	switch f.ID {
	case rungID, "tunnel-segmentation", "size-rank":
		return true
	case "encapsulation-cost":
		return kind.Encapsulates()
	case "many-rules":
		return e.Rules > 0
	case "nat-cost":
		return kind.Facts.NAT
	case "userland-proxy":
		return kind.Facts.Relays
	}
	return false
}

// without are the findings that something does not hold of.
func without(all []result.Finding, holds func(result.Finding) bool) []result.Finding {
	kept := []result.Finding{}
	for _, f := range all {
		if !holds(f) {
			kept = append(kept, f)
		}
	}
	return kept
}
