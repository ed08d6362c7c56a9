package stats

// DeclaredMargin is the toll that is taken for nothing unless a plan declares
// another: 2 %.
const DeclaredMargin = 0.02

// Verdict is the judgement of a toll's interval against its margins.
type Verdict string

// The four verdicts.
const (
	Slower       Verdict = "slower"       // the whole interval is above the least toll that counts
	Faster       Verdict = "faster"       // the whole interval is below minus the least toll that counts
	Equal        Verdict = "equal"        // the whole interval is within the declared margin
	Inconclusive Verdict = "inconclusive" // more blocks, or less noise, would decide
)

// Margins are what a toll must exceed to count, as ratios.
type Margins struct {
	Declared float64 // set before the run; see DeclaredMargin
	Least    float64 // the least toll that counts: the declared margin, or more where the baselines differ
}

// Judge gives the verdict on a toll. Equal is held to the declared margin and
// never to a wider one, so that noise can't make networks equal.
func Judge(toll Interval, margins Margins) Verdict {
	switch {
	case toll.Low > margins.Least:
		return Slower
	case toll.High < -margins.Least:
		return Faster
	case toll.Low >= -margins.Declared && toll.High <= margins.Declared:
		return Equal
	}
	return Inconclusive
}
