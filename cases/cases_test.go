package cases

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
)

// TestEveryClaimIsJudged holds the claims of a case to those that were published,
// in their order and word for word.
func TestEveryClaimIsJudged(t *testing.T) {
	if len(All()) < 5 {
		t.Fatalf("%d cases", len(All()))
	}
	for _, c := range All() {
		p, err := c.read()
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Claims) != len(c.Claims) {
			t.Fatalf("%s: %d claims were published, %d are judged", c.ID, len(p.Claims), len(c.Claims))
		}
		for n, claim := range c.Claims {
			if claim.text != p.Claims[n].Text {
				t.Errorf("%s, claim %d: %q is judged, %q was published", c.ID, n+1, claim.text, p.Claims[n].Text)
			}
			if (claim.toll == nil) == (claim.judge == nil) {
				t.Errorf("%s: %q must have a toll or a judge", c.ID, claim.text)
			}
		}
	}
}

// TestEveryFigureHasItsPlace checks that the plans measure each published figure,
// except those of metrics that tare does not have.
func TestEveryFigureHasItsPlace(t *testing.T) {
	for _, c := range All() {
		p, err := c.read()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range p.Figures {
			s := c.spotOf(f)
			n := slices.IndexFunc(c.Experiments, func(x Experiment) bool { return x.Name == s.experiment })
			if n < 0 {
				t.Errorf("%s: %v: no experiment %q", c.ID, f, s.experiment)
				continue
			}
			plan := c.Experiments[n].Plan
			if !slices.ContainsFunc(plan.Networks, func(n result.NetworkPlan) bool { return n.Name == s.network }) {
				t.Errorf("%s, %s: no network %s", c.ID, s.experiment, s.network)
			}
			if s.path != catalog.NoNetwork && !slices.Contains(plan.Paths, s.path) {
				t.Errorf("%s, %s: no path %s for %s", c.ID, s.experiment, s.path, s.network)
			}
			at := slices.IndexFunc(plan.Workloads, func(w result.WorkloadPlan) bool { return w.Name == s.workload })
			if at < 0 {
				t.Errorf("%s, %s: no workload %s", c.ID, s.experiment, s.workload)
				continue
			}
			if sizes, err := result.ParseSizes(plan.Workloads[at].Sizes); s.size > 0 && (err != nil || !slices.Contains(sizes, s.size)) {
				t.Errorf("%s, %s: size %d is not visited", c.ID, s.experiment, s.size)
			}
		}
	}
}

// TestPlansAreOfWhatThereIs checks that tare knows every name in a plan.
func TestPlansAreOfWhatThereIs(t *testing.T) {
	for _, c := range All() {
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
	for _, c := range All() {
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
		if whole.Case.Ours == "" {
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
	refereed, err := c.Published()
	if err != nil {
		t.Fatal(err)
	}
	whole, err := c.Judge(measuredBy(c, costs, catalog.Product), refereed)
	if err != nil {
		t.Fatal(err)
	}
	return whole
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
	c, _ := Find("containerd-linux-bridge")
	fmt.Println(c.Networks())
	// Output: [host containerd-bridge]
}
