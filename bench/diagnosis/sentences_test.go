package main

import (
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

func TestWhatAnAnswerNames(t *testing.T) {
	for answer, want := range map[string]string{
		"- vxlan costs most: +86.3 % of throughput.\n  The cause of 77 of its\n  86 points: tunnel-segmentation: the interfaces":        "tunnel-segmentation",
		"- proxy costs most. The cause of 79.7 % of it: userland-proxy: a process in h2":                                                "userland-proxy",
		"- Fault: random-loss: packets are lost (route on cross-host).\n- route costs most: The cause of 60.0 % of it: rung-cost: what": "random-loss",
		"- proxy costs most. No rule explains it. Also seen: core-migration (share unknown): 13":                                        "",
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
	n := natural{networks: []string{"ptp", "route", "vxlan"}}
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

func TestSentencesInThePage(t *testing.T) {
	page := "| a | b | |\n| time to verdict of `tare doctor`: median, maximum | 1 s | |\n"
	once := withSentences(page, []sentence{{true: true, nearby: true}, {problem: "was not measured"}})
	labtest.Equal(t, "row", strings.Contains(once, "| 1 of 1, 100 % | 29 of 30 |\n| time"), true)
	labtest.Equal(t, "rows after another run", strings.Count(withSentences(once, nil), sentenceRow), 1)
	section := sentencesSection([]sentence{{plan: "p", network: "route", named: "nat-cost", said: 0.3, truth: 0.6, true: true}})
	labtest.Equal(t, "a wrong one", strings.Contains(section, "| p | route | nat-cost | 30 | 60 |  | **no** |"), true)
}
