package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"tare/result"
)

// writeIperf3JSON writes the JSON of iperf3 -J for each cell that carried bulk
// data. The samples stand end to end as intervals, all flows together. What the
// schema does not know stands under x_tare.
func writeIperf3JSON(w io.Writer, results []*result.Result, _ string) (left []string, err error) {
	var docs []iperf3Doc
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

// iperf3Doc is one document in the schema of iperf3 (esnet/iperf, iperf_api.c).
type iperf3Doc struct {
	Start     iperf3Start      `json:"start"`
	Intervals []iperf3Interval `json:"intervals"`
	End       iperf3End        `json:"end"`
	Tare      iperf3Extras     `json:"x_tare"`
}

type iperf3Start struct {
	Connected  []any  `json:"connected"`
	Version    string `json:"version"`
	SystemInfo string `json:"system_info"`
	Timestamp  struct {
		Time    string `json:"time"`
		Seconds int64  `json:"timesecs"`
	} `json:"timestamp"`
	Test struct {
		Protocol string  `json:"protocol"`
		Streams  int     `json:"num_streams"`
		Size     int     `json:"blksize"`
		Omit     int     `json:"omit"`
		Duration float64 `json:"duration"` // s
		Bytes    int     `json:"bytes"`
		Blocks   int     `json:"blocks"`
		Reverse  int     `json:"reverse"`
		Target   float64 `json:"target_bitrate"` // bit/s, 0 for as fast as it goes
	} `json:"test_start"`
}

type iperf3Interval struct {
	Streams []iperf3Sum `json:"streams"`
	Sum     iperf3Sum   `json:"sum"`
}

type iperf3End struct {
	Streams  []map[string]iperf3Sum `json:"streams"`
	Sum      *iperf3Sum             `json:"sum,omitempty"` // UDP
	Sent     iperf3Sum              `json:"sum_sent"`
	Received iperf3Sum              `json:"sum_received"`
	CC       string                 `json:"sender_tcp_congestion,omitempty"`
}

// iperf3Sum is what was carried from start to end, in seconds.
type iperf3Sum struct {
	Start       float64  `json:"start"`
	End         float64  `json:"end"`
	Seconds     float64  `json:"seconds"`
	Bytes       int64    `json:"bytes"`
	Bits        float64  `json:"bits_per_second"`
	Retransmits *float64 `json:"retransmits,omitempty"`
	JitterMS    *float64 `json:"jitter_ms,omitempty"`
	LostPercent *float64 `json:"lost_percent,omitempty"`
	Omitted     bool     `json:"omitted"`
	Sender      bool     `json:"sender"`
}

// iperf3Extras say what the schema can't.
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
func iperf3Of(res *result.Result, c *result.Cell) (iperf3Doc, bool) {
	protocol, isStream := strings.CutSuffix(c.Workload, "_stream")
	intervals := iperf3Intervals(c)
	if !isStream || len(intervals) == 0 {
		return iperf3Doc{}, false
	}
	var doc iperf3Doc
	doc.Intervals = intervals
	doc.Start.Connected = []any{}
	doc.Start.Version = "tare " + res.Tool.Version
	doc.Start.SystemInfo = res.Environment.Kernel
	if at, err := time.Parse(time.RFC3339, res.Started); err == nil {
		doc.Start.Timestamp.Time, doc.Start.Timestamp.Seconds = at.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"), at.Unix()
	}
	test := &doc.Start.Test
	test.Protocol = strings.ToUpper(protocol)
	test.Streams = int(max(1, numberParam(c, "flows")))
	test.Size = int(numberParam(c, "size"))
	test.Target = numberParam(c, "rate")
	if given(*c, "direction") == "reverse" {
		test.Reverse = 1
	}
	doc.End = iperf3Total(c, intervals, protocol == "udp")
	test.Duration = doc.End.Received.Seconds
	doc.Tare = iperf3Extras{
		Network: c.Network, Path: c.Path, Mode: c.Mode, Params: c.Params, Metrics: c.Metrics,
		Notes: []string{
			"blocks stand end to end as intervals, all flows added up in one stream",
			"bytes are goodput at the receiver; sum_sent repeats them, since what was sent is not recorded",
		},
	}
	return doc, true
}

// numberParam is a param that counts, 0 where it is not known.
func numberParam(c *result.Cell, name string) float64 {
	switch v := c.Params[name].(type) {
	case float64:
		return v
	case int:
		return float64(v)
	case int64:
		return float64(v)
	}
	return 0
}

// iperf3Intervals are the steps of each sample's series, or the sample as one
// step where it has none.
func iperf3Intervals(c *result.Cell) []iperf3Interval {
	duration := numberParam(c, "duration")
	if duration <= 0 {
		return nil
	}
	var intervals []iperf3Interval
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
			intervals = append(intervals, iperf3Interval{Streams: []iperf3Sum{sum}, Sum: sum})
			start = sum.End
		}
	}
	return intervals
}

func iperf3Step(start, seconds, bits float64) iperf3Sum {
	return iperf3Sum{Start: start, End: start + seconds, Seconds: seconds, Bytes: int64(bits * seconds / 8), Bits: bits}
}

// iperf3Total is the end of the document: means over the samples, and their
// retransmits added up.
func iperf3Total(c *result.Cell, intervals []iperf3Interval, udp bool) iperf3End {
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
		again := sums["retransmits"]
		sent.Retransmits = &again
	}
	if count["jitter"] > 0 {
		jitter := 1e3 * sums["jitter"] / count["jitter"]
		received.JitterMS = &jitter
	}
	if count["loss"] > 0 {
		lost := 100 * sums["loss"] / count["loss"]
		received.LostPercent = &lost
	}
	end := iperf3End{Sent: sent, Received: received}
	if udp {
		end.Sum, end.Streams = &received, []map[string]iperf3Sum{{"udp": received}}
		return end
	}
	end.Streams = []map[string]iperf3Sum{{"sender": sent, "receiver": received}}
	end.CC = given(*c, "cc")
	return end
}
