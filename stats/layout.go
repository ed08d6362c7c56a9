package stats

import "math"

// What two equal pairs of hosts differ by as a rule, and how many comparisons that knowledge is worth.
const (
	usualLayout = 0.003 * math.Sqrt2 // standard deviation of one against the other: 0.3 % of each
	layoutWorth = 2.0
)

// Layout is the variance by which two equal networks differ on two equal pairs of hosts, because of
// where they lie in memory and on CPUs. It is estimated from all A/A comparisons of a run together: a
// random effect beside the noise of each, with what is usual as the prior (a scaled inverse chi-squared),
// so that few comparisons have an answer too. It is the upper quartile of the posterior, which errs
// towards more: the noise of few blocks hides it.
func Layout(again []Estimate) Variance {
	const steps, least, most = 400, 1e-4, 1.0 // of standard deviations
	var logs [steps]float64
	top := math.Inf(-1)
	at := func(step int) float64 { // a variance
		d := least * math.Pow(most/least, float64(step)/(steps-1))
		return d * d
	}
	for n := range logs {
		v := at(n)
		// The prior's density of the logarithm of v.
		logs[n] = -layoutWorth/2*math.Log(v) - layoutWorth*usualLayout*usualLayout/(2*v)
		for _, e := range again {
			if all := e.variance().Of + v; !math.IsInf(all, 1) {
				logs[n] -= (math.Log(all) + e.Value*e.Value/all) / 2
			}
		}
		top = max(top, logs[n])
	}
	total := 0.0
	for n := range logs {
		logs[n] = math.Exp(logs[n] - top)
		total += logs[n]
	}
	sum, n := 0.0, -1
	for sum < 0.75*total {
		n++
		sum += logs[n]
	}
	return Variance{at(n), layoutWorth + float64(len(again))}
}
