package balance

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tare/bench/harness"
	"tare/result"
	"tare/test/labtest"
	"tare/weigh"
)

// written is the page.
func written(t *testing.T, p page) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.md")
	if err := harness.Write(file, "resolution", resolutionPage, p); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// weighedTo is a result with one toll of a network, and the baselines' own.
func weighedTo(toll, half float64, verdict string) *result.Result {
	low, high := toll-half, toll+half
	return &result.Result{
		Started: "2026-01-01T00:00:00Z", Finished: "2026-01-01T00:01:00Z",
		Noise: result.Noise{AA: []result.AA{{Metric: "throughput", Low: -half / 2, High: half / 2, Verdict: "equal"}}},
		Cells: []result.Cell{
			{Network: "host", Metrics: []result.Metric{{Name: "throughput", Toll: &result.Toll{Value: 1, Low: &low, High: &high}}}},
			{Network: "vxlan", Metrics: []result.Metric{
				{Name: "throughput", Toll: &result.Toll{Value: toll, Low: &low, High: &high, Verdict: verdict}},
				{Name: "rtt_p99", Toll: &result.Toll{Value: toll, Low: &low, High: &high, Verdict: verdict}},
			}},
		},
	}
}

func TestPageShowsBothDesigns(t *testing.T) {
	flags := []string{"--networks", "vxlan"}
	o, err := readOptions(append([]string{"-rounds", "2", "-o", "FILE", "--"}, flags...))
	if err != nil {
		t.Fatal(err)
	}
	p := page{Command: o.command, Machine: harness.Machine{Date: "2026-01-01"}, Sections: []section{{
		plan:    plan{Title: "The plan", Flags: flags},
		Slots:   joined([]figures{figuresOf(weighedTo(0.2, 0.02, "slower"), ""), figuresOf(weighedTo(0.2, 0.04, "slower"), "")}),
		Windows: joined([]figures{figuresOf(weighedTo(0.2, 0.1, "slower"), ""), figuresOf(weighedTo(0.01, 0.3, "inconclusive"), ""), figuresOf(weighedTo(0.2, 0.3, "inconclusive"), "")}),
	}}}
	text := written(t, p)
	for _, line := range []string{
		"Written by `go run ./bench balance -rounds 2 -- --networks vxlan` on ",
		"| time of a run | 60 s | 60 s |",
		"| throughput: half-width of a toll, median | 30.0 % | 3.0 % |",
		"| throughput: the widest | 30.0 % | 4.0 % |",
		"| throughput: A/A, the widest | 15.0 % | 2.0 % |",
		"`tare run --networks vxlan`",
		"| tolls that are known | 1 of 3 | 2 of 2 |",
		"| tolls beyond 5 % that are known | 1 of 2 | 2 of 2 |",
		"| baselines that seem to differ from themselves | 0 | 0 |",
	} {
		labtest.Equal(t, "there is "+line, strings.Contains(text, line), true)
	}
}

// Blocks that differ as a whole, in which every cycle agrees.
func TestSpreadIsDivided(t *testing.T) {
	res := &result.Result{Cells: []result.Cell{{Network: "host", Group: "g"}, {Network: "vxlan", Group: "g"}}}
	for block := range 8 {
		run := func(value float64, layout string) result.Sample {
			values := []float64{value, 2 * value, value, 0}
			return result.Sample{
				Block: block, Layout: layout,
				Metrics: map[string]float64{"throughput": value},
				Slots:   &result.Slots{Values: map[string][]float64{"throughput": values}},
			}
		}
		own := math.Exp(0.1 * float64(block%2))
		res.Cells[0].Samples = append(res.Cells[0].Samples, run(1, weigh.LayoutA), run(1, weigh.LayoutB))
		res.Cells[1].Samples = append(res.Cells[1].Samples, run(own, ""))
	}
	whole, rest := spreads(res, "throughput")
	labtest.Equal(t, "tolls", len(whole), 1)
	labtest.Between(t, "deviation of a block", whole[0], 0.053, 0.054)
	labtest.Between(t, "what of it is its own", rest[0], 0.053, 0.054)
}

func TestTruthShowsWhatDisagrees(t *testing.T) {
	with := func(toll float64) *result.Result {
		res := weighedTo(toll, 0.02, "slower")
		res.Cells[1].Workload, res.Cells[1].Params = "tcp_stream", result.Params{"nic": "tso"}
		return res
	}
	found := truth{
		Known: []interval{interval(*with(0.2).Cells[1].Metrics[0].Toll)},
		Pairs: append(pairsOf(with(0.5), with(0.53)), pairsOf(with(0.5), with(0.6))...),
		AA:    80, Differs: []string{"throughput of tcp_stream +2.1 to +5.0 %"},
	}
	text := written(t, page{Truth: &found})
	for _, line := range []string{
		"its toll is 20 %. It was found to be +20.0 % [18.0, 22.0].",
		"| vxlan, tso, throughput | +50.0 % [48.0, 52.0] | +53.0 % [51.0, 55.0] | yes |",
		"| vxlan, tso, throughput | +50.0 % [48.0, 52.0] | +60.0 % [58.0, 62.0] | no |",
		"1 of 80 comparisons found a difference (throughput of tcp_stream +2.1 to +5.0 %).",
	} {
		labtest.Contains(t, "page", text, line)
	}
}

// TestAgainstShowsBothBuilds: the older build and the newer one, in a third of the time and in all of it.
func TestAgainstShowsBothBuilds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	of := joined([]figures{figuresOf(weighedTo(0.2, 0.02, "slower"), ""), figuresOf(weighedTo(0.2, 0.04, "slower"), "")})
	if err := harness.Write(file, "against", againstPage, map[string]any{"Machine": harness.Machine{}, "Command": "", "Rivals": []rival{{"the older tare", of}}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	labtest.Contains(t, "page", string(text), "| the older tare | 60.0 s | 2 of 2 | 2 of 2 | 3.0 % | none |\n")
	o, err := readOptions([]string{"-against", "old", "-rounds", "5", "-within", "1m", "--", "--networks", "vxlan"})
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "command", o.command, "go run ./bench balance -against OLD -rounds 5 -within 1m0s -- --networks vxlan")
}
