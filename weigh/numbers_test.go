package weigh

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/test/labtest"
)

var update = flag.Bool("update", false, "write testdata/numbers.txt")

// measuredBlocks is how many blocks ladderRun has.
const measuredBlocks = 8

// ladderRun is a run of a tunnel and of what it is built upon, under workloads of each kind, on a
// link. slowdowns are what each network divides rates by. Each block has its own noise, of 1 %.
func ladderRun() *result.Result {
	slowdowns := map[string]float64{catalog.Baseline: 1, "ptp": 1.05, "route": 1.1, "vxlan": 1.4, "bridge": 1.1}
	res := &result.Result{Plan: result.Plan{Margin: stats.DeclaredMargin}}
	for _, work := range []string{"tcp_stream", "tcp_rr", "udp_stream", "http", "lifecycle"} {
		for n, name := range []string{catalog.Baseline, "vxlan", "route", "bridge", "ptp"} {
			c := result.Cell{
				Network: name, Path: catalog.CrossHost, Workload: work, Status: result.StatusOK, Fidelity: "same-path",
				Params: result.Params{"link": 1e10, "mtu": 1500.0, "nic": "full"},
			}
			switch work {
			case "udp_stream":
				c.Params["size"] = 1400.0
			case "http":
				c.Params["size"], c.Params["connections"] = 10_000.0, 8.0
			}
			if name == "bridge" && work == "tcp_rr" {
				c.Status, c.Reason = result.StatusFailed, "no route to host"
			}
			for block := range measuredBlocks {
				if c.Status != result.StatusOK {
					break
				}
				for l, layout := range []string{LayoutA, LayoutB}[:2-min(n, 1)] {
					slow := slowdowns[name] * (1 + 0.004*float64((block*7+n*3+l*2)%5-2))
					s := sampleOf(work, slow)
					s.Block, s.Layout = block, layout
					c.Samples = append(c.Samples, s)
				}
				if work == "tcp_stream" { // slots without a window say nothing of the CPU
					c.Samples = append(c.Samples, result.Sample{Block: block, Counters: map[string]float64{"window": 9, "work": 0, "cpu_busy": 0.05}})
				}
			}
			res.Cells = append(res.Cells, c)
		}
	}
	res.SetGroups()
	return res
}

// sampleOf is what one window gave where everything takes so many times as long.
func sampleOf(work string, slow float64) result.Sample {
	s := result.Sample{Counters: map[string]float64{"window": 0.1, "work": 0.9 / slow, "cpu_busy": 0.12}}
	switch work {
	case "tcp_stream":
		s.Metrics = map[string]float64{"throughput": 9e9 / slow}
	case "udp_stream":
		s.Metrics = map[string]float64{"throughput": 8e9 / slow, "loss": 0.02 * (slow - 0.9)}
	case "tcp_rr":
		s.Metrics = map[string]float64{"rate": 5e4 / slow, "rtt_p50": 20e-6 * slow, "rtt_p99": 50e-6 * slow}
		s.Counters["work"] = 5e3 / slow
	case "http":
		s.Metrics = map[string]float64{"rate": 1e5 / slow, "latency_mean": 80e-6 * slow, "latency_p50": 75e-6 * slow, "latency_p99": 200e-6 * slow}
		s.Counters["work"] = 1e4 / slow
	case "lifecycle":
		s.Metrics = map[string]float64{"latency_p50": 0.2 * slow, "latency_p99": 0.35 * slow}
		for n := range 50 {
			s.Series = map[string][]float64{"latency": append(s.Series["latency"], 0.1*slow+0.005*float64(n))}
		}
		s.Counters = nil
	}
	return s
}

func weighAll(res *result.Result) []result.AA {
	cells := make([]*result.Cell, len(res.Cells))
	for n := range cells {
		cells[n] = &res.Cells[n]
	}
	return Result(cells, Options{Margin: res.Plan.Margin, Last: true, Warnings: func(c *result.Cell) []string {
		if c.Network == "bridge" {
			return []string{"noisy"}
		}
		return nil
	}})
}

