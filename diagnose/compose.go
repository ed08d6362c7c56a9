package diagnose

import (
	"cmp"
	"slices"

	"tare/catalog"
	"tare/result"
)

// compose makes the shares of one cell's findings parts of one whole: together they are at
// most all of the toll. Each finding by itself may claim too much: of what was measured, a
// part below zero leaves more than the whole to the others; what was counted may be of the
// same time as what was measured.
//
// What was measured, as a difference between two cells of the run, has precedence over what
// a rule computes from counters. Those that rest on the same kind of evidence give way in
// proportion: nothing says which of them is too large. An interval ends where the least of
// the others begins. One that has no width is none: it comes from the bounds, not from blocks.
func compose(found []result.Finding) {
	left := 1.0
	for _, models := range []bool{false, true} {
		sum := 0.0
		for n := range found {
			if modelled(found[n]) == models {
				sum += found[n].Share
			}
		}
		if sum > left {
			for n := range found {
				if modelled(found[n]) == models {
					scale(&found[n], left/sum)
				}
			}
			sum = left
		}
		left -= sum
	}
	bound(found)
}

// settle composes the findings of a cell, and sorts them. That a network costs what it adds is no
// cause where it is one that tare did not build, nor beside findings whose share nobody knows:
// what it adds holds theirs.
func settle(cell *result.Cell) {
	unsized := slices.ContainsFunc(cell.Findings, func(f result.Finding) bool { return f.ID != rungID && f.Share == 0 })
	if unsized || !catalog.Builds(cell.Network) {
		cell.Findings = slices.DeleteFunc(cell.Findings, func(f result.Finding) bool { return ofItself(f, cell.Network) })
	}
	leave(cell)
	compose(cell.Findings)
	Rank(cell.Findings)
}

// leave takes from what a network adds to a rate what is known to be none of it: all, where that has no size. Pauses of a
// process do not change the median of round trips.
func leave(cell *result.Cell) {
	m, slow := slower(cell)
	if !slow || m.Better != result.Higher {
		return
	}
	apart := 0.0
	for _, f := range cell.Findings {
		if slices.ContainsFunc(Costs(), func(r Rule) bool { return r.ID == f.ID && r.Apart }) {
			apart += cmp.Or(f.Share, 1)
		}
	}
	if apart == 0 {
		return
	}
	for n := range cell.Findings {
		if f := &cell.Findings[n]; ofItself(*f, cell.Network) || amongOthers(*f, cell.Network) {
			limit(f, max(0, 1-apart))
		}
	}
	cell.Findings = slices.DeleteFunc(cell.Findings, func(f result.Finding) bool { return f.ID == rungID && f.Share == 0 })
}

// modelled reports whether a finding's share is computed, and not measured.
func modelled(f result.Finding) bool {
	return slices.ContainsFunc(Costs(), func(r Rule) bool { return r.ID == f.ID && r.Models })
}

// scale makes a share and its interval smaller.
func scale(f *result.Finding, by float64) {
	f.Share *= by
	if f.Low != nil {
		f.Low, f.High = ends(*f.Low*by, *f.High)
	}
}

// bound ends each interval where the shares of the others begin.
func bound(found []result.Finding) {
	sum := 0.0
	for _, f := range found {
		sum += atLeast(f)
	}
	for n := range found {
		if f := &found[n]; f.Low != nil {
			f.Low, f.High = ends(*f.Low, max(f.Share, min(*f.High, 1-(sum-atLeast(*f)))))
		}
	}
}

// atLeast is the least that a share may be.
func atLeast(f result.Finding) float64 {
	if f.Low != nil {
		return *f.Low
	}
	return f.Share
}

// limit bounds a share and its interval from above.
func limit(f *result.Finding, most float64) {
	f.Share = max(0, min(f.Share, most))
	if f.Low != nil {
		f.Low, f.High = ends(min(*f.Low, f.Share), min(*f.High, max(f.Share, most)))
	}
	if f.Share == 0 {
		f.Low, f.High = nil, nil
	}
}

// thin is the width below which an interval has none.
const thin = 1e-9

// ends are those of a share's interval, within the whole; nil: it has no width there.
func ends(low, high float64) (*float64, *float64) {
	low, high = max(0, min(1, low)), max(0, min(1, high))
	if !(high-low > thin) {
		return nil, nil
	}
	return &low, &high
}
