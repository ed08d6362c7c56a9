package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
)

// nginx is a run of networks under http, with nginx at the other end.
func nginx(networks ...string) *result.Result {
	w := newWorld(plan(), 3)
	w.networks, w.loads = append([]string{catalog.Baseline}, networks...), []result.WorkloadPlan{{Name: "tcp_stream"}}
	w.paths = []string{catalog.SameHost, catalog.CrossHost, catalog.PublishedPort}
	res := w.result()
	for n := range res.Cells {
		c := &res.Cells[n]
		c.Workload, c.Params["server"] = "http", "nginx"
		for i := range c.Metrics {
			if m := &c.Metrics[i]; m.Name == "throughput" {
				m.Name, m.Unit, m.Value = "rate", "1/s", m.Value/2e6
				if m.Baseline != nil {
					m.Baseline.Value /= 2e6
				}
			}
		}
	}
	return res
}

// What was asked of a few networks is said first, in words with numbers.
func TestAnswerBeginsWithWhatWasAsked(t *testing.T) {
	res := nginx("nat", "bridge")
	text := strings.Join(strings.Fields(renderAnswer(t, res, Options{})), " ")
	labtest.Contains(t, "the answer", text, "nat costs nginx 17 % of its requests on published-port (12.6k instead of 15.2k a second).")
	labtest.Contains(t, "the answer", text, "bridge costs nginx 14 % of its requests on one host (16.5k instead of 19.2k a second).")
	if strings.Index(text, "costs nginx") > strings.Index(text, "Tolls compared") {
		t.Errorf("the matrix is first:\n%s", text)
	}
	zh := renderAnswer(t, res, Options{Lang: "zh"})
	labtest.Contains(t, "the answer in Chinese", zh, "bridge 使 nginx 的请求减少 14 %（同一主机内，每秒 16.5k，基准为 19.2k）。")
	page := answerView(res, groupsOf(res))
	labtest.Contains(t, "the page", strings.Join(page.Leads["en"], " "), "bridge costs nginx 14 % of its requests on one host")
	var markdown strings.Builder
	if _, err := writeMarkdown(&markdown, []*result.Result{res}, "en"); err != nil {
		t.Fatal(err)
	}
	labtest.Contains(t, "the Markdown", markdown.String(), "bridge costs nginx 14 % of its requests on one host")
}

// Several paths are one sentence; of many networks the matrix says what was asked.
func TestAnswerBeginsWithFewNetworksAlone(t *testing.T) {
	w := newWorld(plan(), 3)
	w.networks, w.loads, w.paths = []string{"host", "vxlan"}, streamAndTrip(), []string{catalog.SameHost, catalog.CrossHost}
	labtest.Contains(t, "the answer", strings.Join(strings.Fields(renderAnswer(t, w.result(), Options{})), " "),
		"vxlan costs 15 % of the throughput on one host (32.7 Gbit/s instead of 38.3 Gbit/s), between two hosts 33 %; adds 1.72 us to the round trip p50 on one host (")
	if text := renderAnswer(t, quick(), Options{}); strings.Contains(text, "instead of") {
		t.Errorf("of eight networks each has a sentence:\n%s", text)
	}
}

// Where the plan names a network to compare with, it is what was asked about.
func TestAnswerBeginsWithTheNetworkToCompareWith(t *testing.T) {
	res := nginx("nat", "bridge")
	of := func(workload, metric, unit string, old, recent, share float64) result.ComparedCell {
		return result.ComparedCell{
			Network: "nat", Path: catalog.PublishedPort, Workload: workload, Params: result.Params{"server": "nginx"},
			Metrics: []result.ComparedMetric{{Name: metric, Unit: unit, Old: old, New: recent, Change: &result.Change{Value: share, Verdict: "slower"}}},
		}
	}
	res.Plan.Workloads = []result.WorkloadPlan{{Name: "http"}, {Name: "tcp_rr", Explains: true}}
	res.Comparisons = []result.Comparison{{
		Along: result.AlongNetwork, Of: result.Each, Than: "bridge", Judged: result.JudgedByValue,
		Cells: []result.ComparedCell{of("http", "rate", "1/s", 950, 760, 0.2), of("tcp_rr", "rtt_p50", "s", 10e-6, 12e-6, 0.2)},
	}}
	text := renderAnswer(t, res, Options{})
	labtest.Contains(t, "the answer", text, "\nnat costs nginx 20 % of its requests on published-port (760 instead of 950 a second), compared with\nbridge.\n")
	if strings.Contains(text, "bridge costs nginx") || strings.Contains(text, "adds") {
		t.Errorf("it says more than was asked:\n%s", text)
	}
	res.Comparisons[0].Cells = res.Comparisons[0].Cells[1:]
	res.Plan.Workloads = []result.WorkloadPlan{{Name: "tcp_rr"}}
	labtest.Contains(t, "the answer", renderAnswer(t, res, Options{}), "\nnat adds 2.00 us to the round trip p50 on published-port (12.0 us instead of 10.0 us), compared with\nbridge.\n")
}

