package cases

import (
	"fmt"

	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// widest is how wide an interval may be, as a multiple of the published toll, for the
// toll to be reproduced: a wider interval agrees with many tolls.
const widest = 2.0

// span is a toll that a text names: from low to high, where it names two.
type span struct {
	spot
	low, high float64
}

// costs judges whether a network's toll is the one that the text names. It is
// reproduced if the measured interval comes within the declared margin of it, is
// above zero and no wider than widest; it is not if even the interval widened by the
// least toll that counts does not meet it; else it is inconclusive.
func costs(s span) judge {
	return func(e evidence) answer {
		return e.onRealPaths([]spot{s.spot, s.host()}, func() answer {
			w := e.weigh(s.spot, s.host())
			text := fmt.Sprintf("the toll of %s on its %s (%s%s) is %s; published: %s", s.network, s.metric, s.path, sized(s.spot), interval(w), s.text())
			margin := w.Margin
			if w.Whole && (w.High+margin < s.low || w.Low-margin > s.high) {
				return reproducedIf(false, text)
			}
			meets := w.High+stats.DeclaredMargin >= s.low && w.Low-stats.DeclaredMargin <= s.high
			if !w.Trusted() || !meets || w.Low <= 0 || w.High-w.Low > max(widest*s.high, 2*stats.DeclaredMargin) {
				return untestable("inconclusive: " + text + ", margin " + percent(margin))
			}
			return reproducedIf(true, text)
		})
	}
}

func sized(s spot) string {
	if s.size == 0 {
		return ""
	}
	return ", " + bytesText(s.size)
}

func (s span) text() string {
	if s.low == s.high {
		return percent(s.low)
	}
	return fmt.Sprintf("%.1f to %s", 100*s.low, percent(s.high))
}

// nearlyNothing is the largest toll that "nearly without loss" covers: the cost of
// the 50 bytes of VXLAN's headers in each packet of a 1500 byte MTU, and the declared
// margin.
const nearlyNothing = 50.0/1448 + stats.DeclaredMargin

// atMost judges whether a toll is at most a value: "nearly lossless".
func atMost(s spot, most float64) judge {
	return func(e evidence) answer {
		return e.onRealPaths([]spot{s, s.host()}, func() answer {
			w := e.weigh(s, s.host())
			text := fmt.Sprintf("the toll of %s on its %s is %s; the claim allows up to %s", s.network, s.metric, interval(w), percent(most))
			if !w.Trusted() || w.Low <= most && w.High > most {
				return untestable("inconclusive: " + text)
			}
			return reproducedIf(w.High <= most, text)
		})
	}
}

// heldByLink judges whether the link limits a throughput: it is at least 99 % of what
// the wire can carry.
func heldByLink(s spot) judge {
	const enough = 0.99
	return func(e evidence) answer {
		return e.onRealPaths([]spot{s}, func() answer {
			m := e.metric(s)
			if m == nil || m.Ceiling == nil || m.Low == nil {
				return untestable(s.network + " has no ceiling or no interval here")
			}
			low, high := *m.Low/m.Ceiling.Value, *m.High/m.Ceiling.Value
			text := fmt.Sprintf("%s reaches %s [%.1f, %.1f] of what the wire can carry with its headers", s.network, percent(m.Ceiling.Ratio), 100*low, 100*high)
			if low < enough && high >= enough {
				return untestable("inconclusive: " + text)
			}
			return reproducedIf(low >= enough, text)
		})
	}
}

// mostSizes judges whether the toll is within the span at more than half of the
// message sizes.
func mostSizes(s span, sizes ...int) judge {
	return func(e evidence) answer {
		first := s.at(sizes[0])
		return e.onRealPaths([]spot{first, first.host()}, func() answer {
			within, least, most := 0, 1.0, -1.0
			for _, size := range sizes {
				at := s.at(size)
				w := e.weigh(at, at.host())
				if w.Value >= s.low && w.Value <= s.high {
					within++
				}
				least, most = min(least, w.Value), max(most, w.Value)
			}
			return reproducedIf(2*within > len(sizes), fmt.Sprintf("at %d of %d sizes the toll of %s is within %s; over all sizes it is from %.1f to %s",
				within, len(sizes), s.network, s.text(), 100*least, percent(most)))
		})
	}
}

// widens judges whether a toll grows from the first link to the last.
func widens(s spot, links ...result.BitsPerSecond) judge {
	return func(e evidence) answer {
		var spots []spot
		for _, link := range links {
			spots = append(spots, s.over(link), s.over(link).host())
		}
		return e.onRealPaths(spots, func() answer {
			var tolls []weigh.Weighing
			text := "the toll of " + s.network
			for _, link := range links {
				w := e.weigh(s.over(link), s.over(link).host())
				tolls = append(tolls, w)
				text += fmt.Sprintf(", %s over %s", interval(w), link)
			}
			first, last := tolls[0], tolls[len(tolls)-1]
			switch {
			case !first.Trusted() || !last.Trusted():
				return untestable("inconclusive: " + text)
			case last.Low > first.High+stats.DeclaredMargin:
				return reproducedIf(true, text)
			case last.High < first.Low || last.Verdict == stats.Equal:
				return reproducedIf(false, text)
			}
			return untestable("inconclusive: " + text)
		})
	}
}
