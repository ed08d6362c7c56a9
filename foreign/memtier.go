package foreign

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"tare/result"
)

// memtierStats are the figures of one command. Times are in ms.
type memtierStats struct {
	Count   float64        `json:"Count"` // not written by older versions
	Rate    *float64       `json:"Ops/sec"`
	Hits    float64        `json:"Hits/sec"`
	Misses  float64        `json:"Misses/sec"`
	Failed  float64        `json:"Connection Errors"`
	Mean    float64        `json:"Average Latency"`
	Latency float64        `json:"Latency"` // the mean too
	Min     float64        `json:"Min Latency"`
	Max     float64        `json:"Max Latency"`
	Ranks   map[string]any `json:"Percentile Latencies"`
}

type memtierSettings struct {
	Protocol string  `json:"protocol"`
	Server   string  `json:"server"`
	Clients  int     `json:"clients"` // of each thread
	Threads  int     `json:"threads"`
	Pipeline int     `json:"pipeline"`
	Limit    float64 `json:"rate_limit"` // of each client, 1/s
	Size     int     `json:"data_size"`
}

// readMemtierJSON reads memtier_benchmark --json-out-file: a cell for each command of a run. Its
// totals are not read: their mean is cut to whole ms, and those of several runs are of nothing.
func readMemtierJSON(doc []byte, cut bool) ([]result.Cell, bool) {
	var parts map[string]json.RawMessage
	var set memtierSettings
	if json.Unmarshal(doc, &parts) != nil || parts["configuration"] == nil || json.Unmarshal(parts["configuration"], &set) != nil || set.Clients == 0 {
		return nil, false
	}
	var cells []result.Cell
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		several := strings.HasPrefix(name, "AGGREGATED")
		if name != "ALL STATS" && !strings.HasPrefix(name, "RUN #") && !several {
			continue
		}
		var commands map[string]json.RawMessage
		if json.Unmarshal(parts[name], &commands) != nil {
			continue
		}
		for _, command := range slices.Sorted(maps.Keys(commands)) {
			var s memtierStats
			if command == "Totals" || json.Unmarshal(commands[command], &s) != nil || s.Rate == nil || *s.Rate == 0 {
				continue
			}
			b := set.begin(cut)
			b.param("test", strings.ToLower(strings.TrimSuffix(command, "s")))
			b.warn("of its " + command + " alone")
			if several {
				b.warn("the mean of several runs: " + strings.ToLower(name))
			}
			s.note(b, commands["Runtime"])
			cells = append(cells, b.done())
		}
	}
	if len(cells) == 0 {
		b := set.begin(cut)
		if !cut {
			b.fail("no request was answered")
		}
		cells = append(cells, b.done())
	}
	return cells, true
}

func (set memtierSettings) begin(cut bool) *builder {
	workload := "redis"
	if strings.HasPrefix(set.Protocol, "memcache") {
		workload = "memcached"
	}
	b := newLoad("memtier_benchmark", workload, cut)
	b.known("protocol", set.Protocol)
	b.known("url", set.Server)
	b.known("connections", set.Clients*set.Threads)
	b.known("threads", set.Threads)
	b.known("pipelining", set.Pipeline)
	b.known("rate", set.Limit*float64(set.Clients*set.Threads))
	b.known("size", set.Size)
	return b
}

// note notes the figures of a command, and how long the run took, in ms.
func (s memtierStats) note(b *builder, runtime json.RawMessage) {
	var run struct {
		Took float64 `json:"Total duration"`
	}
	if runtime != nil && json.Unmarshal(runtime, &run) == nil {
		b.known("duration", seconds(run.Took, time.Millisecond))
	}
	b.metric("rate", *s.Rate)
	if s.Count > 0 {
		b.counter("commands", s.Count)
		b.observed(s.Count)
	}
	if s.Failed > 0 {
		b.counter("errors", s.Failed)
	}
	for name, v := range map[string]float64{"hit_rate": s.Hits, "miss_rate": s.Misses} {
		if v > 0 {
			b.counter(name, v)
		}
	}
	if s.Misses > 0 && s.Hits == 0 {
		b.warn("no key was found: all answers were empty")
	}
	for name, v := range map[string]float64{"mean": cmp.Or(s.Mean, s.Latency), "min": s.Min, "max": s.Max} {
		b.took(name, seconds(v, time.Millisecond))
	}
	for name, v := range s.Ranks {
		percent, isRank := strings.CutPrefix(name, "p")
		if ms, isNumber := v.(float64); isRank && isNumber {
			b.took(rankName(strings.TrimRight(strings.TrimRight(percent, "0"), ".")), seconds(ms, time.Millisecond))
		}
	}
}