// A path that the network to compare with does not serve is compared with the host.
func TestAnswerSaysWhatPathsCostThatTheOtherHasNot(t *testing.T) {
	res := nginx("nat", "bridge")
	res.Plan.Workloads = []result.WorkloadPlan{{Name: "http"}}
	res.Comparisons = []result.Comparison{{
		Along: result.AlongNetwork, Of: result.Each, Than: "bridge", Judged: result.JudgedByValue,
		Cells: []result.ComparedCell{{Network: "nat", Path: catalog.SameHost, Workload: "http", Params: result.Params{"server": "nginx"}}},
	}}
	text := strings.Join(strings.Fields(renderAnswer(t, res, Options{})), " ")
	labtest.Contains(t, "the answer", text, "nat costs nginx 17 % of its requests on published-port (12.6k instead of 15.2k a second), compared with host.")
	if strings.Contains(text, "bridge costs") {
		t.Errorf("it compares the network that others are compared with:\n%s", text)
	}
}

// Such a path has a share and a time, where the workloads have both.
func TestAnswerSaysBothOfPathsThatTheOtherHasNot(t *testing.T) {
	w := newWorld(plan(), 3)
	w.networks, w.loads, w.paths = []string{"host", "vxlan"}, streamAndTrip(), []string{catalog.CrossHost}
	res := w.result()
	res.Comparisons = []result.Comparison{{Along: result.AlongNetwork, Of: result.Each, Than: "route", Judged: result.JudgedByValue}}
	text := strings.Join(strings.Fields(renderAnswer(t, res, Options{})), " ")
	labtest.Contains(t, "the answer", text, "vxlan costs 34 % of the throughput between two hosts")
	labtest.Contains(t, "the answer", text, "to the round trip p50 between two hosts")
	labtest.Contains(t, "the answer", text, ", compared with host.")
}

// The page's picture has all that was asked, and the first of what has no room.
func TestPictureHasEachWorkload(t *testing.T) {
	for flows, want := range map[int]int{2: 2 * 3, 7: 3} {
		w := newWorld(plan(), 3)
		w.networks, w.loads, w.paths = []string{"host", "vxlan"}, nil, []string{catalog.SameHost, catalog.CrossHost, catalog.HostToContainer}
		for n := range flows {
			w.loads = append(w.loads, result.WorkloadPlan{Name: "tcp_stream", Flows: n + 1})
		}
		res := w.result()
		v := answerView(res, groupsOf(res))
		labtest.Equal(t, fmt.Sprint("columns of ", flows, " workloads"), len(v.Columns), want)
		labtest.Equal(t, "fields of a row", len(v.Rows[0].Fields), want)
	}
}

// Between two machines it is what they have between them.
func TestAnswerBeginsWithTheMachines(t *testing.T) {
	w := newWorld(plan(), 3)
	w.networks, w.loads, w.paths = []string{"host"}, streamAndTrip(), []string{catalog.CrossHost}
	res := w.result()
	if text := renderAnswer(t, res, Options{}); strings.Contains(text, " to beta") {
		t.Fatalf("it names machines that it does not have:\n%s", text)
	}
	res.Places = []result.Place{{Name: "h1", Machine: "alpha"}, {Name: "h2", Machine: "beta"}}
	text := renderAnswer(t, res, Options{})
	labtest.Contains(t, "the answer", text, "alpha to beta: throughput 3")
	labtest.Contains(t, "the answer", text, " Gbit/s, round trip p50 1")
	if lines := strings.Split(text, "\n"); !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "alpha to beta: ") && strings.HasSuffix(l, " us.") }) {
		t.Errorf("it shares its line:\n%s", text)
	}
}

// Two workloads that are judged by the same metric are both named, or nothing is said.
func TestAnswerNamesWorkloadsThatAreAlike(t *testing.T) {
	w := newWorld(plan(), 3)
	w.networks, w.loads, w.paths = []string{"host", "vxlan"}, []result.WorkloadPlan{{Name: "tcp_stream", Flows: 1}, {Name: "tcp_stream", Flows: 8}}, []string{catalog.CrossHost}
	res := w.result()
	res.Places = []result.Place{{Name: "h1", Machine: "alpha"}, {Name: "h2", Machine: "beta"}}
	text := renderAnswer(t, res, Options{})
	labtest.Contains(t, "the answer", text, "vxlan (")
	if strings.Count(text, "\nvxlan (") != 2 || strings.Contains(text, "\nvxlan costs") || strings.Contains(text, "alpha to beta") {
		t.Errorf("it does not show which is which:\n%s", text)
	}
	compared := func(flows int) result.ComparedCell {
		return result.ComparedCell{
			Network: "vxlan", Path: catalog.CrossHost, Workload: "tcp_stream", Params: result.Params{"flows": flows},
			Metrics: []result.ComparedMetric{{Name: "throughput", Unit: "bit/s", Old: 2e9, New: 1e9, Change: &result.Change{Value: 0.5, Verdict: "slower"}}},
		}
	}
	res.Comparisons = []result.Comparison{{Along: result.AlongNetwork, Than: "route", Judged: result.JudgedByValue, Cells: []result.ComparedCell{compared(1), compared(8)}}}
	if text := renderAnswer(t, res, Options{}); strings.Contains(text, "instead of") {
		t.Errorf("it does not show which is which:\n%s", text)
	}
}
