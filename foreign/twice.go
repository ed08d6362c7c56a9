package foreign

import (
	"maps"
	"math"
	"reflect"

	"tare/result"
)

// found is a run, and whether a document has it or lines.
type found struct {
	result.Cell
	document bool
	begun    string // as of its part
}

// is reports whether two that have the same figures are one run: two documents of one, or a log
// and a document.
func (f found) is(other found) bool {
	return f.document != other.document || f.document && f.begun != "" && f.begun == other.begun
}

// goesOn reports whether a run is one before it, further on: vegeta report -every prints all so far again.
func (f found) goesOn(first found) bool {
	sent, before := f.Samples[0].Counters["sent"], first.Samples[0].Counters["sent"]
	return f.document && first.document && f.begun != "" && f.begun == first.begun && f.Mode == first.Mode && before > 0 && sent > before
}

// The warnings of a run that is there twice, or seems to be.
const (
	printedTwice = "the text has this run twice: it is read once"
	furtherOn    = "the text has this run several times, as it went on: the last is read"
	maybeTwice   = "has the figures of a run before it: the same run, printed twice?"
)

// once leaves out a run that two documents have, or a log and a document. Where two runs have the
// same figures, but nothing else shows that they are one, both stay, with a warning.
func once(runs []found) []result.Cell {
	const rounding = 0.005 // of three digits
	var kept []found
next:
	for _, run := range runs {
		for n := range kept {
			first := &kept[n]
			switch {
			case run.goesOn(*first):
				*first = run
				caution(&first.Cell, furtherOn)
				continue next
			case first.is(run) && alike(first.Cell, run.Cell, 1e-9):
				if !first.document {
					first.Cell, run.Cell = run.Cell, first.Cell
				}
				for name, value := range run.Params {
					if first.Params[name] == nil {
						first.Params[name] = value
					}
				}
				first.document = true
				caution(&first.Cell, printedTwice)
				continue next
			case n == len(kept)-1 && first.document != run.document && alike(first.Cell, run.Cell, rounding),
				n == len(kept)-1 && reflect.DeepEqual(first.Samples, run.Samples) && len(run.Metrics) > 0,
				n == len(kept)-1 && alike(first.Cell, run.Cell, 0):
				caution(&run.Cell, maybeTwice)
			}
		}
		kept = append(kept, run)
	}
	var cells []result.Cell
	for _, run := range kept {
		cells = append(cells, run.Cell)
	}
	return cells
}

// endsRun reports whether a text is no more than the error with which iperf3 ended the run
// whose document is before it, and notes it there.
func endsRun(before found, tool string, cells []result.Cell) bool {
	if tool != "iperf3" || !before.document || before.Mode != tool || len(cells) != 1 {
		return false
	}
	text := cells[0]
	if text.Workload != "" || text.Reason == "" || withoutRun.MatchString(text.Reason) {
		return false
	}
	caution(&before.Cell, text.Reason)
	return true
}

// caution adds a warning to a run.
func caution(c *result.Cell, text string) {
	b := builder{cell: *c, sample: c.Samples[0]}
	b.warn(text)
	c.Samples[0].Warnings = b.sample.Warnings
}

// alike reports whether all that two runs both have is the same, but for so much of it.
func alike(a, b result.Cell, but float64) bool {
	if a.Mode != b.Mode || a.Workload != b.Workload || a.Status != b.Status {
		return false
	}
	same := func(x, y float64) bool { return math.Abs(x-y) <= but*max(math.Abs(x), math.Abs(y)) }
	for name, value := range a.Params {
		x, other := a.Params.Number(name), b.Params[name]
		if value != nil && other != nil && value != other && (x == 0 || !same(x, b.Params.Number(name))) {
			return false
		}
	}
	const figures = 2 // one may be the same by chance
	common := 0
	others := numbers(b)
	for name, value := range numbers(a) {
		if other, both := others[name]; both {
			if !same(value, other) {
				return false
			}
			common++
		}
	}
	for name, points := range a.Samples[0].Series {
		for n, other := range b.Samples[0].Series[name] {
			if len(points) != len(b.Samples[0].Series[name]) || !same(points[n], other) {
				return false
			}
		}
	}
	return common >= figures
}

// numbers are the metrics and counters of a run.
func numbers(c result.Cell) map[string]float64 {
	all := maps.Clone(c.Samples[0].Counters)
	maps.Copy(all, c.Samples[0].Metrics)
	return all
}
