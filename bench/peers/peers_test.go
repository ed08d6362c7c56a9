package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/test/labtest"
	"tare/workload"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if verb, known := verbs()[os.Args[1]]; known {
			exit(verb(os.Args[2:]))
		}
	}
	if err := os.Setenv(labtest.Mark, fmt.Sprintf("peers-%d", os.Getpid())); err != nil {
		exit(err)
	}
	os.Exit(m.Run())
}

// TestDeepShortRun measures the real tools, in short.
func TestDeepShortRun(t *testing.T) {
	labtest.NoLeaks(t)
	o := options{pairs: 2, window: 100 * time.Millisecond, network: "veth", path: catalog.SameHost, rows: "tcp,plain,rr"}
	chosen, err := chooseRows(o.rows)
	if err != nil {
		t.Fatal(err)
	}
	for n := range chosen {
		chosen[n].placements = chosen[n].placements[:1]
	}
	outcomes, err := takeTurns(context.Background(), chosen, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(outcomes) != len(chosen) {
		t.Fatalf("%d rows measured, want %d", len(outcomes), len(chosen))
	}
	for _, out := range outcomes {
		for label, cause := range out.failure {
			t.Errorf("%s: %s: %s", out.name, label, cause)
		}
		for _, missing := range out.missing {
			t.Errorf("%s is not installed: %s", missing.Name, missing.Get)
		}
		for _, c := range out.claims {
			st := out.weigh(c)
			// A p99 takes 1000 round trips and a CPU time many steps of 10 ms: more
			// than a slow machine has in these windows.
			if c.metric == "rtt_p99" || c.metric == perGbit || c.metric == perTransaction {
				continue
			}
			if st.pairs != o.pairs || !(st.mine > 0) || !(st.theirs > 0) {
				t.Errorf("%s, %s: %v against %v of %s in %d blocks", out.name, c.metric, st.mine, st.theirs, st.other, st.pairs)
			}
			if st.verdict != inconclusive {
				t.Errorf("%s, %s: two blocks give %q", out.name, c.metric, st.verdict)
			}
		}
	}
	text := page{options: o, outcomes: outcomes}.render(t.Context())
	for _, want := range []string{"-rows tcp,plain,rr -pairs 2 -duration 100ms", "iperf3 3.", "| tare write128K |", "| sockperf pp |", "qperf 10."} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not hold %q:\n%s", want, text)
		}
	}
}

// TestDeepMeter: a machine of which one CPU at least is busy is seen to be, and a
// run that ends before its window has no CPU time.
func TestDeepMeter(t *testing.T) {
	s := &stage{window: 500 * time.Millisecond}
	cores, err := s.metered(0, func() error {
		for start := time.Now(); time.Since(start) < s.window; {
		}
		return nil
	})
	if most := 1.1 * float64(runtime.NumCPU()); err != nil || !(cores > 0 && cores < most) {
		t.Errorf("%v CPUs busy, %v; want above 0 and below %v", cores, err, most)
	}
	if cores, err := s.metered(0, func() error { return nil }); err == nil {
		t.Errorf("a run of no length has %v CPUs busy", cores)
	}
}

func TestRowsAreSound(t *testing.T) {
	for _, r := range rows() {
		out := outcome{row: r}
		labels := out.labels()
		if slices.Sort(labels); len(slices.Compact(slices.Clone(labels))) != len(labels) {
			t.Errorf("%s: two runs have one name: %v", r.name, labels)
		}
		for _, sub := range r.ours {
			e, runs := sub.(engine)
			if !runs {
				continue // a separate process, which no workload bounds
			}
			kind, known := workload.Find(e.workload)
			if !known || !slices.Contains(kind.Modes, e.run.Mode) {
				t.Errorf("%s: tare has no workload %s with mode %s", r.name, e.workload, e.run.Mode)
			}
		}
		for _, c := range r.claims {
			if _, known := result.QuantityOf(c.metric); !known {
				t.Errorf("%s: metric %s is unknown", r.name, c.metric)
			}
			for _, label := range []string{ours(c.ours), c.than} {
				if label != "" && !slices.Contains(labels, label) {
					t.Errorf("%s: a claim is about %q, which does not run", r.name, label)
				}
			}
		}
	}
}

