package cases

import (
	"fmt"

	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// widest is how wide an interval may be, of the toll that it is held against, to
// tell that it was reproduced: wider, it would hold many tolls.
const widest = 2.0

// span is a toll that a text names: from low to high, where it names two.
type span struct {
	spot
	low, high float64
}

// costs claims that a network's toll is the one that the text names. It is, where
// the interval measured here comes within the declared margin of it and is above
// zero; it is not, where even the interval widened by the least toll that counts
// does not meet it.
func costs(s span) judge {
	return func(e evidence) answer {
		return e.judged([]spot{s.spot, s.host()}, func() answer {
			w := e.weigh(s.spot, s.host())
			text := fmt.Sprintf("the toll of %s on its %s (%s%s) is %s; published: %s", s.network, s.metric, s.path, sized(s.spot), interval(w), s.text())
			margin := w.Least
			if w.Whole && (w.High+margin < s.low || w.Low-margin > s.high) {
				return told(false, text)
			}
			meets := w.High+stats.DeclaredMargin >= s.low && w.Low-stats.DeclaredMargin <= s.high
			if !w.Told() || !meets || w.Low <= 0 || w.High-w.Low > max(widest*s.high, 2*stats.DeclaredMargin) {
				return untestable("not told: " + text + ", margin " + percent(margin))
			}
			return told(true, text)
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

// nearlyNothing is a toll that "nearly without loss" still covers: what the 50 bytes
// of VXLAN's headers take of a frame of 1538, and the declared margin.
const nearlyNothing = 50.0/1448 + stats.DeclaredMargin

// atMost claims that a toll is no more than so much: "nearly lossless".
func atMost(s spot, most float64) judge {
	return func(e evidence) answer {
		return e.judged([]spot{s, s.host()}, func() answer {
			w := e.weigh(s, s.host())
			text := fmt.Sprintf("the toll of %s on its %s is %s, where %s would still be taken for that", s.network, s.metric, interval(w), percent(most))
			if !w.Told() || w.Low <= most && w.High > most {
				return untestable("not told: " + text)
			}
			return told(w.High <= most, text)
		})
	}
}

// heldByLink claims that the link is what holds a throughput: it is within a
// hundredth of the most that the wire carries.
func heldByLink(s spot) judge {
	const enough = 0.99
	return func(e evidence) answer {
		return e.judged([]spot{s}, func() answer {
			m := e.metric(s)
			if m == nil || m.Ceiling == nil || m.Low == nil {
				return untestable(s.network + " has no ceiling or no interval here")
			}
			low, high := *m.Low/m.Ceiling.Value, *m.High/m.Ceiling.Value
			text := fmt.Sprintf("%s reaches %s [%.1f, %.1f] of what the wire carries under its headers", s.network, percent(m.Ceiling.Ratio), 100*low, 100*high)
			if low < enough && high >= enough {
				return untestable("not told: " + text)
			}
			return told(low >= enough, text)
		})
	}
}

// mostSizes claims that the toll lies within the span at most message sizes.
func mostSizes(s span, sizes ...int) judge {
	return func(e evidence) answer {
		first := s.at(sizes[0])
		return e.judged([]spot{first, first.host()}, func() answer {
			within, least, most := 0, 1.0, -1.0
			for _, size := range sizes {
				at := s.at(size)
				w := e.weigh(at, at.host())
				if w.Value >= s.low && w.Value <= s.high {
					within++
				}
				least, most = min(least, w.Value), max(most, w.Value)
			}
			return told(2*within > len(sizes), fmt.Sprintf("at %d of %d sizes the toll of %s lies from %s; all lie from %.1f to %s",
				within, len(sizes), s.network, s.text(), 100*least, percent(most)))
		})
	}
}

// widens claims that a toll grows from one link to the next.
func widens(s spot, links ...result.BitsPerSecond) judge {
	return func(e evidence) answer {
		var spots []spot
		for _, link := range links {
			spots = append(spots, s.over(link), s.over(link).host())
		}
		return e.judged(spots, func() answer {
			var tolls []weigh.Weighing
			text := "the toll of " + s.network
			for _, link := range links {
				w := e.weigh(s.over(link), s.over(link).host())
				tolls = append(tolls, w)
				text += fmt.Sprintf(", %s over %s", interval(w), link)
			}
			first, last := tolls[0], tolls[len(tolls)-1]
			switch {
			case !first.Told() || !last.Told():
				return untestable("not told: " + text)
			case last.Low > first.High+stats.DeclaredMargin:
				return told(true, text)
			case last.High < first.Low || last.Verdict == stats.Equal:
				return told(false, text)
			}
			return untestable("not told: " + text)
		})
	}
}
