package foreign

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"tare/result"
)

// fortioHistogram is in s; its percentiles are interpolated within its buckets.
type fortioHistogram struct {
	Count, Min, Max, Avg, StdDev float64
	Data                         []struct{ Start, End, Percent float64 }
	Percentiles                  []struct{ Percentile, Value float64 }
}

// readFortioJSON reads fortio load -json, whose durations are in ns.
func readFortioJSON(doc []byte, cut bool) ([]result.Cell, bool) {
	var d struct {
		RunType, RequestedQPS, Version, URL, Destination string
		ActualQPS, ActualDuration                        float64
		NumThreads                                       int
		H2                                               bool
		RetCodes                                         map[string]float64
		DurationHistogram                                *fortioHistogram
	}
	if json.Unmarshal(doc, &d) != nil || d.DurationHistogram == nil || d.RunType == "" {
		return nil, false
	}
	workload, _, _ := strings.Cut(strings.ToLower(d.RunType), " ") // GRPC Ping
	if workload == "tcp" || workload == "udp" {
		workload += "_rr"
	}
	b := newLoad("fortio", workload, cut)
	b.known("tool_version", d.Version)
	b.known("url", d.URL+d.Destination)
	b.known("connections", d.NumThreads)
	if d.H2 {
		b.param("protocol", "h2")
	}
	if qps, ok := parseNumber(d.RequestedQPS); ok { // else it is max
		b.known("rate", qps)
	}
	b.known("duration", seconds(d.ActualDuration, time.Nanosecond))
	failed := map[string]float64{}
	total := 0.0
	for code, n := range d.RetCodes {
		if code != "OK" && code != "SERVING" && !strings.HasPrefix(code, "2") && !strings.HasPrefix(code, "3") {
			failed[code], total = n, total+n
		}
	}
	words := ""
	if total > 0 {
		words = "mostly code " + firstOf(failed)
	}
	if b.answered(d.DurationHistogram.Count, total, words) {
		b.above0("rate", d.ActualQPS, b.withFailed()...)
		d.DurationHistogram.note(b)
	}
	return []result.Cell{b.done()}, true
}

func (h *fortioHistogram) note(b *builder) {
	for name, v := range map[string]float64{"mean": h.Avg, "min": h.Min, "max": h.Max, "stdev": h.StdDev} {
		b.took(name, v)
	}
	for _, p := range h.Percentiles {
		var warnings []string
		if width := h.widthAt(p.Percentile); width > p.Value/2 {
			warnings = []string{fmt.Sprintf("interpolated within a bucket of %.2g ms: a smaller -r makes finer ones", 1e3*width)}
		}
		b.took(percentName(p.Percentile), p.Value, warnings...)
	}
}

// widthAt is how wide the bucket is in which a percentile lies.
func (h *fortioHistogram) widthAt(percent float64) float64 {
	for _, bucket := range h.Data {
		if bucket.Percent >= percent {
			return bucket.End - bucket.Start
		}
	}
	return 0
}
