package experiment

import (
	"math"
	"testing"
	"time"

	"tare/experiment/schedule"
	"tare/result"
)

func TestAAPlanFillsItsTime(t *testing.T) {
	plan := Complete(Quick())
	aa := AAPlan(plan, 20*time.Second)
	if err := Check(aa); err != nil {
		t.Fatal(err)
	}
	for _, g := range groupsOf(aa) {
		if len(g.places) != 2 || g.places[0].network.Name != "host" {
			t.Errorf("%s holds %d cells", g.path, len(g.places))
		}
	}
	if took := time.Duration(aa.Blocks) * blockTime(aa); took > 20*time.Second || took < 15*time.Second {
		t.Errorf("%d blocks take %s", aa.Blocks, took)
	}
	if aa.Duration != plan.Duration || aa.Warmup != plan.Warmup {
		t.Error("its windows are not the plan's")
	}
	if short := AAPlan(plan, time.Millisecond); short.Blocks != schedule.LeastBlocks {
		t.Errorf("in no time it takes %d blocks", short.Blocks)
	}
}

func TestDetectable(t *testing.T) {
	plan := vxlanPlan("tcp_rr")
	before := math.Inf(1)
	for _, sigma := range []float64{0.2, 0.05, 0.01} {
		r := synthetic(t, AAPlan(plan, 20*time.Second))
		feed(r, 60, noisy(2, "rtt_p50", 1e-5, sigma, 1))
		r.weigh()
		all := Detectable(r.res, plan)
		if len(all) != 2 { // same-host and cross-host
			t.Fatalf("%+v", all)
		}
		p := all[1]
		if p.Workload != "tcp_rr" || p.Metric != "rtt_p50" || p.Path == all[0].Path {
			t.Errorf("%+v", all)
		}
		if !near(p.Spread, sigma*math.Sqrt2, sigma/2) {
			t.Errorf("sigma %v: spread %v", sigma, p.Spread)
		}
		if p.Toll <= plan.Margin || p.Toll >= before {
			t.Errorf("sigma %v: tolls above %v are detected, with more noise those above %v", sigma, p.Toll, before)
		}
		before = p.Toll
		if p.Time != time.Duration(plan.Blocks)*blockTime(plan) {
			t.Errorf("the plan takes %s", p.Time)
		}
		last := 0
		for _, toll := range []float64{0.5, 0.1, 0.05, 0.01} {
			blocks, took, ok := p.For(toll)
			if ok && (blocks < last || took != time.Duration(blocks)*blockTime(plan)) {
				t.Errorf("a toll of %v takes %d blocks, %s; a larger one %d", toll, blocks, took, last)
			}
			last = blocks
		}
		if _, _, ok := p.For(0.001); ok && sigma > 0.1 {
			t.Error("a noisy machine detects a thousandth")
		}
	}
}

func TestDetectableWithoutSamples(t *testing.T) {
	plan := vxlanPlan("tcp_rr")
	if all := Detectable(&result.Result{}, plan); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	r := synthetic(t, AAPlan(plan, time.Second))
	feed(r, 1, noisy(2, "rtt_p50", 1e-5, 0.1, 1))
	r.weigh()
	if all := Detectable(r.res, plan); len(all) != 0 {
		t.Errorf("of one block: %+v", all)
	}
}

// TestEqualNetworksAreJudgedEqual runs 200 experiments whose network is the
// baseline: none may be slower or faster, at any level of noise.
func TestEqualNetworksAreJudgedEqual(t *testing.T) {
	const runs = 200
	decided, equal := 0, 0
	for n := range uint64(runs) {
		sigma := []float64{0.002, 0.01, 0.05, 0.2}[n%4]
		r := synthetic(t, vxlanPlan("tcp_stream"))
		feed(r, 10, noisy(1000+n, "throughput", 1e10, sigma, 1))
		r.weigh()
		for _, net := range []string{"host", "vxlan"} {
			switch _, toll := tolled(t, r, net, "throughput"); toll.Verdict {
			case "slower", "faster":
				decided++
				t.Logf("run %d, noise %v: %s is %s: %+v", n, sigma, net, toll.Verdict, toll)
			case "equal":
				equal++
			}
		}
	}
	if decided > 0 || equal < runs/2 {
		t.Errorf("of %d comparisons %d were judged different and %d equal", 2*runs, decided, equal)
	}
}
