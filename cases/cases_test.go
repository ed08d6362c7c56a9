package cases

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
)

// all loads every case.
func all(t *testing.T) []Case {
	t.Helper()
	var cases []Case
	for _, id := range IDs() {
		c, err := Load(id)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

// TestEveryFileIsACase: a file in the folder is all that a case takes.
func TestEveryFileIsACase(t *testing.T) {
	entries, err := os.ReadDir("published")
	if err != nil {
		t.Fatal(err)
	}
	ids := IDs()
	if len(entries) != len(ids) || len(ids) < 6 {
		t.Fatalf("%d files, the cases %q", len(entries), ids)
	}
	for n, entry := range entries {
		number, id, _ := strings.Cut(strings.TrimSuffix(entry.Name(), ".yaml"), "-")
		if _, err := strconv.Atoi(number); id != ids[n] || err != nil || len(number) != 2 {
			t.Errorf("file %s, case %s: name it NN-ID.yaml", entry.Name(), ids[n])
		}
	}
	if again := slices.Compact(slices.Sorted(slices.Values(ids))); len(again) != len(ids) {
		t.Errorf("a case is there twice: %q", ids)
	}
	if _, err := Load("token-ring"); err == nil {
		t.Error("a case is loaded that is not there")
	}
}

// TestEveryCaseIsWhole checks each field of each file, but the spots, which other tests check.
func TestEveryCaseIsWhole(t *testing.T) {
	kinds := []string{"stated", "inferred", "conjectured", "open question"}
	for _, c := range all(t) {
		if c.Doc == "" || c.Title == "" || len(c.Claims) == 0 || len(c.Figures) == 0 {
			t.Errorf("%s lacks a doc, a title, claims or figures", c.ID)
		}
		if len(c.Candidates) == 0 && (c.Recommends != "" || len(c.Networks()) > 2) {
			t.Errorf("%s compares %q and has no candidates", c.ID, c.Networks())
		}
		names := map[string]bool{}
		for _, x := range c.Experiments {
			if x.Name == "" || x.Doc == "" || names[x.Name] {
				t.Errorf("%s: experiment %q: its name is empty or there twice, or it lacks a doc", c.ID, x.Name)
			}
			names[x.Name] = true
		}
		for _, one := range c.Claims {
			if one.Text == "" || !slices.Contains(kinds, one.Kind) {
				t.Errorf("%s: claim %q is %q", c.ID, one.Text, one.Kind)
			}
		}
		for _, f := range c.Figures {
			if f.Unit == "" || f.Value < 0 || f.Size < 0 || f.Connections < 0 || f.Link < 0 || f.Ceiling < 0 || (f.Of != "") != (f.Metric == toll) {
				t.Errorf("%s: figure %+v", c.ID, f)
			}
			if q, known := result.QuantityOf(f.Metric); known && q.Unit != f.Unit {
				t.Errorf("%s: figure %+v is in %s, the metric in %s", c.ID, f, f.Unit, q.Unit)
			}
		}
	}
}

// TestMistakesAreNamed has a case with one mistake each time, which is found at its line or claim.
func TestMistakesAreNamed(t *testing.T) {
	const right = `experiments:
  - {name: nodes, doc: two, plan: {networks: [host, bridge], paths: [cross-host], workloads: [tcp_stream]}}
claims:
  - text: it costs
    reproduced_if:
      - {figure: {network: bridge}, relation: costs, range: 5%}
figures:
  - {network: bridge, value: 1e9}
`
	for _, one := range []struct{ old, mistaken, want string }{
		{"", "", ""},
		{"networks:", "nets:", "line 2: field nets not found"},
		{"relation: costs", "relates: costs", "line 6: field relates not found"},
		{"value: 1e9", "val: 1e9", "line 8: field val not found"},
		{"relation: costs", "relation: costly", `claim "it costs": unknown relation "costly"`},
		{"relation: costs", "relation: worse", `relation "worse" is written with "range": it takes "than"`},
		{", range: 5%", "", `relation "costs" is written with "": it takes "range"`},
		{"range: 5%", "range: 5% to 4%", `line 6: read range "5% to 4%"`},
		{"range: 5%", "range: much", `line 6: read range "much"`},
		{"range: 5%", "range: 5%, sizes: 1:4K:*2", `written with "range sizes"`},
		{"    reproduced_if:", "    untestable: it is too fast\n    reproduced_if:", "either reproduced_if or untestable"},
		{"doc: two", "doc: two, link: 1gbit", "line 2: field link not found"},
	} {
		_, err := decode([]byte(strings.Replace(right, one.old, one.mistaken, 1)))
		if got := fmt.Sprint(err); !strings.Contains(got, one.want) || (err == nil) != (one.want == "") {
			t.Errorf("%q: %s, want %q", one.mistaken, got, one.want)
		}
	}
	if _, err := decode([]byte("doc: nothing\n")); err == nil {
		t.Error("a case without experiments is no error")
	}
}

// TestEverySpotIsMeasured checks that the plans measure each spot that a case names, and that of each
// published figure, except figures of metrics that tare does not have.
func TestEverySpotIsMeasured(t *testing.T) {
	for _, c := range all(t) {
		spots := slices.Clone(c.Candidates)
		for _, one := range c.Claims {
			spots = append(spots, one.Shows...)
			for _, comparison := range one.ReproducedIf {
				spots = append(spots, comparison.Figure, comparison.Than)
				sizes, err := result.ParseSizes(cmp.Or(comparison.Sizes, "1"))
				if err != nil {
					t.Errorf("%s: claim %q: %v", c.ID, one.Text, err)
				}
				for _, size := range sizes {
					if comparison.Sizes != "" {
						spots = append(spots, spot{Size: size}.or(comparison.Figure))
					}
				}
				for _, link := range comparison.Links {
					spots = append(spots, spot{Link: link}.or(comparison.Figure))
				}
			}
		}
		for _, s := range spots {
			if _, known := result.QuantityOf(s.Metric); !known {
				t.Errorf("%s: no metric %q", c.ID, s.Metric)
			}
		}
		for _, f := range c.Figures {
			spots = append(spots, c.spotOf(f))
		}
		for _, s := range spots {
			if lacks := c.lacks(s); lacks != "" {
				t.Errorf("%s: %s is not measured: no %s", c.ID, s, lacks)
			}
		}
	}
}

// lacks is what the plan of a spot's experiment lacks to measure it.
func (c Case) lacks(s spot) string {
	x, found := result.First(c.Experiments, func(x Experiment) bool { return x.Name == s.Experiment })
	if !found {
		return "experiment " + s.Experiment
	}
	if !slices.ContainsFunc(x.Plan.Networks, func(n result.NetworkPlan) bool {
		return n.Name == s.Network && (s.Params == "" || n.Params == s.Params)
	}) {
		return "network"
	}
	if s.Path != catalog.NoNetwork && !slices.Contains(x.Plan.Paths, s.Path) {
		return "path"
	}
	w, found := result.First(x.Plan.Workloads, func(w result.WorkloadPlan) bool { return w.Name == s.Workload })
	if !found {
		return "workload"
	}
	if sizes, err := result.ParseSizes(w.Sizes); s.Size > 0 && (err != nil || !slices.Contains(sizes, s.Size)) {
		return "size"
	}
	if s.Link != 0 && !slices.Contains(x.Plan.Axes["link"], any(float64(s.Link))) {
		return "link"
	}
	return ""
}

// TestPlansAreOfWhatThereIs checks that tare knows every name in a plan.
func TestPlansAreOfWhatThereIs(t *testing.T) {
	for _, c := range all(t) {
		for _, x := range c.Experiments {
			for _, n := range x.Plan.Networks {
				if _, known := catalog.FindNetwork(n.Name); !known {
					t.Errorf("%s, %s: network %s", c.ID, x.Name, n.Name)
				}
			}
			for _, w := range x.Plan.Workloads {
				if _, known := catalog.FindWorkload(w.Name); !known {
					t.Errorf("%s, %s: workload %s", c.ID, x.Name, w.Name)
				}
			}
			for _, path := range x.Plan.Paths {
				if !slices.Contains(catalog.Paths(), path) {
					t.Errorf("%s, %s: path %s", c.ID, x.Name, path)
				}
			}
		}
	}
}

// TestEveryClaimLooksAtWhatIsMeasured judges all claims by results that hold all
// that the plans measure: only a network that no machine can run may be missing.
func TestEveryClaimLooksAtWhatIsMeasured(t *testing.T) {
	for _, c := range all(t) {
		whole := judged(t, c, nil)
		if again := judged(t, c, nil); !slices.Equal(again.Case.Claims, whole.Case.Claims) {
			t.Errorf("%s: judged twice, the claims differ", c.ID)
		}
		for _, claim := range whole.Case.Claims {
			for _, missing := range []string{"was not measured", "no block of"} {
				if strings.Contains(claim.Because, missing) && !strings.Contains(claim.Because, "havs") {
					t.Errorf("%s: %q: %s", c.ID, claim.Text, claim.Because)
				}
			}
			if claim.Verdict == "" || claim.Because == "" {
				t.Errorf("%s: %q: verdict %q because %q", c.ID, claim.Text, claim.Verdict, claim.Because)
			}
		}
		if whole.Case.Ours == "" && len(c.Candidates) > 0 {
			t.Errorf("%s recommends nothing: %s", c.ID, whole.Case.Because)
		}
		for _, f := range whole.Case.Figures {
			if f.As != "havs" && f.Measured == nil && !unmeasurable(f) {
				t.Errorf("%s: %s %s %s %s %s: %s", c.ID, f.Network, f.Path, f.Workload, f.Metric, f.Setting, f.Reason)
			}
		}
	}
}

// unmeasurable reports whether tare has no metric for a published figure.
func unmeasurable(f result.Figure) bool {
	_, known := result.QuantityOf(f.Metric)
	large := f.Workload == sweep && f.Metric != "throughput" && f.Metric != "throughput_steady" // round trips are of small messages
	return !known && f.Metric != "throughput_steady" || large || f.Metric == "offered_rate"
}

// tolls are the tolls of networks on a made-up machine, as ratios of throughput.
type tolls map[string]float64

// judged runs a case on a made-up machine of ten blocks.
func judged(t *testing.T, c Case, costs tolls) *result.Result {
	t.Helper()
	return c.Judge(measuredBy(c, costs, catalog.Product))
}

// measuredBy makes up results of all experiments of a case.
func measuredBy(c Case, costs tolls, fidelity string) map[string]*result.Result {
	results := map[string]*result.Result{}
	for _, x := range c.Experiments {
		res := &result.Result{Schema: result.Schema, ID: x.Name, Finished: "2026-01-02T03:04:05Z", Plan: x.Plan, Cells: []result.Cell{}}
		res.Environment.CPUs = 8
		links := x.Plan.Axes.Numbers("link")
		if len(links) == 0 {
			links = []float64{0}
		}
		for _, link := range links {
			for _, n := range x.Plan.Networks {
				for _, path := range append(slices.Clone(x.Plan.Paths), catalog.NoNetwork) {
					for _, w := range x.Plan.Workloads {
						res.Cells = append(res.Cells, madeUp(n, path, w, link, costs[n.Name], fidelity))
						if kind, _ := catalog.FindWorkload(w.Name); kind.Slot > 0 && x.Plan.Design != result.DesignWindows {
							noSwing(res.Cells[len(res.Cells)-1])
						}
					}
				}
			}
		}
		results[x.Name] = res
	}
	return results
}

// noSwing leaves out what a slot is too short for.
func noSwing(c result.Cell) {
	for _, s := range c.Samples {
		for _, name := range []string{"throughput_min", "throughput_max", "throughput_cv"} {
			delete(s.Metrics, name)
		}
	}
}

// madeUp is a cell of ten blocks that differ by some thousandths.
func madeUp(n result.NetworkPlan, path string, w result.WorkloadPlan, link, toll float64, fidelity string) result.Cell {
	c := result.Cell{
		Network: n.Name, Path: path, Workload: w.Name, Status: result.StatusOK, Fidelity: fidelity,
		Params: result.Params{}, Metrics: []result.Metric{},
	}
	if link > 0 {
		c.Params["link"] = link
	}
	for name, value := range n.Params.Map() {
		c.Params[name] = value
	}
	sizes, _ := result.ParseSizes(w.Sizes)
	for block := range 10 {
		layouts := []string{""}
		if n.Name == catalog.Baseline {
			layouts = []string{"b", "a"}
		}
		for _, layout := range layouts {
			c.Samples = append(c.Samples, madeUpSample(block, layout, sizes, toll))
		}
	}
	low, high := 0.985*1e9, 0.995*1e9
	c.Metrics = append(c.Metrics, result.Metric{
		Name: "throughput", Unit: "bit/s", Better: result.Higher, Value: 0.99e9, Low: &low, High: &high, Ceiling: &result.Ceiling{Value: 0.99e9, Ratio: 1},
	})
	return c
}

func madeUpSample(block int, layout string, sizes []int, toll float64) result.Sample {
	wobble := 1 + 0.001*float64((7*block+len(layout))%5)
	s := result.Sample{Block: block, Layout: layout, Metrics: map[string]float64{}, Series: map[string][]float64{}}
	for _, q := range result.Quantities() {
		s.Metrics[q.Name] = 1e9 * (1 - toll) * wobble
		if q.Better == result.Lower {
			s.Metrics[q.Name] = 1e-4 / (1 - toll) * wobble
		}
	}
	for _, size := range sizes {
		s.Series["size"] = append(s.Series["size"], float64(size))
		s.Series["throughput"] = append(s.Series["throughput"], 1e9*(1-toll)*wobble)
		if size <= 4096 {
			s.Series["rtt_p50"] = append(s.Series["rtt_p50"], 1e-4/(1-toll)*wobble)
		}
	}
	s.Readings = []result.Reading{{Source: cpuTimes, Counts: map[string]float64{"cpu0.busy": 0.5, "cpu0.idle": 0.5, "cpu0.softirq": 0.2}}}
	return s
}

func ExampleCase_Networks() {
	c, err := Load("containerd-linux-bridge")
	fmt.Println(c.Networks(), err)
	// Output: [host containerd-bridge] <nil>
}
