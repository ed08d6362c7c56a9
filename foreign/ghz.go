package foreign

import (
	"encoding/json"
	"time"

	"tare/result"
)

// readGhzJSON reads ghz -O json, whose times are in ns.
func readGhzJSON(doc []byte, cut bool) ([]result.Cell, bool) {
	var d struct {
		Options struct {
			Call        string  `json:"call"`
			Host        string  `json:"host"`
			Connections int     `json:"connections"`
			Concurrency int     `json:"concurrency"`
			RPS         float64 `json:"rps"`
		} `json:"options"`
		Count    *float64           `json:"count"`
		Total    float64            `json:"total"`
		Average  float64            `json:"average"`
		Fastest  float64            `json:"fastest"`
		Slowest  float64            `json:"slowest"`
		RPS      float64            `json:"rps"`
		Statuses map[string]float64 `json:"statusCodeDistribution"`
		Errors   map[string]float64 `json:"errorDistribution"`
		Ranks    []struct {
			Percentage float64 `json:"percentage"`
			Latency    float64 `json:"latency"`
		} `json:"latencyDistribution"`
		Details []struct {
			Latency float64 `json:"latency"`
			Status  string  `json:"status"`
		} `json:"details"`
	}
	if json.Unmarshal(doc, &d) != nil || d.Count == nil || d.Statuses == nil && d.Errors == nil {
		return nil, false
	}
	b := newLoad("ghz", "grpc", cut)
	b.known("url", d.Options.Host)
	b.known("test", d.Options.Call)
	b.known("connections", d.Options.Connections)
	b.known("workers", d.Options.Concurrency)
	if d.Options.Connections > 0 { // each has the requests of several workers under way
		b.known("pipelining", (d.Options.Concurrency+d.Options.Connections-1)/d.Options.Connections)
	}
	b.known("rate", d.Options.RPS)
	b.known("duration", seconds(d.Total, time.Nanosecond))
	if !b.answered(*d.Count, *d.Count-d.Statuses["OK"], firstOf(d.Errors)) {
		return []result.Cell{b.done()}, true
	}
	b.above0("rate", d.RPS, b.withFailed()...)
	mean, marks := d.Average, b.withFailed()
	sum, calls := 0.0, 0.0 // those that succeeded, as in its percentiles: its average is of all
	for _, call := range d.Details {
		if call.Status == "OK" {
			sum, calls = sum+call.Latency, calls+1
		}
	}
	if calls == d.Statuses["OK"] && calls < *d.Count {
		mean, marks = sum/calls, nil
	}
	b.took("mean", seconds(mean, time.Nanosecond), marks...)
	b.took("min", seconds(d.Fastest, time.Nanosecond))
	b.took("max", seconds(d.Slowest, time.Nanosecond))
	for _, r := range d.Ranks {
		b.took(percentName(r.Percentage), seconds(r.Latency, time.Nanosecond))
	}
	return []result.Cell{b.done()}, true
}
