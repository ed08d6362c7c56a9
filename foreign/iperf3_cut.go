package foreign

import "slices"

// cutEnds reports whether the summaries of a run have lost the words "sender" and "receiver" at
// their ends, as in a text that was cut at a column: a second summary of a stream is its receiver's.
type cutEnds bool

// goesOn reports whether a row without a role is a summary of a run whose summaries lost them.
func (cut cutEnds) goesOn(run *iperf3Run, r row) bool {
	const several = 2 // intervals: one alone may as well be that of another run
	if r.sends || r.receives || r.start > 0 || run.count(r) < several || !run.spans(r) {
		return false
	}
	before := run.totalsOf(r)
	return len(before) == 1 && r.end >= run.totals[before[0]].end-0.005 && (bool(cut) || !run.totals[before[0]].receives) ||
		len(before) == 0 && bool(cut)
}

// named gives a row, and the one before it of its stream, their roles.
func (cut *cutEnds) named(run *iperf3Run, r row) row {
	*cut = true
	r.sends = true
	for _, at := range run.totalsOf(r) {
		run.totals[at].sends, r.sends, r.receives = true, false, true
	}
	return r
}

// totalsOf are the places of the summaries of a row's stream.
func (run *iperf3Run) totalsOf(r row) (places []int) {
	for at, known := range run.totals {
		if known.id == r.id && known.role == r.role {
			places = append(places, at)
		}
	}
	return places
}

// count is how many intervals of a row's stream were read.
func (run *iperf3Run) count(r row) int {
	return len(slices.DeleteFunc(slices.Clone(latest(run.intervals)), func(known row) bool { return known.id != r.id || known.role != r.role }))
}
