package diagnosis

import (
	"os"
	"path/filepath"
	"testing"

	"tare/bench/harness"
	"tare/result"
	"tare/test/labtest"
)

func TestWhatAnAnswerNames(t *testing.T) {
	for answer, want := range map[string]string{
		"- vxlan costs most: +86.3 % of throughput.\n  The cause of 77 of its\n  86 percentage points: tunnel-segmentation: the interfaces": "tunnel-segmentation",
		"- proxy costs most. The cause of 79.7 % of it: userland-proxy: a process in h2":                                                    "userland-proxy",
		"- Fault: random-loss: packets are lost (route on cross-host).\n- route costs most: The cause of 60.0 % of it: rung-cost: what":     "random-loss",
		"- proxy costs most. No rule explains it. Also seen: core-migration (share unknown): 13":                                            "",
	} {
		labtest.Equal(t, answer, saidIn(answer), want)
	}
}

func TestSentencesAreRightInAllRespects(t *testing.T) {
	labtest.Equal(t, "all", sentence{true: true, nearby: true, fix: mended}.right(), true)
	labtest.Equal(t, "without a fix to carry out", sentence{true: true, nearby: true}.right(), true)
	labtest.Equal(t, "another cause", sentence{nearby: true}.right(), false)
	labtest.Equal(t, "another share", sentence{true: true}.right(), false)
	labtest.Equal(t, "a fix that fixes nothing", sentence{true: true, nearby: true, fix: notMended + ": the symptom stays"}.right(), false)
}

// Of a toll of 0.4 ptp is 0.1, route 0.3 and vxlan the rest.
func TestTruthOfANaturalToll(t *testing.T) {
	const n natural = "ptp,route,vxlan cross-host tcp_rr"
	res := &result.Result{}
	for name, toll := range map[string]float64{"ptp": 0.1, "route": 0.3, "vxlan": 0.4} {
		res.Cells = append(res.Cells, result.Cell{Network: name, Workload: "tcp_rr", Metrics: []result.Metric{{Name: "rtt_p50", Toll: &result.Toll{Value: toll}}}})
	}
	for _, c := range []struct {
		f       result.Finding
		share   float64
		largest bool
	}{
		{result.Finding{ID: "encapsulation-cost"}, 0.25, false},
		{result.Finding{ID: "rung-cost", Evidence: []result.Evidence{{Name: "toll of route on rtt_p50"}, {Name: "toll of ptp on rtt_p50"}}}, 0.5, true},
		{result.Finding{ID: "rung-cost", Evidence: []result.Evidence{{Name: "toll of ptp on rtt_p50"}}}, 0.25, false},
	} {
		share, largest := n.truth(res, c.f)
		labtest.Near(t, c.f.ID+": share", share, c.share, 1e-9)
		labtest.Equal(t, c.f.ID+": largest", largest, c.largest)
	}
}

func TestPageOfShares(t *testing.T) {
	low, high := 0.45, 0.55
	p := sharesOf{
		Injected: []injected{
			{Cause: "nat-cost", Wording: "snat", at: "route cross-host", Before: toll{value: 0.2, half: 0.02}, After: toll{value: 0.4, half: 0.02}, found: &result.Finding{Share: 0.5, Low: &low, High: &high}},
			{Cause: "many-rules", Wording: "forward", at: "route cross-host", Problem: "the cause was not named"},
		},
		Said: []sentence{
			{true: true, nearby: true}, {Problem: "was not measured"},
			{Plan: "p", Network: "route", named: "nat-cost", said: 0.3, truth: 0.6, true: true},
		},
	}
	file := filepath.Join(t.TempDir(), "page.md")
	if err := harness.Write(file, "shares", sharesPage, p); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1 of 1, 100 % within 5 points; of the others, the intervals of 0 overlap.",
		"| `nat-cost` | snat | route | 20.0 ± 2.0 | 40.0 ± 2.0 | 50.0 ± 5.6 | 50.0 \\[45.0, 55.0\\] | +0.0 |",
		"| `many-rules` | forward | route | 0.0 ± 0.0 | 0.0 ± 0.0 |  | the cause was not named |  |",
		"first names a cause, 1 of 2, 50 % are right",
		"| p | route | nat-cost | 30 | 60 |  | **no** |",
	} {
		labtest.Contains(t, "page", string(text), want)
	}
}
