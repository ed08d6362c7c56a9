package peers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tare/result"
	"tare/stats"
	"tare/test/labtest"
	"tare/workload"
)

func TestMain(m *testing.M) {
	err := os.Setenv(labtest.Mark, fmt.Sprintf("peers-%d", os.Getpid()))
	verb := func([]string) error { os.Exit(m.Run()); return nil }
	if len(os.Args) > 1 {
		if one, known := Verbs()[os.Args[1]]; known {
			verb = one
		}
	}
	if err := errors.Join(err, verb(os.Args[min(2, len(os.Args)):])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// listed is the data.
func listed(t *testing.T) data {
	t.Helper()
	d, err := readData()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDeepShortRun measures the real tools, in short.
func TestDeepShortRun(t *testing.T) {
	labtest.NoLeaks(t)
	file := filepath.Join(t.TempDir(), "page.md")
	o, err := readOptions(listed(t), []string{"-rows", "tcp,plain,rr", "-pairs", "2", "-duration", "100ms", "-o", file})
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := listed(t).choose(o.rows)
	if err != nil {
		t.Fatal(err)
	}
	for n := range chosen {
		chosen[n].Ends = chosen[n].Ends[:1]
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
			t.Errorf("%s: %s: %s", out.Name, label, cause)
		}
		for _, missing := range out.Missing {
			t.Errorf("%s is not installed: %s", missing.Name, missing.Get)
		}
		for _, c := range out.Claims {
			st := out.weigh(c)
			// A p99 takes 1000 round trips and a CPU time many steps of 10 ms: more
			// than a slow machine has in these windows.
			if c.Metric == "rtt_p99" || c.Metric == perGbit || c.Metric == perTransaction {
				continue
			}
			if st.pairs != o.pairs || !(st.mine > 0) || !(st.theirs > 0) {
				t.Errorf("%s, %s: %v against %v of %s in %d blocks", out.Name, c.Metric, st.mine, st.theirs, st.other, st.pairs)
			}
			if st.verdict != inconclusive {
				t.Errorf("%s, %s: two blocks give %q", out.Name, c.Metric, st.verdict)
			}
		}
	}
	if err := (page{options: o, Outcomes: outcomes}).write(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"go run ./bench peers -duration 100ms -pairs 2 -rows tcp,plain,rr`", "iperf3-13 3.", "| tare write128K |", "| sockperf pp |", "qperf 10."} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page does not hold %q:\n%s", want, text)
		}
	}
}

func TestRowsAreSound(t *testing.T) {
	for _, r := range listed(t).Rows {
		labels := result.Names(r.subjects, func(s subject) string { return s.name() })
		if slices.Sort(labels); len(slices.Compact(slices.Clone(labels))) != len(labels) {
			t.Errorf("%s: two runs have one name: %v", r.Name, labels)
		}
		for _, e := range r.Ours {
			kind, known := workload.Find(e.Workload)
			if !known || !slices.Contains(kind.Modes, e.Mode) {
				t.Errorf("%s: tare has no workload %s with mode %s", r.Name, e.Workload, e.Mode)
			}
		}
		for _, sub := range r.subjects {
			for _, p := range sub.programs() {
				if p.Name == "" || p.Get == "" {
					t.Errorf("%s: %s needs a program that is not listed", r.Name, sub.name())
				}
			}
		}
		for _, c := range r.Claims {
			if _, known := result.QuantityOf(c.Metric); !known {
				t.Errorf("%s: metric %s is unknown", r.Name, c.Metric)
			}
			for _, label := range []string{ours(c.Ours), c.Than} {
				if label != "" && !slices.Contains(labels, label) {
					t.Errorf("%s: a claim is about %q, which does not run", r.Name, label)
				}
			}
		}
	}
}

func TestChooseRows(t *testing.T) {
	chosen, err := listed(t).choose("udp,tcp")
	if err != nil || len(chosen) != 2 || chosen[0].Name != "udp" {
		t.Errorf("got %v, %v", chosen, err)
	}
	if _, err := listed(t).choose("tcp,unknown"); err == nil || !strings.Contains(err.Error(), `"unknown"`) {
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
		{1.3, 1.5, 0, result.Higher, ""},
		{1.3, 1.5, 0, result.Lower, ""},
	} {
		if got := judge(stats.Interval{Low: c.low, High: c.high}, c.bound, c.better); got != c.want {
			t.Errorf("[%v, %v] against %v, %s is better: %q, want %q", c.low, c.high, c.bound, c.better, got, c.want)
		}
	}
}

// TestBestPeerByItsMedian: one lucky run makes no best peer, a tool that failed
// in a block is compared in the others, and one that never ran is not.
func TestBestPeerByItsMedian(t *testing.T) {
	named := func(name string) subject { return subject{program: workload.Program{Name: name}} }
	out := outcome{row: row{subjects: []subject{{way: "mode"}, named("lucky"), named("steady"), named("absent")}}}
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
		out.Blocks = append(out.Blocks, block)
	}
	st := out.weigh(claim{Ours: "mode", Metric: "throughput", Bound: 1.5})
	labtest.Equal(t, "other", st.other, "steady")
	labtest.Equal(t, "number of pairs", st.pairs, 7)
	labtest.Near(t, "ratio", st.ratio.Value, 2, 1e-9)
	labtest.Equal(t, "verdict", st.verdict, holds)
	st = out.weigh(claim{Ours: "mode", Metric: "throughput", Than: "absent", Bound: 1})
	if st.verdict != inconclusive || st.pairs != 0 || !math.IsNaN(st.theirs) {
		t.Errorf("against nobody: %+v", st)
	}
}
