package cases

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// claim is a sentence of the article and how it is judged. Where it names a toll
// that is all: it is held against what is measured, and against the article's own
// table.
type claim struct {
	text  string
	toll  *span
	judge judge
	// ofLink is the link, in bit/s, that the toll is of, where the article has no
	// host to compare with.
	ofLink float64
}

// judgeIt gives the verdict on a claim by what was measured.
func (c claim) judgeIt(e evidence) answer {
	if c.judge != nil {
		return c.judge(e)
	}
	return costs(*c.toll)(e)
}

// judge gives the verdict on a claim.
type judge func(e evidence) answer

// answer is a verdict of result.Claim, and the numbers for it.
type answer struct{ verdict, because string }

func untestable(because string) answer { return answer{result.ClaimUntestable, because} }

func reproducedIf(holds bool, because string) answer {
	if holds {
		return answer{result.ClaimReproduced, because}
	}
	return answer{result.ClaimNotReproduced, because}
}

// onRealPaths asks for a verdict if all spots were measured on their real data path and
// on a real CPU. A stand-in or an emulated CPU decides nothing: the answer only has its
// numbers.
func (e evidence) onRealPaths(spots []spot, decide func() answer) answer {
	return e.onRealParts(spots, decide, func() answer {
		return untestable("an emulated CPU decides nothing about speed; its numbers: " + decide().because)
	})
}

// onRealParts asks for a verdict if all spots were measured on their real data path: also
// one of an emulated CPU, which is asked for otherwise.
func (e evidence) onRealParts(spots []spot, decide, emulated func() answer) answer {
	for _, s := range spots {
		if missing := e.lacks(s); missing != "" {
			return untestable(missing)
		}
	}
	for _, s := range spots {
		if e.standIn(s) {
			return untestable(s.network + " is a stand-in here, which decides nothing; its numbers: " + decide().because)
		}
	}
	if slices.ContainsFunc(spots, func(s spot) bool { return e.cell(s).Emulated() }) {
		return emulated()
	}
	return decide()
}

// beyondDoubt is how many times as bad one network must be as another for an emulated CPU
// to decide their order. It takes about the same time for every instruction, so that only what
// takes many more of them is slower on any CPU.
const beyondDoubt = 1.5

// order is which of two spots is worse by a metric, where an emulated CPU leaves no doubt;
// inconclusive: it does.
func order(w weigh.Weighing, metric string) stats.Verdict {
	q, known := result.QuantityOf(metric)
	times := func(toll float64) float64 { // as bad as the other
		if q.Better == result.Higher {
			return 1 / (1 - toll)
		}
		return 1 + toll
	}
	switch {
	case !known || !w.Whole:
	case times(w.Low) > beyondDoubt:
		return stats.Slower
	case times(w.High) < 1/beyondDoubt:
		return stats.Faster
	}
	return stats.Inconclusive
}

// worse claims that one spot is worse than another.
func worse(s, than spot) judge {
	return compared(s, than, func(v stats.Verdict) bool { return v == stats.Slower })
}

// alike claims that two spots are equal.
func alike(s, than spot) judge {
	return compared(s, than, func(v stats.Verdict) bool { return v == stats.Equal })
}

// noBetter claims that one spot is not better than another.
func noBetter(s, than spot) judge {
	return compared(s, than, func(v stats.Verdict) bool { return v != stats.Faster })
}

// compared claims something about the verdict on one spot compared with another.
func compared(s, than spot, holds func(stats.Verdict) bool) judge {
	return func(e evidence) answer {
		return e.onRealParts([]spot{s, than}, func() answer {
			w := e.weigh(s, than)
			if w.Verdict == stats.Inconclusive {
				return untestable(fmt.Sprintf("inconclusive: %s, margin %s", textOf(w, s, than), percent(w.Margin)))
			}
			return reproducedIf(holds(w.Verdict), textOf(w, s, than))
		}, func() answer {
			w := e.weigh(s, than)
			text := textOf(w, s, than)
			v := order(w, s.metric)
			if v == stats.Inconclusive {
				return untestable(fmt.Sprintf("an emulated CPU decides an order alone, and where one costs %.1f times as much; its numbers: %s", beyondDoubt, text))
			}
			return reproducedIf(holds(v), "the order alone, on an emulated CPU: "+text)
		})
	}
}

