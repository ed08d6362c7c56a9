package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
)

// again is a result that repeats a published measurement.
func again() *result.Result {
	res := few()
	value := func(v float64) *float64 { return &v }
	change := func(v float64) *result.Change {
		return &result.Change{Value: v, Low: value(v - 0.02), High: value(v + 0.03), Verdict: "slower", Margin: 0.02}
	}
	figure := func(network, as, fidelity string, size int, published, measured, publishedToll, toll float64) result.Figure {
		f := result.Figure{
			Experiment: "cloud", Network: network, As: as, Path: "cross-host", Workload: "tcp_sizes", Metric: "throughput", Unit: "bit/s",
			Size: size, Setting: strings.TrimPrefix(fmt.Sprintf("%d bytes, qperf", size), "0 bytes, "), Published: &published, Measured: &measured, Fidelity: fidelity,
		}
		if network != "host" {
			f.Against, f.PublishedToll, f.Toll = "host", &publishedToll, change(toll)
		}
		return f
	}
	bulk := figure("vxlan", "vxlan", catalog.SamePath, 0, 9.04e8, 8.9e8, 0.04, 0.05)
	bulk.Workload, bulk.Ceiling = "tcp_stream", &result.CeilingShares{Published: 0.995, Framing: 0.0345, Measured: value(0.98)}
	absent := result.Figure{
		Experiment: "cloud", Network: "havs-vlan", As: "havs", Path: "cross-host", Workload: "tcp_stream", Metric: "throughput", Unit: "bit/s",
		Published: value(5e8), PublishedToll: value(0.47), Against: "host", Reason: "havs is not here: it is closed source",
	}
	res.Case = &result.Case{
		ID: "a-case", Title: "VXLAN against the host", Experiments: []result.CaseExperiment{{Name: "cloud", Doc: "two hosts on a link", Plan: res.Plan}},
		Claims: []result.Claim{
			{Text: "VXLAN costs about 4 %", Kind: "stated", Verdict: result.ClaimReproduced, Because: "the toll of vxlan on its throughput is 5.0 % [3.0, 8.0]"},
			{Text: "small messages cost nothing", Kind: "stated", Note: "its own table says 20 %", Verdict: result.ClaimNotReproduced, Because: "12.0 % [10.0, 15.0] worse"},
			{Text: "HAVS is the fastest", Kind: "conjectured", Verdict: result.ClaimUntestable, Because: "havs is not here"},
		},
		Odd: []string{"the text says 26 %, its table 2.4 %"}, Defects: []string{"no host baseline"},
		Recommends: "VXLAN", Ours: "vxlan", Because: "it costs 5.0 % [3.0, 8.0] on throughput",
		Figures: []result.Figure{bulk, absent},
	}
	for n, size := range []int{64, 1024, 4096, 65536} {
		step := 0.01 * float64(n)
		res.Case.Figures = append(res.Case.Figures,
			figure("host", "host", catalog.SamePath, size, 9.4e8, 9.3e8, 0, 0),
			figure("vxlan", "vxlan", catalog.SamePath, size, 8e8, 7e8, 0.15+step, 0.2-step),
			figure("rama", "bridge-vlan", catalog.StandIn, size, 8.5e8, 7.5e8, 0.1+step, 0.12))
	}
	return res
}

// TestCaseInMarkdown: verdicts first, every figure that was measured with its two tolls. What is
// empty, and what the groups would say once more, is left out.
func TestCaseInMarkdown(t *testing.T) {
	var b bytes.Buffer
	res := again()
	res.Started = "2026-11-25T22:26:59Z"
	for size := range mostFigures + 1 {
		f := res.Case.Figures[0]
		f.Metric, f.Size = "latency_one_way", size
		res.Case.Figures = append(res.Case.Figures, f)
	}
	if _, err := writeMarkdown(&b, []*result.Result{res}, ""); err != nil {
		t.Fatal(err)
	}
	for _, absent := range []string{"### cross-host", "havs-vlan"} {
		if strings.Contains(b.String(), absent) {
			t.Errorf("%q is in\n%s", absent, b.String())
		}
	}
	for _, line := range []string{
		"2026-11-25: **1 reproduced, 1 not reproduced, 1 cannot be tested here.** Repeat: `tare run --case a-case --blocks 4`",
		"| small messages cost nothing (its own table says 20 %) | **not reproduced** | 12.0 % \\[10.0, 15.0\\] worse |",
		"| rama -&gt; bridge-vlan \\* | 64 bytes, qperf | 850 | +10.0 |",
		"The article recommends: VXLAN. On this machine tare recommends vxlan, because it costs 5.0 %",
		"- the text says 26 %, its table 2.4 %",
		"| network | setting | published, Mbit/s | toll, % | here, Mbit/s | toll, % |\n",
		"cloud: tcp\\_stream, latency\\_one\\_way: 17 figures, on a page: tare report",
		"\nPublished figures that were not measured here: 1.\n",
	} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("no %q in\n%s", line, b.String())
		}
	}
}
