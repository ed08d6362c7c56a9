package experiment

import (
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// judged is a cell of some metrics, after the referee saw it.
func judged(workload string, params result.Params, sample result.Sample, metrics map[string]float64, change func(*result.Cell)) []string {
	cell := result.Cell{Network: "vxlan", Path: catalog.CrossHost, Workload: workload, Status: result.StatusOK, Params: params, Samples: []result.Sample{sample}}
	for _, q := range result.Quantities() {
		if v, has := metrics[q.Name]; has {
			cell.Metrics = append(cell.Metrics, result.Metric{Name: q.Name, Unit: q.Unit, Better: q.Better, Value: v})
		}
	}
	if change != nil {
		change(&cell)
	}
	res := &result.Result{Cells: []result.Cell{cell}}
	Referee(res)
	Referee(res) // adds no warning twice
	var all []string
	for _, m := range res.Cells[0].Metrics {
		all = append(all, m.Warnings...)
	}
	return all
}

// TestNumbersThatCanNotBeTrueTogether has for each rule what breaks it and what
// just does not.
func TestNumbersThatCanNotBeTrueTogether(t *testing.T) {
	tolled := func(verdict stats.Verdict, path string) func(*result.Cell) {
		return func(c *result.Cell) {
			c.Path, c.Metrics[0].Toll = path, &result.Toll{Value: -0.2, Verdict: string(verdict)}
		}
	}
	bounded := func(value float64) func(*result.Cell) {
		return func(c *result.Cell) { c.Metrics[0].Ceiling = &result.Ceiling{Value: value} }
	}
	counters := func(name string, value float64) result.Sample {
		return result.Sample{Counters: map[string]float64{name: value}}
	}
	corrected := func(c *result.Cell) {
		for n := range c.Metrics {
			if c.Metrics[n].Name == "latency_mean" {
				c.Metrics[n].Warnings = []string{result.Corrected + ": for what a slow answer held back"}
			}
		}
	}
	for _, c := range []struct {
		name, want string
		metrics    map[string]float64
		params     result.Params
		sample     result.Sample
		change     func(*result.Cell)
		warned     int // warnings that were there before
	}{
		{name: "more than the wire", want: "above-ceiling", metrics: map[string]float64{"throughput": 960e6}, change: bounded(909e6)},
		{name: "all that the wire has", metrics: map[string]float64{"throughput": 909e6}, change: bounded(909e6)},
		{name: "a container before its host", want: "faster-than-host", metrics: map[string]float64{"throughput": 1e9}, change: tolled(stats.Faster, catalog.CrossHost)},
		{name: "noise", metrics: map[string]float64{"throughput": 1e9}, change: tolled(stats.Inconclusive, catalog.CrossHost)},
		{name: "a bridge compared with the loopback", metrics: map[string]float64{"throughput": 1e9}, change: tolled(stats.Faster, catalog.SameHost)},
		{name: "46 in flight on ten", want: "too-many-under-way: rate and mean time imply 46.0 in flight, and there were 10 connections", metrics: map[string]float64{"rate": 10e3, "latency_mean": 4.6e-3}, params: result.Params{"connections": 10.0}},
		{name: "ten in flight on ten", metrics: map[string]float64{"rate": 10e3, "latency_mean": 1e-3}, params: result.Params{"connections": 10.0}},
		{name: "46 in flight on ten that have ten each", metrics: map[string]float64{"rate": 10e3, "latency_mean": 4.6e-3}, params: result.Params{"connections": 10.0, "pipelining": 10.0}},
		{name: "255 transactions on 100 threads", want: "too-many-under-way", metrics: map[string]float64{"rate": 2.6, "latency_mean": 98}, params: result.Params{"threads": 100.0}},
		{name: "a mean with samples that a tool added", metrics: map[string]float64{"rate": 10e3, "latency_mean": 4.6e-3}, params: result.Params{"connections": 10.0}, change: corrected, warned: 1},
		{name: "connections are not known", metrics: map[string]float64{"rate": 10e3, "latency_mean": 4.6e-3}},
		{name: "an open loop", metrics: map[string]float64{"rate": 10e3, "latency_mean": 4.6e-3}, params: result.Params{"connections": 10.0, "rate": 10e3}},
		{name: "p99 below p50", want: "percentiles-out-of-order: latency_p99 is below latency_p90", metrics: map[string]float64{"latency_p50": 1e-3, "latency_p90": 3e-3, "latency_p99": 2e-3}},
		{name: "a percentile that is no metric", want: "percentiles-out-of-order: latency_p97_5 is below latency_p90", metrics: map[string]float64{"latency_p90": 3e-3}, sample: counters("latency_p97_5", 2e-3)},
		{name: "in order", metrics: map[string]float64{"latency_p50": 1e-3, "latency_p99": 1e-3, "rtt_p50": 5e-3, "rtt_p99": 9e-3}},
		{name: "a mean above the longest", want: "above-the-longest: latency_mean is 0.004 s, and the longest time 0.003 s", metrics: map[string]float64{"latency_mean": 4e-3}, sample: counters("latency_max", 3e-3)},
		{name: "the edge of a bucket above the longest", metrics: map[string]float64{"latency_p95": 2.403}, sample: counters("latency_max", 2.361)},
		{name: "a median below the shortest", want: "below-the-shortest", metrics: map[string]float64{"rtt_p50": 1e-3}, sample: counters("rtt_min", 2e-3)},
		{name: "a jitter of eleven days in four seconds", want: "longer-than-its-run: jitter is 9.634e+05 s, and the run took 4 s", metrics: map[string]float64{"jitter": 963437}, params: result.Params{"duration": 4.0}},
		{name: "a time as long as its run", metrics: map[string]float64{"latency_p99": 4.2}, params: result.Params{"duration": 4.0}},
		{name: "a rate that is not its count", want: "rate-against-count: 4000/s for 10 s make 4e+04 requests, and 4000 were counted", metrics: map[string]float64{"rate": 4000}, params: result.Params{"duration": 10.0}, sample: counters("requests", 4000)},
		{name: "a window behind a warm-up", metrics: map[string]float64{"rate": 4000, "latency_p99": 30}, params: result.Params{"duration": 10.0, "warmup": 1.0}, sample: counters("requests", 44000)},
		{name: "a rate that is its count", metrics: map[string]float64{"rate": 400}, params: result.Params{"duration": 10.0}, sample: counters("requests", 3990)},
		{name: "received more than sent", want: "more-than-sent", metrics: map[string]float64{"rate": 12e3}, sample: result.Sample{Metrics: map[string]float64{"rate": 12e3, "offered_rate": 10e3, "loss": 0}}},
		{name: "received what was sent", metrics: map[string]float64{"rate": 10e3}, sample: result.Sample{Metrics: map[string]float64{"rate": 10e3, "offered_rate": 10e3, "loss": 0}}},
		{name: "one thread more than all CPUs", want: "cpu-of-the-whole", metrics: map[string]float64{"rate": 1}, sample: result.Sample{Counters: map[string]float64{"cpu_busy": 0.2, "thread_busy": 0.9, "window": 1}}},
		{name: "one thread of two CPUs", metrics: map[string]float64{"rate": 1}, sample: result.Sample{Counters: map[string]float64{"cpu_busy": 1.1, "thread_busy": 0.9, "window": 1}}},
	} {
		params := result.Params{}
		for name, value := range c.params {
			params[name] = value
		}
		got := judged("http", params, c.sample, c.metrics, c.change)
		if c.want == "" && len(got) != c.warned || c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.want)) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestImportedRunsGetTheirCeiling bounds what was published over 1 Gbit/s: the
// plateau of Docker's overlay is all that VXLAN leaves.
func TestImportedRunsGetTheirCeiling(t *testing.T) {
	imported := func(value float64) *result.Result {
		return &result.Result{Cells: []result.Cell{{
			Workload: "tcp_stream", Path: catalog.CrossHost, Status: result.StatusOK, Params: result.Params{},
			Metrics: []result.Metric{{Name: "throughput", Value: value}},
		}}}
	}
	res := imported(909e6)
	if err := Bound(res, 1e9, 1500, "vxlan"); err != nil {
		t.Fatal(err)
	}
	if c := res.Cells[0].Metrics[0].Ceiling; c == nil || c.Ratio < 0.999 || c.Ratio > 1.001 {
		t.Errorf("ceiling %+v, want that of 909 Mbit/s", c)
	}
	over := imported(941e6)
	if err := Bound(over, 1e9, 1500, "vxlan"); err != nil {
		t.Fatal(err)
	}
	if Referee(over); len(over.Cells[0].Metrics[0].Warnings) != 1 {
		t.Errorf("941 Mbit/s through VXLAN: %q", over.Cells[0].Metrics[0].Warnings)
	}
	if err := Bound(res, 1e9, 1500, "vxlam"); err == nil || !strings.Contains(err.Error(), `did you mean "vxlan"`) {
		t.Errorf("an unknown network: %v", err)
	}
}
