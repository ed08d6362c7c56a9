package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
)

// chinese is a report in Chinese, and what it is of.
type chinese struct {
	text string
	of   any
}

// inChinese are reports of every kind.
func inChinese(t *testing.T, columns int) map[string]chinese {
	t.Helper()
	opts := Options{Width: columns, Lang: Chinese}
	reports := map[string]chinese{}
	add := func(name string, of any, write func(b *strings.Builder) error) {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		reports[name] = chinese{b.String(), of}
	}
	results := map[string]*result.Result{"ranked": ranked(), "made": made()}
	for name, build := range scenarios() {
		results[name] = build()
	}
	for name, res := range results {
		add(name, res, func(b *strings.Builder) error { return Terminal(b, res, opts) })
	}
	traced, lost := tracedResult(), tracedResult()
	lost.Cells[0].Trace = &result.Trace{Ledger: &result.Ledger{}}
	lost.Cells = append(lost.Cells, result.Cell{Network: "veth", Params: result.Params{"nic": "full", "mtu": 1500.0}})
	imported, unread := importedRuns(), []result.Unread{{Source: "nft", Reason: "as root"}}
	found := quick().Findings
	found[0].Paths = []string{"vxlan h1/c1"}
	add("traced", traced, func(b *strings.Builder) error { return Trace(b, traced, opts) })
	add("lost", lost, func(b *strings.Builder) error { return Trace(b, lost, opts) })
	add("compared", compared(), func(b *strings.Builder) error { return Comparison(b, compared(), opts) })
	add("unlike", result.Comparison{}, func(b *strings.Builder) error { return Comparison(b, result.Comparison{Paired: true}, opts) })
	add("imported", imported, func(b *strings.Builder) error { return Imported(b, imported, opts) })
	add("found", []any{found, unread}, func(b *strings.Builder) error {
		return Findings(b, result.Diagnosis{Findings: found, Unread: unread}, opts)
	})
	looked := result.Diagnosis{Looked: result.Looked{Paths: 1, Trials: 20, Counters: 30, Settings: 40, Routes: 2}}
	add("none", looked, func(b *strings.Builder) error { return Findings(b, looked, opts) })
	add("files", "run.json run.html", func(b *strings.Builder) error { return Files(b, "run.json", "run.html", false, opts) })
	return reports
}

// ranked is a result in which networks were ranked and fixes verified.
func ranked() *result.Result {
	res := quick()
	low, high, before, after := 0.1, 0.2, 0.3, 0.1
	toll := result.Toll{Value: 0.15, Low: &low, High: &high}
	res.Plan.Needs = []string{"no-l2", "policy"}
	res.Rankings = []result.Ranking{
		{
			Path: "cross-host", Workload: "tcp_rr", Metric: "rtt_p50", Params: result.Params{"nic": "full"},
			Ranked: []result.Ranked{
				{Place: 1, Network: "route", Toll: toll}, {Place: 1, Network: "ptp", Toll: toll, Than: "route", Behind: &result.Change{Value: 0.01, Low: &low, High: &high}},
				{Place: 3, Network: "vxlan", Toll: toll, Than: "ptp", Behind: &result.Change{Value: 0.1, Low: &low, High: &high}},
			},
			Unranked: []result.Unqualified{{Network: "nat", Reason: "has no toll"}},
		},
		{Path: "same-host", Workload: "tcp_rr", Metric: "throughput"},
	}
	finding := res.Findings[0]
	for _, v := range []result.Verified{
		{}, {Recovered: 1}, {Metric: "throughput", Before: &before, After: &after}, {Metric: "throughput", Before: &before, After: &after, Recovered: 0.6},
	} {
		finding.ID += "-again"
		finding.Verified = &v
		res.Findings = append(res.Findings, finding)
	}
	res.Cells[3].Findings = []result.Finding{finding}
	res.Environment.LabUp, res.Environment.LabMemoryBytes = 2, 300<<20
	res.Noise.Daemons = &result.Daemons{CPU: 0.01, Each: map[string]float64{"dockerd": 0.005}}
	return res
}

// made is a result of containers that were made and removed.
func made() *result.Result {
	metric := func(name string, value float64) result.Metric {
		q, _ := result.QuantityOf(name)
		return result.Metric{Name: name, Unit: q.Unit, Better: q.Better, N: 6, Value: value}
	}
	cell := func(network string) result.Cell {
		return result.Cell{
			Network: network, Path: "same-host", Workload: "attach", Status: result.StatusOK, Fidelity: "product", Params: result.Params{},
			Metrics: []result.Metric{metric("latency_p50", 0.2), metric("latency_network", 0.05), metric("latency_p99", 0.3), metric("latency_remove", 0.1), metric("cpu_per_transaction", 0.1)},
			Samples: []result.Sample{{Counters: map[string]float64{"operations": 40}}},
		}
	}
	return &result.Result{Cells: []result.Cell{cell("host"), cell("veth")}}
}

