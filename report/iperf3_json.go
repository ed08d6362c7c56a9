package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"tare/foreign"
	"tare/result"
)

// writeIperf3JSON writes the JSON of iperf3 -J for each cell that carried bulk
// data. Its samples become intervals, one after another, with all flows together.
// What the schema has no field for is under x_tare.
func writeIperf3JSON(w io.Writer, results []*result.Result, _ string) (left []string, err error) {
	var docs []foreign.Iperf3Document
	for _, res := range results {
		for i := range res.Cells {
			if doc, ok := iperf3Of(res, &res.Cells[i]); ok {
				docs = append(docs, doc)
			} else {
				left = append(left, nameOf(&res.Cells[i]))
			}
		}
	}
	if len(docs) == 0 {
		return left, nil
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if len(docs) == 1 {
		err = enc.Encode(docs[0])
	} else {
		err = enc.Encode(docs)
	}
	if err != nil {
		return left, fmt.Errorf("write report: %w", err)
	}
	return left, nil
}

// iperf3Extras is what iperf3's schema has no field for.
type iperf3Extras struct {
	Network string          `json:"network"`
	Path    string          `json:"path"`
	Mode    string          `json:"mode"`
	Params  result.Params   `json:"params"`
	Metrics []result.Metric `json:"metrics"`
	Notes   []string        `json:"notes"`
}

// iperf3Of makes the document of a cell; false where it is no bulk transfer
// with a throughput and a duration.
func iperf3Of(res *result.Result, c *result.Cell) (doc foreign.Iperf3Document, ok bool) {
	protocol, isStream := strings.CutSuffix(c.Workload, "_stream")
	doc.Intervals = iperf3Intervals(c)
	if !isStream || len(doc.Intervals) == 0 {
		return doc, false
	}
	doc.Start = &foreign.Iperf3Start{
		Connected: []foreign.Iperf3Connection{},
		Version:   "tare " + res.Tool.Version, SystemInfo: res.Environment.Kernel,
		Test: foreign.Iperf3Test{
			Protocol: strings.ToUpper(protocol), Streams: max(1, c.Params.Count("flows")),
			Size: c.Params.Count("size"), Target: c.Params.Number("rate"),
		},
	}
	if at, err := time.Parse(time.RFC3339, res.Started); err == nil {
		doc.Start.Timestamp = foreign.Iperf3Time{Time: at.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"), Seconds: float64(at.Unix())}
	}
	if given(*c, "direction") == "reverse" {
		doc.Start.Test.Reverse = 1
	}
	doc.End = iperf3Total(c, doc.Intervals, protocol == "udp")
	doc.Start.Test.Duration = doc.End.Received.Seconds
	doc.Tare = iperf3Extras{
		Network: c.Network, Path: c.Path, Mode: c.Mode, Params: c.Params, Metrics: c.Metrics,
		Notes: []string{
			"each block is an interval, one after another; all flows are added up in one stream",
			"bytes are goodput at the receiver; sum_sent repeats them, since what was sent is not recorded",
		},
	}
	return doc, true
}

// iperf3Intervals are the steps of each sample's series, or the sample as one
// step where it has none.
func iperf3Intervals(c *result.Cell) []foreign.Iperf3Interval {
	duration := c.Params.Number("duration")
	if duration <= 0 {
		return nil
	}
	var intervals []foreign.Iperf3Interval
	start := 0.0
	for _, s := range c.Samples {
		whole, measured := s.Metrics["throughput"]
		if !measured {
			continue
		}
		steps := s.Series["throughput"]
		if len(steps) == 0 {
			steps = []float64{whole}
		}
		for i, bits := range steps {
			sum := iperf3Step(start, duration/float64(len(steps)), bits)
			if again := s.Series["retransmits"]; len(again) == len(steps) {
				sum.Retransmits = &again[i]
			}
			intervals = append(intervals, foreign.Iperf3Interval{Streams: []foreign.Iperf3Span{sum}, Sum: &sum})
			start = sum.End
		}
	}
	return intervals
}

func iperf3Step(start, seconds, bits float64) foreign.Iperf3Span {
	return foreign.Iperf3Span{
		Start: start, End: start + seconds, Seconds: seconds,
		Bytes: math.Trunc(bits * seconds / 8), BitsPerSecond: &bits, Omitted: new(false),
	}
}

// iperf3Total is the end of the document: means over the samples, and their
// retransmits added up.
func iperf3Total(c *result.Cell, intervals []foreign.Iperf3Interval, udp bool) foreign.Iperf3End {
	count, sums := map[string]float64{}, map[string]float64{}
	for _, s := range c.Samples {
		for name, v := range s.Metrics {
			count[name], sums[name] = count[name]+1, sums[name]+v
		}
	}
	received := iperf3Step(0, intervals[len(intervals)-1].Sum.End, sums["throughput"]/count["throughput"])
	sent := received
	sent.Sender = true
	if count["retransmits"] > 0 {
		sent.Retransmits = new(sums["retransmits"])
	}
	if count["jitter"] > 0 {
		received.JitterMS = new(1e3 * sums["jitter"] / count["jitter"])
	}
	if count["loss"] > 0 {
		received.LostPercent = new(100 * sums["loss"] / count["loss"])
	}
	end := foreign.Iperf3End{Sent: &sent, Received: &received}
	if udp {
		end.Sum, end.Streams = &received, []foreign.Iperf3Stream{{UDP: &received}}
		return end
	}
	end.Streams = []foreign.Iperf3Stream{{Sender: &sent, Receiver: &received}}
	end.SenderCC = given(*c, "cc")
	return end
}