// every joins claims: if one is not reproduced the whole is not; else, if one can't
// be tested, the whole can't be tested.
func every(parts ...judge) judge {
	return func(e evidence) answer {
		all := answer{verdict: result.ClaimReproduced}
		var texts []string
		for _, part := range parts {
			a := part(e)
			texts = append(texts, a.because)
			if a.verdict == result.ClaimNotReproduced || all.verdict == result.ClaimReproduced {
				all.verdict = a.verdict
			}
		}
		all.because = strings.Join(texts, "; ")
		return all
	}
}

// whose claims that a network's toll is that of the network below it, which has the
// same data path without the engine. It is reproduced if the one below has a toll,
// and what the engine adds is not worse and less than that.
func whose(s, below spot, theirs, ours string) judge {
	return func(e evidence) answer {
		return e.onRealPaths([]spot{s, below, below.host()}, func() answer {
			own, added := e.weigh(below, below.host()), e.weigh(s, below)
			text := fmt.Sprintf("%s costs %s, and %s %s more", below.network, interval(own), s.network, interval(added))
			switch {
			case added.Verdict == stats.Slower:
				return reproducedIf(false, ours+": "+text)
			case own.Trusted() && added.Trusted() && own.Low > 0 && added.High < own.Value:
				return reproducedIf(true, theirs+": "+text)
			}
			return untestable("inconclusive: " + text)
		})
	}
}

// only judges on a CPU whose model holds a word: the claim is about that machine.
func only(word string, then judge) judge {
	return func(e evidence) answer {
		a := then(e)
		for _, res := range e {
			if model := res.Environment.CPUModel; !strings.Contains(strings.ToLower(model), strings.ToLower(word)) {
				return untestable(fmt.Sprintf("it is about %s, and this machine has %s; its numbers: %s", word, cmp.Or(model, "another CPU"), a.because))
			}
		}
		return a
	}
}

// never is for claims that no measurement here can test; the numbers of the spots
// are shown with it.
func never(why string, shown ...spot) judge {
	return func(e evidence) answer {
		why := why
		for _, s := range shown {
			if v := e.value(s); !math.IsNaN(v) {
				why += fmt.Sprintf("; here %s under %s: %s", s, s.workload, amount(v, s.metric))
			}
		}
		return untestable(why)
	}
}

// textOf is by how much one spot is worse than another.
func textOf(w weigh.Weighing, s, than spot) string {
	return strings.TrimSpace(fmt.Sprintf("%s is %s of %s %s", s, words(w), than.network, difference(s, than)))
}

// difference is in what else than its network one spot differs from another.
func difference(s, than spot) string {
	var words []string
	if s.params != than.params && than.params != "" {
		words = append(words, "with "+than.params.String())
	}
	if s.path != than.path {
		words = append(words, "on "+than.path)
	}
	if s.experiment != than.experiment {
		words = append(words, "("+than.experiment+")")
	}
	return strings.Join(words, " ")
}

// words is a change with its interval: "12.0 % [10.1, 13.9] worse than that".
func words(w weigh.Weighing) string {
	if w.Value >= 0 {
		return interval(w) + " worse than that"
	}
	w.Value, w.Low, w.High = -w.Value, -w.High, -w.Low
	return interval(w) + " better than that"
}

// interval is a ratio in percent with its ends.
func interval(w weigh.Weighing) string {
	if !w.Whole {
		return percent(w.Value)
	}
	return fmt.Sprintf("%s [%.1f, %.1f]", percent(w.Value), 100*w.Low, 100*w.High)
}

func percent(ratio float64) string {
	if math.IsInf(ratio, 0) || math.IsNaN(ratio) {
		return "not known"
	}
	return fmt.Sprintf("%.1f %%", 100*ratio)
}

// amount is a quantity with its unit, in the size people read.
func amount(v float64, metric string) string {
	q, _ := result.QuantityOf(metric)
	switch q.Unit {
	case "bit/s":
		return result.BitsPerSecond(math.Round(v/1e6)*1e6).String() + "/s"
	case "s":
		return fmt.Sprintf("%.1f us", v*1e6)
	case "ratio":
		return percent(v)
	case "1/s":
		return fmt.Sprintf("%.1f k/s", v/1e3)
	}
	return strings.TrimSpace(fmt.Sprintf("%.0f %s", v, q.Unit))
}
