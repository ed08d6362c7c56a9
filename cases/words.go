package cases

import (
	"fmt"
	"math"
	"strings"

	"tare/result"
	"tare/weigh"
)

// textOf is by how much one spot is worse than another, and in what else than its network that one
// differs.
func textOf(w weigh.Weighing, s, than spot) string {
	words := fmt.Sprintf("%s is %s of %s", s, change(w), than.Network)
	if s.Params != than.Params && than.Params != "" {
		words += " with " + than.Params.String()
	}
	if s.Path != than.Path {
		words += " on " + than.Path
	}
	if s.Experiment != than.Experiment {
		words += " (" + than.Experiment + ")"
	}
	return words
}

// change is a change with its interval: "12.0 % [10.1, 13.9] worse than that".
func change(w weigh.Weighing) string {
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

func bytesText(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// sized is the size of a spot's messages after a comma; empty: it has none.
func sized(s spot) string {
	if s.Size == 0 {
		return ""
	}
	return ", " + bytesText(s.Size)
}