// TestEveryNumberOfARun compares what a run says of each cell, its ranking and its ladders with
// testdata/numbers.txt, which -update writes.
func TestEveryNumberOfARun(t *testing.T) {
	res := ladderRun()
	var text strings.Builder
	for _, aa := range weighAll(res) {
		fmt.Fprintf(&text, "A/A %s %s: %.5g to %.5g, %s\n", aa.Workload, aa.Metric, aa.Low, aa.High, aa.Verdict)
	}
	for n := range res.Cells {
		writeCell(&text, &res.Cells[n])
	}
	for _, r := range Rank(res) {
		fmt.Fprintf(&text, "ranking of %s by %s: %+v\n", r.Workload, r.Metric, r.Unranked)
		for _, place := range r.Ranked {
			fmt.Fprintf(&text, "  %d %s %.5g", place.Place, place.Network, place.Toll.Value)
			if place.Behind != nil {
				fmt.Fprintf(&text, ", %.5g behind %s", place.Behind.Value, place.Than)
			}
			fmt.Fprintln(&text)
		}
	}
	writeLadders(&text, res)
	const golden = "testdata/numbers.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(want), "\n")
	for n, line := range strings.Split(text.String(), "\n") {
		if n >= len(lines) || line != lines[n] {
			t.Fatalf("line %d: %s\nwant %q", n+1, line, lines[min(n, len(lines)-1)])
		}
	}
}

// end writes the end of an interval.
func end(v *float64) string {
	if v == nil {
		return "?"
	}
	return fmt.Sprintf("%.5g", *v)
}

func writeCell(text *strings.Builder, c *result.Cell) {
	fmt.Fprintf(text, "%s %s\n", c.Workload, c.Network)
	for _, m := range c.Metrics {
		fmt.Fprintf(text, "  %s %.5g [%s, %s] %s of %d", m.Name, m.Value, end(m.Low), end(m.High), m.Unit, m.N)
		if m.Baseline != nil {
			fmt.Fprintf(text, ", baseline %.5g", m.Baseline.Value)
		}
		if toll := m.Toll; toll != nil {
			fmt.Fprintf(text, ", toll %.5g [%s, %s] %s beyond %.5g (%d), delta %.5g [%s, %s]", toll.Value, end(toll.Low), end(toll.High),
				toll.Verdict, toll.Margin, toll.BlocksToSay, toll.Delta.Value, end(toll.Delta.Low), end(toll.Delta.High))
		}
		if m.Ceiling != nil {
			fmt.Fprintf(text, ", ceiling %.5g, ratio %.5g, framing %.5g", m.Ceiling.Value, m.Ceiling.Ratio, m.Ceiling.Framing)
		}
		if m.TollParts != nil {
			fmt.Fprintf(text, ", of it framing %.5g, processing %.5g", m.TollParts.Framing, m.TollParts.Processing)
		}
		if l := m.Layer4; l != nil {
			fmt.Fprintf(text, ", trip %.5g, bytes %.5g, predicted %.5g, rest %.5g", l.RoundTrip, l.Bytes, l.Predicted, l.Rest)
		}
		fmt.Fprintf(text, " %q\n", m.Warnings)
	}
	if slow := Slower(c); slow != nil {
		fmt.Fprintf(text, "  slower by %s\n", slow.Name)
	}
}

func writeLadders(text *strings.Builder, res *result.Result) {
	groups := Groups(res)
	for _, g := range groups {
		metric := Headline(&res.Cells[0]).Name
		if g.Baseline == nil {
			continue
		}
		if m := Headline(g.Baseline); m != nil {
			metric = m.Name
		}
		l := NewLadder([]*Group{g}, []string{metric}, groups)
		if l.Root == nil {
			continue
		}
		fmt.Fprintf(text, "ladder of %s by %s, tall %t\n", g.Workload, metric, l.Root.TallerThanOne())
		writeRungs(text, l, l.Root.Children, "  ")
	}
}

