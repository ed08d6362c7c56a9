package foreign

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"tare/result"
)

// cannonDocument is what autocannon --json writes.
type cannonDocument struct {
	URL         string             `json:"url"`
	Connections int                `json:"connections"`
	Pipelining  int                `json:"pipelining"`
	Workers     int                `json:"workers"`
	Duration    float64            `json:"duration"` // s, to a hundredth
	Start       time.Time          `json:"start"`    // to a millisecond, as the next
	Finish      time.Time          `json:"finish"`
	SampleInt   float64            `json:"sampleInt"`  // ms of a sample; not written by versions that have one of 1000
	Latency     map[string]float64 `json:"latency"`    // ms
	Requests    map[string]float64 `json:"requests"`   // in a sample
	Throughput  map[string]float64 `json:"throughput"` // bytes in a sample
	Errors      float64            `json:"errors"`
	Timeouts    float64            `json:"timeouts"`
	Non2xx      float64            `json:"non2xx"`
	Good        *float64           `json:"2xx"`
	Redirects   float64            `json:"3xx"`
	Resets      float64            `json:"resets"`
	Mismatches  float64            `json:"mismatches"`
}

// latencies are in milliseconds.
func (d cannonDocument) latencies(b *builder) {
	for name, v := range d.Latency {
		v = seconds(v, time.Millisecond)
		percent, isRank := strings.CutPrefix(name, "p")
		switch {
		case isRank:
			b.percentile(strings.ReplaceAll(percent, "_", "."), v)
		case name == "average":
			b.metric("latency_mean", v)
		case name == "min" && d.Latency["average"] < d.Latency["min"]: // of those above 0
		case name == "stddev", name == "min", name == "max":
			b.counter("latency_"+strings.Replace(name, "stddev", "stdev", 1), v)
		}
	}
}

// readAutocannonJSON reads autocannon --json.
func readAutocannonJSON(doc []byte, cut bool) ([]result.Cell, bool) {
	var d cannonDocument
	if err := json.Unmarshal(doc, &d); err != nil || d.Latency == nil || d.URL == "" && d.Requests == nil {
		return nil, false
	}
	b := newCannon()
	b.known("url", d.URL)
	b.known("connections", d.Connections)
	b.known("pipelining", d.Pipelining)
	b.known("workers", d.Workers)
	if took := d.Finish.Sub(d.Start); !d.Start.IsZero() && took > 0 {
		b.param("duration", took.Seconds())
	} else if d.Duration > 0 {
		b.param("duration", d.Duration)
	}
	perSecond := 1.0
	if d.SampleInt > 0 {
		perSecond = 1000 / d.SampleInt
	}
	if cut {
		b.warn("the document breaks off: what was whole of it is read")
	}
	d.rate(b, perSecond)
	if v, ok := d.Throughput["average"]; ok {
		b.metric("throughput", 8*v*perSecond, "with the headers of HTTP")
	}
	d.latencies(b)
	for name, counter := range map[string]string{"total": "requests", "sent": "sent"} {
		if v, ok := d.Requests[name]; ok {
			b.counter(counter, v)
		}
	}
	for name, counter := range map[string]string{"stddev": "rate_stdev", "min": "rate_min", "max": "rate_max"} {
		if v, ok := d.Requests[name]; ok {
			b.counter(counter, v*perSecond)
		}
	}
	if d.Errors+d.Timeouts+d.Non2xx > 0 {
		b.counter("errors", d.Errors)
		b.counter("errors_timeout", d.Timeouts)
		b.counter("non_2xx", d.Non2xx)
		if d.Good != nil {
			b.counter("answered_2xx", *d.Good)
			b.counter("answered_3xx", d.Redirects)
		}
		b.warn(fmt.Sprintf("%.0f errors (%.0f timeouts), %.0f responses that were not 2xx", d.Errors, d.Timeouts, d.Non2xx))
	}
	b.odd("reset", d.Resets)
	b.odd("mismatched", d.Mismatches)
	d.basis(b)
	return []result.Cell{b.done()}, true
}

// rate notes the answers per second: the mean of the samples, or where it is another the count over
// the time: a busy autocannon looks late, and one that has an amount to send ends within a sample.
func (d cannonDocument) rate(b *builder, perSecond float64) {
	total, took := d.Requests["total"], b.cell.Params.Number("duration")
	mean, known := d.Requests["average"]
	mean *= perSecond
	switch {
	case total > 0 && took > 0 && total == d.Requests["sent"]:
		b.metric("rate", total/took, ofAmount)
	case total > 0 && took > 0 && math.Abs(mean-total/took) > besideCount*mean:
		b.metric("rate", total/took, fmt.Sprintf("its count over its time: autocannon's mean of samples is %.0f/s", mean))
	case known:
		b.metric("rate", mean)
	}
}

// basis notes of what the times are. A count of them above that of answers shows what was added.
func (d cannonDocument) basis(b *builder) {
	total, known := d.Requests["total"]
	of, counted := d.Latency["totalCount"]
	switch {
	case !known && counted:
		total = of
	case !known:
		b.basis.resolution = time.Millisecond
		return
	}
	if of > total {
		b.basis.note = cannonCorrected
	}
	b.answers(d.Requests["sent"], total)
}
