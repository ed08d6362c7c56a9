package foreign

import (
	"encoding/json"
	"strings"
	"time"

	"tare/result"
)

// readVegetaJSON reads vegeta report -type=json, whose times are in ns.
func readVegetaJSON(doc []byte, cut bool) ([]result.Cell, bool) {
	var d struct {
		Latencies map[string]float64 `json:"latencies"`
		BytesIn   *struct {
			Total float64 `json:"total"`
		} `json:"bytes_in"`
		Duration   float64            `json:"duration"` // of the attack
		Wait       float64            `json:"wait"`     // for the last answer after it
		Requests   float64            `json:"requests"`
		Rate       float64            `json:"rate"`
		Throughput float64            `json:"throughput"` // of those that succeeded, with the wait
		Success    *float64           `json:"success"`
		Codes      map[string]float64 `json:"status_codes"`
		Errors     []string           `json:"errors"`
	}
	if json.Unmarshal(doc, &d) != nil || d.Latencies == nil || d.BytesIn == nil || d.Success == nil {
		return nil, false
	}
	b := newLoad("vegeta", "http", cut)
	took := seconds(d.Duration+d.Wait, time.Nanosecond)
	b.known("duration", took)
	if !b.answered(d.Requests, d.Requests*(1-*d.Success), strings.Join(d.Errors[:min(len(d.Errors), 1)], "")) {
		return []result.Cell{b.done()}, true
	}
	b.counter("requests", d.Requests**d.Success) // those that the rate counts
	b.counter("sent", d.Requests)
	b.above0("rate", d.Throughput)
	b.above0("offered_rate", d.Rate)
	if took > 0 {
		b.above0("throughput", 8*d.BytesIn.Total/took, "bodies alone")
	}
	for name, v := range d.Latencies {
		if percent, isRank := strings.CutSuffix(name, "th"); isRank {
			name = rankName(percent)
		}
		if name != "total" {
			b.took(name, seconds(v, time.Nanosecond))
		}
	}
	return []result.Cell{b.done()}, true
}