func writeRungs(text *strings.Builder, l *Ladder, rungs []*Rung, indent string) {
	for _, r := range rungs {
		step, ok := l.Step(r, 0)
		fmt.Fprintf(text, "%s%s%s: %.5g [%.5g, %.5g] %t, %d of %d, %t\n", indent, r.Key.Network, as(r), step.Value, step.Low, step.High, step.Whole, step.Pairs, step.Blocks, ok)
		writeRungs(text, l, r.Children, indent+"  ")
	}
}

// as is what a rung is in place of.
func as(r *Rung) string {
	if r.As == "" {
		return ""
	}
	return " as " + r.As
}

// A wait that is longer than a whole transaction leaves a third of the rate.
func TestLayer4PredictsLongWaits(t *testing.T) {
	m := result.Metric{Name: "rate", Baseline: &result.Baseline{Value: 1000}, Toll: &result.Toll{Value: 0.7}}
	l := predict(m, result.Layer4{RoundTrip: 1.5e-3, Bytes: 0.5e-3}, 1)
	if l == nil {
		t.Fatal("nothing is predicted of the rate")
	}
	labtest.Near(t, "predicted", l.Predicted, 2.0/3, 1e-12)
	labtest.Near(t, "the rest", l.Rest, 0.7-2.0/3, 1e-12)
}

// What layer 4 predicts, by hand: a request waits for the longer round trip, and for its bytes.
func TestLayer4PredictsAnApplication(t *testing.T) {
	res := ladderRun()
	weighAll(res)
	var http *result.Cell
	for n := range res.Cells {
		if c := &res.Cells[n]; c.Workload == "http" && c.Network == "vxlan" {
			http = c
		}
	}
	l := Metric(http, "latency_mean").Layer4
	if l == nil {
		t.Fatal("nothing is predicted of the latency")
	}
	labtest.Near(t, "longer trip", l.RoundTrip, 0.4*20e-6, 0.2e-6)
	labtest.Near(t, "longer for its bytes", l.Bytes, 8*10_000*0.4/9e9, 0.1e-6)
	labtest.Near(t, "predicted", l.Predicted, (l.RoundTrip+l.Bytes)/80e-6, 0.005)
	labtest.Near(t, "the rest", l.Rest, 0.4-l.Predicted, 0.01)
	rate := Metric(http, "rate").Layer4
	each := 8 / 1e5
	labtest.Near(t, "predicted of the rate", rate.Predicted, (l.RoundTrip+l.Bytes)/(each+l.RoundTrip+l.Bytes), 0.005)
	if Metric(http, "latency_p99").Layer4 != nil {
		t.Error("something is predicted of the slowest requests")
	}
}

// CPU time counts while work is done: not in a first block without any, and only for long enough a window.
func TestCostIsThatOfWork(t *testing.T) {
	idle := result.Sample{Block: 0, Metrics: map[string]float64{"throughput": 1}, Counters: map[string]float64{"window": 9, "work": 0, "cpu_busy": 5}}
	for window, want := range map[float64]bool{0.1: true, 0.05: false} {
		cell := &result.Cell{Network: "bridge", Path: catalog.CrossHost, Workload: "tcp_stream", Status: result.StatusOK, Samples: []result.Sample{idle}}
		for block := 1; block <= 8; block++ {
			cell.Samples = append(cell.Samples, result.Sample{
				Block: block, Metrics: idle.Metrics, Counters: map[string]float64{"window": window, "work": 2, "cpu_busy": 1},
			})
		}
		cell.Metrics = Unweighed(cell)
		cost := Metric(cell, "cpu_per_gbit")
		labtest.Equal(t, fmt.Sprintf("it has a cost by eight windows of %v s", window), cost != nil, want)
		if cost != nil {
			labtest.Near(t, "cost", cost.Value, 0.5, 1e-12)
		}
	}
}