func TestChooseRows(t *testing.T) {
	chosen, err := chooseRows("udp,tcp")
	if err != nil || len(chosen) != 2 || chosen[0].name != "udp" {
		t.Errorf("got %v, %v", chosen, err)
	}
	if _, err := chooseRows("tcp,unknown"); err == nil || !strings.Contains(err.Error(), `"unknown"`) {
		t.Errorf("an unknown row gives %v", err)
	}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		low, high, bound float64
		better           result.Better
		want             string
	}{
		{0.97, 1.2, 0.97, result.Higher, holds},
		{0.96, 1.2, 0.97, result.Higher, inconclusive},
		{0.90, 0.969, 0.97, result.Higher, holdsNot},
		{0.5, 1.0, 1, result.Lower, holds},
		{0.5, 1.01, 1, result.Lower, inconclusive},
		{1.01, 1.5, 1, result.Lower, holdsNot},
		{1.01, 1.09, 1.1, result.Lower, holds},
		{0, math.Inf(1), 1, result.Higher, inconclusive}, // too few blocks
		{0, math.Inf(1), 1, result.Lower, inconclusive},
		{math.NaN(), math.NaN(), 1, result.Higher, inconclusive}, // nothing measured
		{math.NaN(), math.NaN(), 1, result.Lower, inconclusive},
		{1.3, 1.5, 0, result.Higher, shown},
		{1.3, 1.5, 0, result.Lower, shown},
	} {
		if got := judge(stats.Interval{Low: c.low, High: c.high}, c.bound, c.better); got != c.want {
			t.Errorf("[%v, %v] against %v, %s is better: %q, want %q", c.low, c.high, c.bound, c.better, got, c.want)
		}
	}
}

// TestBestPeerByItsMedian: one lucky run makes no best peer, a tool that failed
// in a block is compared in the others, and one that never ran is not.
func TestBestPeerByItsMedian(t *testing.T) {
	out := outcome{row: row{
		ours:  []subject{engine{way: "mode"}},
		peers: []peer{{program: workload.Program{Name: "lucky"}}, {program: workload.Program{Name: "steady"}}, {program: workload.Program{Name: "absent"}}},
	}}
	for n := range 8 {
		block := map[string]values{
			"tare mode": {"throughput": 220}, "lucky": {"throughput": 100}, "steady": {"throughput": 110},
		}
		switch n {
		case 0:
			block["lucky"]["throughput"] = 1e6
		case 1:
			delete(block, "steady")
		}
		out.blocks = append(out.blocks, block)
	}
	st := out.weigh(claim{ours: "mode", metric: "throughput", bound: 1.5})
	labtest.Equal(t, "other", st.other, "steady")
	labtest.Equal(t, "number of pairs", st.pairs, 7)
	labtest.Near(t, "ratio", st.ratio.Value, 2, 1e-9)
	labtest.Equal(t, "verdict", st.verdict, holds)
	st = out.weigh(claim{ours: "mode", metric: "throughput", than: "absent", bound: 1})
	if st.verdict != inconclusive || st.pairs != 0 || !math.IsNaN(st.theirs) {
		t.Errorf("against nobody: %+v", st)
	}
}

// TestHandWrittenPartIsKept writes a page over another.
func TestHandWrittenPartIsKept(t *testing.T) {
	p := page{options: options{output: filepath.Join(t.TempDir(), "performance.md")}}
	if err := p.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(p.output)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(first), mark+firstByHand) {
		t.Errorf("a new page has no place to write by hand: %s", first)
	}
	const byHand = "## What does not hold\n\nWhy.\n"
	if err := os.WriteFile(p.output, []byte("an old page\n"+mark+byHand), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := p.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(p.output)
	if err != nil {
		t.Fatal(err)
	}
	if generated, _, _ := strings.Cut(string(first), mark); string(got) != generated+mark+byHand {
		t.Errorf("got %s", got)
	}
}
