package cases

import (
	"fmt"
	"slices"

	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// relation is a way to judge a comparison.
type relation struct {
	takes string // the keys of a comparison that it needs besides figure
	judge func(e evidence, c comparison) answer
}

// relations are the names that a comparison may have as its relation. A toll is that over the host.
func relations() map[string]relation {
	return map[string]relation{
		// one spot is worse than another, equal to it, or not better
		"worse":      {"than", compared(stats.Slower)},
		"equal":      {"than", compared(stats.Equal)},
		"not better": {"than", compared(stats.Slower, stats.Equal)},
		// a toll is within a range, is at most that, or is within it at most of the message sizes
		"costs":         {"range", costs},
		"costs at most": {"range", costsAtMost},
		"mostly costs":  {"range sizes", mostlyCosts},
		// a toll grows from the first link to the last
		"costs more": {"links", costsMore},
		// a network's toll is that of the network below it, which has the same data path without the engine
		"costs what the one below costs": {"than if_so if_not", costsAsBelow},
		// the link limits a throughput
		"fills the link": {"", fillsLink},
		// receiving fills one CPU of the machine, or does not
		"fills a CPU":  {"", fillsCPU(true)},
		"fills no CPU": {"", fillsCPU(false)},
	}
}

// compared claims that the verdict on one spot compared with another is one of several.
func compared(claimed ...stats.Verdict) func(e evidence, c comparison) answer {
	return func(e evidence, c comparison) answer {
		verdict := func() answer {
			w := e.weigh(c.Figure, c.Than)
			text := textOf(w, c.Figure, c.Than)
			if w.Verdict == stats.Inconclusive {
				text += ", margin " + percent(w.Margin)
			}
			return reproducedIf(slices.Contains(claimed, w.Verdict), w.Verdict != stats.Inconclusive, text)
		}
		return e.decideOrEmulate(verdict, func() answer {
			w := e.weigh(c.Figure, c.Than)
			v, text := order(w, c.Figure.Metric), textOf(w, c.Figure, c.Than)
			if v == stats.Inconclusive {
				return untestable(fmt.Sprintf("an emulated CPU decides an order alone, and where one costs %.1f times as much; its numbers: %s", beyondDoubt, text))
			}
			return reproducedIf(slices.Contains(claimed, v), true, "the order alone, on an emulated CPU: "+text)
		}, c.Figure, c.Than)
	}
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

// widest is how wide an interval may be, as a multiple of the published toll, for the
// toll to be reproduced: a wider interval agrees with many tolls.
const widest = 2.0

// costs is reproduced if the measured interval comes within the declared margin of the range, is
// above zero and no wider than widest; it is not if even the interval widened by the
// least toll that counts does not meet it; else it is inconclusive.
func costs(e evidence, c comparison) answer {
	return e.decideToll(c.Figure, func(toll weigh.Weighing) answer {
		s, low, high := c.Figure, c.Range.low, c.Range.high
		meets := toll.High+stats.DeclaredMargin >= low && toll.Low-stats.DeclaredMargin <= high
		holds := toll.Trusted() && meets && toll.Low > 0 && toll.High-toll.Low <= max(widest*high, 2*stats.DeclaredMargin)
		fails := toll.Whole && (toll.High+toll.Margin < low || toll.Low-toll.Margin > high)
		text := fmt.Sprintf("the toll of %s on its %s (%s%s) is %s; published: %s", s.Network, s.Metric, s.Path, sized(s), interval(toll), c.Range)
		if !holds && !fails {
			text += ", margin " + percent(toll.Margin)
		}
		return reproducedIf(!fails, holds || fails, text)
	})
}

func costsAtMost(e evidence, c comparison) answer {
	return e.decideToll(c.Figure, func(toll weigh.Weighing) answer {
		most := c.Range.high
		text := fmt.Sprintf("the toll of %s on its %s is %s; the claim allows up to %s", c.Figure.Network, c.Figure.Metric, interval(toll), percent(most))
		return reproducedIf(toll.High <= most, toll.Trusted() && (toll.High <= most || toll.Low > most), text)
	})
}

func mostlyCosts(e evidence, c comparison) answer {
	sizes, err := result.ParseSizes(c.Sizes)
	if err != nil {
		return untestable(err.Error())
	}
	at := c.Figure
	at.Size = sizes[0]
	return e.decide(func() answer {
		within, least, most := 0, 1.0, -1.0
		for _, at.Size = range sizes {
			toll := e.toll(at).Value
			if toll >= c.Range.low && toll <= c.Range.high {
				within++
			}
			least, most = min(least, toll), max(most, toll)
		}
		return reproducedIf(2*within > len(sizes), true, fmt.Sprintf("at %d of %d sizes the toll of %s is within %s; over all sizes it is from %.1f to %s",
			within, len(sizes), at.Network, c.Range, 100*least, percent(most)))
	}, at, at.host())
}

func costsMore(e evidence, c comparison) answer {
	var on, spots []spot
	for _, link := range c.Links {
		s := spot{Link: link}.or(c.Figure)
		on, spots = append(on, s), append(spots, s, s.host())
	}
	return e.decide(func() answer {
		text := "the toll of " + c.Figure.Network
		for _, s := range on {
			text += fmt.Sprintf(", %s over %s", interval(e.toll(s)), s.Link)
		}
		first, last := e.toll(on[0]), e.toll(on[len(on)-1])
		more := last.Low > first.High+stats.DeclaredMargin
		same := last.High < first.Low || last.Verdict == stats.Equal
		return reproducedIf(more, first.Trusted() && last.Trusted() && (more || same), text)
	}, spots...)
}

// costsAsBelow is reproduced if the network below has a toll, and what the engine adds is not worse
// and less than that.
func costsAsBelow(e evidence, c comparison) answer {
	return e.decide(func() answer {
		below, added := e.toll(c.Than), e.weigh(c.Figure, c.Than)
		text := fmt.Sprintf("%s costs %s, and %s %s more", c.Than.Network, interval(below), c.Figure.Network, interval(added))
		switch {
		case added.Verdict == stats.Slower:
			return reproducedIf(false, true, c.IfNot+": "+text)
		case below.Trusted() && added.Trusted() && below.Low > 0 && added.High < below.Value:
			return reproducedIf(true, true, c.IfSo+": "+text)
		}
		return reproducedIf(false, false, text)
	}, c.Figure, c.Than, c.Than.host())
}

// fillsLink is reproduced if the throughput is at least 99 % of what the wire can carry.
func fillsLink(e evidence, c comparison) answer {
	const enough = 0.99
	return e.decide(func() answer {
		m := e.metric(c.Figure)
		if m == nil || m.Ceiling == nil || m.Low == nil {
			return untestable(c.Figure.Network + " has no ceiling or no interval here")
		}
		low, high := *m.Low/m.Ceiling.Value, *m.High/m.Ceiling.Value
		text := fmt.Sprintf("%s reaches %s [%.1f, %.1f] of what the wire can carry with its headers", c.Figure.Network, percent(m.Ceiling.Ratio), 100*low, 100*high)
		return reproducedIf(low >= enough, low >= enough || high < enough, text)
	}, c.Figure)
}
