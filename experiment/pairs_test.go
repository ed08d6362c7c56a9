package experiment

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
	"tare/weigh"
)

func TestPairsOf(t *testing.T) {
	for _, c := range []struct {
		machines string
		n        int
		want     string
	}{
		{"a b", 1, "[[a b]]"},
		{"a b c d", 0, "[[a b] [c d]]"},
		{"a b c d e f", 0, "[[a b] [c d] [e f]]"},
		{"a b c", 3, "[[a b] [b c] [a c]]"},
	} {
		pairs, err := PairsOf(strings.Fields(c.machines), c.n)
		if err != nil {
			t.Fatal(err)
		}
		labtest.Equal(t, "pairs of "+c.machines, fmt.Sprint(pairs), c.want)
	}
	for _, wrong := range []struct {
		machines string
		n        int
	}{{"a b c", 0}, {"a b", 2}, {"a b c d", 7}} {
		if _, err := PairsOf(strings.Fields(wrong.machines), wrong.n); !errors.As(err, new(*InputError)) {
			t.Errorf("%d pairs of %s: %v, want an input error", wrong.n, wrong.machines, err)
		}
	}
}

// All pairs of a round robin are different, and each machine is in one of every round.
func TestPairsOfAllMachines(t *testing.T) {
	const machines = 8
	var names []string
	for n := range machines {
		names = append(names, fmt.Sprint(n))
	}
	pairs, err := PairsOf(names, machines*(machines-1)/2)
	if err != nil {
		t.Fatal(err)
	}
	met := map[string]bool{}
	for begin := 0; begin < len(pairs); begin += machines / 2 {
		in := map[string]bool{}
		for _, p := range pairs[begin : begin+machines/2] {
			in[p[0]], in[p[1]] = true, true
			slices.Sort(p)
			met[strings.Join(p, "-")] = true
		}
		labtest.Equal(t, "machines in a round", len(in), machines)
	}
	labtest.Equal(t, "pairs that differ", len(met), len(pairs))
}

// measuredOn is what a pair measured: a network that costs so much more than the host, whose
// round trips are of that pair.
func measuredOn(host, toll float64) *result.Result {
	cell := func(name string, samples ...result.Sample) result.Cell {
		return result.Cell{Network: name, Path: catalog.CrossHost, Workload: "tcp_rr", Group: "g", Status: result.StatusOK, Params: result.Params{}, Samples: samples}
	}
	sample := func(layout string, block int, rtt float64) result.Sample {
		return result.Sample{Block: block, Layout: layout, Metrics: map[string]float64{"rtt_p50": rtt}, Counters: map[string]float64{}}
	}
	base, far := []result.Sample{}, []result.Sample{}
	for block := range 3 {
		noise := 1 + 0.01*float64(block-1)
		base = append(base, sample(weigh.LayoutA, block, host*noise), sample(weigh.LayoutB, block, host*noise))
		far = append(far, sample("", block, host*(1+toll)*noise))
	}
	return &result.Result{ID: "one", Plan: result.Plan{Margin: 0.02, Design: result.DesignSlots}, Cells: []result.Cell{cell(catalog.Baseline, base...), cell("endpoint", far...)}}
}

// TestOfPairs takes each pair as one block, however much its machines differ from others.
func TestOfPairs(t *testing.T) {
	var pairs []result.MachinePair
	var results []*result.Result
	for n := range 8 {
		pair := result.MachinePair{Machines: []string{fmt.Sprintf("a%d", n), fmt.Sprintf("b%d", n)}}
		var one *result.Result
		if n == 3 {
			pair.Reason = "it is not there"
		} else {
			one = measuredOn(20e-6*float64(n+1), 0.5+0.01*float64(n))
			if n == 5 {
				one.Cells[1] = result.Cell{Network: "endpoint", Path: catalog.CrossHost, Workload: "tcp_rr", Group: "g", Status: result.StatusFailed, Reason: "it is cut", Params: result.Params{}}
			}
			pair.Cells = one.Cells
		}
		pairs, results = append(pairs, pair), append(results, one)
	}
	joined := OfPairs(pairs, results)
	labtest.Equal(t, "cells", len(joined.Cells), 2)
	toll := joined.Cells[1].Metrics[0].Toll
	if toll == nil || toll.Low == nil {
		t.Fatalf("toll %+v, want one with an interval", toll)
	}
	labtest.Between(t, "toll", toll.Value, 0.5, 0.57)
	labtest.Between(t, "low", *toll.Low, 0.49, toll.Value)
	labtest.Between(t, "high", *toll.High, toll.Value, 0.58)
	labtest.Equal(t, "blocks", joined.Cells[1].Metrics[0].N, 6)
	labtest.Contains(t, "warnings", strings.Join(joined.Warnings, "\n"), "a0 and b0; a1 and b1; a2 and b2; a4 and b4")
	labtest.Contains(t, "warnings", strings.Join(joined.Warnings, "\n"), "endpoint on cross-host under tcp_rr was not measured between a5 and b5: it is cut")
	labtest.Contains(t, "warnings", strings.Join(joined.Warnings, "\n"), "a3 and b3 are not, or not wholly, in it: it is not there")
	if OfPairs(pairs[3:4], results[3:4]) != nil {
		t.Error("nothing was measured, and there is a result")
	}
}
