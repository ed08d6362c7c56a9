package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"tare/result"
)

// k6Metric is what k6 says of a metric: its values, by themselves in the document of
// --summary-export, one level below in those of handleSummary and of its summary for machines.
type k6Metric struct {
	name   string // empty where the document's own name is
	values map[string]float64
}

func (m *k6Metric) UnmarshalJSON(text []byte) error {
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	m.name, _ = all["name"].(string)
	if values, nested := all["values"].(map[string]any); nested {
		all = values
	}
	m.values = map[string]float64{}
	for name, value := range all {
		if v, isNumber := value.(float64); isNumber {
			m.values[name] = v
		}
	}
	return nil
}

// k6Summary has the values of each metric by its name, and for how long they were measured.
type k6Summary struct {
	metrics map[string]map[string]float64
	took    float64
	version string
}

func k6SummaryOf(doc []byte) (k6Summary, bool) {
	var d struct {
		Metrics map[string]k6Metric `json:"metrics"`
		State   struct {
			Took float64 `json:"testRunDurationMs"`
		} `json:"state"`
		Config struct {
			Took float64 `json:"duration"`
		} `json:"config"`
		Metadata struct {
			Version string `json:"k6_version"`
		} `json:"metadata"`
		Results struct {
			Metrics []k6Metric `json:"metrics"`
		} `json:"results"`
	}
	if json.Unmarshal(doc, &d) != nil {
		return k6Summary{}, false
	}
	s := k6Summary{map[string]map[string]float64{}, max(seconds(d.State.Took, time.Millisecond), d.Config.Took), d.Metadata.Version}
	for name, m := range d.Metrics {
		s.metrics[name] = m.values
	}
	for _, m := range d.Results.Metrics {
		s.metrics[m.name] = m.values
	}
	if all := s.metrics["iterations"]; s.took == 0 && all["rate"] > 0 {
		s.took = all["count"] / all["rate"]
	}
	return s, s.metrics["iterations"] != nil || s.metrics["vus"] != nil || s.metrics["http_reqs"] != nil
}

// readK6JSON reads the summary of k6, whose times are in ms.
func readK6JSON(doc []byte, cut bool) ([]result.Cell, bool) {
	s, mine := k6SummaryOf(doc)
	if !mine {
		return nil, false
	}
	var cells []result.Cell
	for _, workload := range []string{"http", "grpc"} {
		times := s.metrics[workload+"_req_duration"]
		if times == nil && (workload != "http" || s.metrics["http_reqs"] == nil) {
			continue
		}
		b := newLoad("k6", workload, cut)
		b.known("tool_version", s.version)
		b.known("duration", s.took)
		users := s.metrics["vus_max"]
		b.known("workers", int(max(users["value"], users["max"])))
		if n := s.metrics["dropped_iterations"]["count"]; n > 0 {
			b.counter("dropped_iterations", n)
			b.warn(fmt.Sprintf("%.0f iterations were dropped: no virtual user was free", n))
		}
		b.counter("iterations", s.metrics["iterations"]["count"])
		if workload == "http" {
			s.requests(b)
		} else {
			b.warn("k6 does not count calls, nor those that failed")
		}
		if b.cell.Status == result.StatusOK {
			k6Times(b, times)
		}
		cells = append(cells, b.done())
	}
	if cells == nil {
		b := newLoad("k6", "", cut)
		b.counter("iterations", s.metrics["iterations"]["count"])
		b.known("duration", s.took)
		b.warn("no requests of HTTP or gRPC in it, which are what tare reads of k6")
		cells = append(cells, b.done())
	}
	return cells, true
}

// requests notes how many requests of HTTP were answered.
func (s k6Summary) requests(b *builder) {
	all, failed := s.metrics["http_reqs"]["count"], s.metrics["http_req_failed"]
	if !b.answered(all, all*cmp.Or(failed["rate"], failed["value"]), "") || s.took == 0 {
		return
	}
	b.above0("rate", cmp.Or(s.metrics["http_reqs"]["rate"], all/s.took), b.withFailed()...)
	b.above0("throughput", 8*s.metrics["data_received"]["count"]/s.took, "with the headers of HTTP")
}

// k6Times notes a distribution: avg, med, p(95).
func k6Times(b *builder, times map[string]float64) {
	for name, v := range times {
		percent, isRank := strings.CutPrefix(strings.NewReplacer("(", "", ")", "").Replace(name), "p")
		switch {
		case isRank:
			name = rankName(percent)
		case name == "med":
			name = "p50"
		case name == "avg":
			name = "mean"
		case name != "min" && name != "max":
			continue
		}
		b.took(name, seconds(v, time.Millisecond))
	}
}