// compared is a comparison with everything that one can have.
func compared() result.Comparison {
	low, high := 0.08, 0.12
	change := &result.Change{Value: 0.1, Low: &low, High: &high, Verdict: "slower"}
	metric := func(name string, verdict string) result.ComparedMetric {
		q, _ := result.QuantityOf(name)
		judged := *change
		judged.Verdict = verdict
		return result.ComparedMetric{
			Name: name, Unit: q.Unit, Better: q.Better, Old: 3e10, New: 2.9e10, Change: &judged, TollChange: &judged,
			OldToll: &result.Toll{Value: 0.1}, NewToll: &result.Toll{Value: 0.2},
		}
	}
	return result.Comparison{
		Old:    result.Compared{File: "old.json", Started: "2026-11-01T12:00:00Z", Version: "0.1.0"},
		New:    result.Compared{File: "new.json", Started: "2026-11-02T12:00:00Z", Version: "0.1.0"},
		Judged: result.JudgedByToll, Differ: []result.Difference{{Name: "kernel", Old: "6.1"}},
		Cells: []result.ComparedCell{{
			Network: "vxlan", Path: "cross-host", Workload: "tcp_stream", Mode: "write128K", Params: result.Params{"nic": "full"},
			Metrics: []result.ComparedMetric{metric("throughput", "slower"), metric("rtt_p50", "inconclusive"), metric("latency_p50", "equal")},
		}},
		Single: []result.SingleCell{{Cell: "nat same-host tcp_rr", In: "old", Reason: "died"}, {Cell: "ptp same-host tcp_rr", In: "new"}},
		Unmet: []result.Unmet{
			{Gate: "max-toll", Cell: "vxlan cross-host tcp_stream", Metric: "throughput", Limit: 0.03, Value: 0.1, Low: 0.08},
			{Gate: "max-regression", Cell: "nat same-host tcp_rr", Limit: 0.03, Reason: "died"},
		},
	}
}

// TestChinese compares some reports with those that were reviewed.
func TestChinese(t *testing.T) {
	reports := inChinese(t, 0)
	for _, name := range []string{"quick", "broken", "ranked", "compared", "traced", "made", "imported"} {
		golden := filepath.Join("testdata", name+".zh.txt")
		if *update {
			if err := os.WriteFile(golden, []byte(reports[name].text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if reports[name].text != string(want) {
			t.Errorf("%s differs; run with -update and look at the difference:\n%s", golden, reports[name].text)
		}
	}
}

func TestChineseFits(t *testing.T) {
	for _, columns := range []int{72, 100} {
		for name, report := range inChinese(t, columns) {
			if name != "found" { // where a fix is on one line, to paste
				fits(t, report.text, columns)
			}
		}
	}
}

// latin finds words, which are longer than a letter.
func latin(text string) []string { return regexp.MustCompile(`[A-Za-z]{2,}`).FindAllString(text, -1) }

// TestChineseIsNoEnglish: what is English in a Chinese report comes from its
// result, is a name, a unit or a flag, or is in the Chinese catalogue.
func TestChineseIsNoEnglish(t *testing.T) {
	names := []string{"tare", "max-toll max-regression", "nic link mtu pin rps cc seed", "rtt bytes Tbit Gbit Mbit kbit bit ms us ns kB MB GB"}
	for _, text := range wordsOf(Chinese).texts {
		names = append(names, text)
	}
	for _, q := range result.Quantities() {
		names = append(names, q.Name)
	}
	for _, n := range catalog.Networks() {
		names = append(names, n.Name)
	}
	for name, report := range inChinese(t, 0) {
		if name == "hostile" { // its names are cut
			continue
		}
		allowed := latin(strings.Join(append(textsIn(t, report.of), names...), " "))
		for _, word := range latin(report.text) {
			state := slices.Contains([]string{"slower", "faster", "equal", "inconclusive", "failed", "skipped", "old", "new"}, word)
			if !slices.Contains(allowed, word) || state && !strings.Contains(report.text, word+".json") {
				t.Errorf("%s: %q is English:\n%s", name, word, report.text)
			}
		}
	}
}

// textsIn are the texts that a value holds, and the names of parameters.
func textsIn(t *testing.T, value any) []string {
	t.Helper()
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var decoded any
	if err := json.Unmarshal(encoded, &decoded); err != nil {
		t.Fatal(err)
	}
	var texts []string
	var walk func(v any, params bool)
	walk = func(v any, params bool) {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case []any:
			for _, one := range v {
				walk(one, false)
			}
		case map[string]any:
			for key, one := range v {
				if params {
					texts = append(texts, key)
				}
				walk(one, key == "params")
			}
		}
	}
	walk(decoded, false)
	return texts
}

// TestMarkdownInChinese: what is for people in it is Chinese where that was
// asked for.
func TestMarkdownInChinese(t *testing.T) {
	var b strings.Builder
	if _, err := writeMarkdown(&b, []*result.Result{broken(), quick()}, Chinese); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"**测量被中断**", "| 网络 | 吞吐量，Gbit/s | 额外开销，% | | | 判定 |", "| 较慢 |", "### 诊断", "（可信度 90.0 %，占额外开销的 70.0 %）"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// TestPageOpensInTheLanguageAskedFor: else it follows the browser.
func TestPageOpensInTheLanguageAskedFor(t *testing.T) {
	for lang, want := range map[string]string{"": `<html lang="en">`, Chinese: `<html lang="en" data-lang="zh">`} {
		var b strings.Builder
		if _, err := writeHTML(&b, []*result.Result{few()}, lang); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("a page asked for in %q has no %s", lang, want)
		}
	}
}

func TestChineseLinesBreakWhereTheyMay(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"开销（toll）是代价，很小", []string{"开销", "（toll）", "是代价，", "很小"}},
		{"只有 0.1 %，少", []string{"只有", "0.1 %，少"}},
		{"（甲） abc", []string{"（甲）abc"}},
	} {
		if got := wrap(c.text, 9, true); !slices.Equal(got, c.want) {
			t.Errorf("%q is broken into %q, want %q", c.text, got, c.want)
		}
	}
}
