package stats

import "math"

// DeclaredMargin is the toll that is taken for nothing unless a plan declares
// another: 2 %.
const DeclaredMargin = 0.02

// Verdict is the judgement of a toll's interval against its margins.
type Verdict string

// The four verdicts.
const (
	Slower       Verdict = "slower"       // the whole interval is above the margin used
	Faster       Verdict = "faster"       // the whole interval is below minus the margin used
	Equal        Verdict = "equal"        // the whole interval is within the declared margin
	Inconclusive Verdict = "inconclusive" // more blocks, or less noise, would decide
)

// Margins are what a toll must exceed to count.
type Margins struct {
	// Declared is set before the run, as a ratio; see DeclaredMargin.
	Declared float64
	// AA is the toll of one baseline against the other. An A/A comparison of
	// too few blocks is as wide as can be, and no toll counts against it.
	AA Interval
}

// Used is the larger of the declared margin and the half-width of the A/A
// interval: what this machine shows between two equal networks is no toll.
func (m Margins) Used() float64 { return math.Max(m.Declared, m.AA.halfWidth()) }

// Judge gives the verdict on a toll. Equal is held to the declared margin and
// never to the wider one, so that noise can't make networks equal.
func Judge(toll Interval, margins Margins) Verdict {
	used := margins.Used()
	switch {
	case toll.Low > used:
		return Slower
	case toll.High < -used:
		return Faster
	case toll.Low >= -margins.Declared && toll.High <= margins.Declared:
		return Equal
	}
	return Inconclusive
}
