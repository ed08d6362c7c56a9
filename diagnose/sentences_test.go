package diagnose

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
)

var update = flag.Bool("update", false, "write testdata/sentences.txt")

// sentences are what people read of findings: every number and every sentence.
func sentences(found []result.Finding) string {
	var out strings.Builder
	for _, f := range found {
		fmt.Fprintf(&out, "%s %s, confidence %v", f.Severity, f.ID, f.Confidence)
		if f.Share != 0 {
			fmt.Fprintf(&out, ", share %.4g", f.Share)
		}
		fmt.Fprintf(&out, "\n  cause: %s\n", f.Cause)
		for _, e := range f.Evidence {
			value := fmt.Sprint(e.Value)
			if number, is := e.Value.(float64); is {
				value = fmt.Sprintf("%.6g", number)
			}
			fmt.Fprintf(&out, "  %s: %s (%s)\n", e.Name, value, e.Source)
		}
		fmt.Fprintf(&out, "  fix: %s\n", f.Fix)
	}
	return out.String()
}

// TestSentencesOfFindings compares every sentence about recorded faults, changed ones, and cells
// that were weighed with testdata/sentences.txt, which -update writes.
func TestSentencesOfFindings(t *testing.T) {
	all := map[string]string{}
	for _, name := range recorded(t) {
		all[name] = sentences(Find(captured(t, name)))
	}
	for name, change := range changedFaults() {
		e := captured(t, change.of)
		change.change(e)
		all[change.of+", "+name] = sentences(Find(e))
	}
	weighed := weighedCells()
	weighed["a tunnel and what it is built upon"] = steps(map[string]map[string]float64{
		"full": {catalog.Baseline: 0, "ptp": 0.06, "route": 0.12, "vxlan": 0.2},
		"tso":  {catalog.Baseline: 0, "ptp": 0.06, "route": 0.12, "vxlan": 0.7},
	})
	weighed["a tunnel without routes"] = steps(map[string]map[string]float64{"full": {catalog.Baseline: 0, "ptp": 0.06, "vxlan": 0.2}})
	weighed["a tunnel and a host"] = steps(map[string]map[string]float64{"full": {catalog.Baseline: 0, "vxlan": 0.2}})
	weighed["routes and a host"] = steps(map[string]map[string]float64{"full": {catalog.Baseline: 0, "route": 0.2}})
	weighed["beside a neighbour"] = steps(map[string]map[string]float64{"full": {catalog.Baseline: 0, "route": 0.2}})
	beside := steps(map[string]map[string]float64{"full": {"route": 0.5}}).Cells[0]
	beside.Params[catalog.Neighbour] = "tcp_stream"
	weighed["beside a neighbour"].Cells = append(weighed["beside a neighbour"].Cells, beside)
	weighed["with rules and without"] = steps(map[string]map[string]float64{"full": {catalog.Baseline: 0, "route": 0.2}})
	ruled := steps(map[string]map[string]float64{"full": {"route": 0.5}}).Cells[0]
	ruled.Params[catalog.Rules] = 1000.0
	weighed["with rules and without"].Cells = append(weighed["with rules and without"].Cells, ruled)
	for name, res := range weighed {
		Weigh(res, "demo")
		WeighTraces(res, "demo")
		for _, c := range res.Cells {
			all["weighed, "+name] += sentences(c.Findings)
		}
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&text, "== %s\n%s", name, all[name])
	}
	const golden = "testdata/sentences.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	was := map[string]string{}
	for _, part := range strings.Split(string(want), "== ")[1:] {
		name, findings, _ := strings.Cut(part, "\n")
		was[name] = findings
	}
	for name, findings := range all {
		if findings != was[name] {
			t.Errorf("%s:\n%swant:\n%s", name, findings, was[name])
		}
		delete(was, name)
	}
	for name := range was {
		t.Errorf("%s is in %s alone", name, golden)
	}
}

// recorded are the names of the examinations in testdata.
func recorded(t *testing.T) (names []string) {
	t.Helper()
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name, is := strings.CutSuffix(f.Name(), ".json"); is {
			names = append(names, name)
		}
	}
	return names
}
