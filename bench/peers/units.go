package main

import (
	"fmt"
	"math"

	"tare/result"
	"tare/stats"
)

// none is printed where there is no figure.
const none = "–"

// measureName is a metric as the page calls it.
func measureName(metric string) string {
	switch metric {
	case "throughput":
		return "goodput"
	case "rate":
		return "per second"
	case "rtt_p50":
		return "round trip, median"
	case "rtt_p99":
		return "round trip, p99"
	case "rtt_mean":
		return "round trip, mean"
	case perGbit:
		return "CPU per Gbit"
	case perTransaction:
		return "CPU each"
	}
	return metric
}

// scaled writes a value in a unit that people read.
func scaled(value float64, q result.Quantity) string {
	switch {
	case math.IsNaN(value):
		return none
	case q.Name == perGbit:
		return fmt.Sprintf("%.2f ms", value*1e3)
	case q.Unit == "bit/s":
		return fmt.Sprintf("%.2f Gbit/s", value*1e-9)
	case q.Unit == "1/s":
		return fmt.Sprintf("%.1f k/s", value*1e-3)
	case q.Unit == "s":
		return fmt.Sprintf("%.2f µs", value*1e6)
	}
	return fmt.Sprintf("%.4g %s", value, q.Unit)
}

// ratioText writes a ratio with its interval, where the blocks have one.
func ratioText(r stats.Interval) string {
	switch {
	case math.IsNaN(r.Value):
		return none
	case math.IsInf(r.High, 1):
		return fmt.Sprintf("%.3f", r.Value)
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f]", r.Value, r.Low, r.High)
}

// boundText writes what a claim demands.
func boundText(bound float64, better result.Better) string {
	switch {
	case bound == 0:
		return ""
	case better == result.Lower:
		return fmt.Sprintf("≤ %.2f", bound)
	}
	return fmt.Sprintf("≥ %.2f", bound)
}
