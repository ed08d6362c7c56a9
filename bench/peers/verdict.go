package main

import (
	"math"
	"slices"

	"tare/result"
	"tare/stats"
)

// The verdicts on a claim.
const (
	holds        = "holds"
	holdsNot     = "does not hold"
	inconclusive = "inconclusive"
	shown        = ""
)

// comparison is how tare compares in one claim.
type comparison struct {
	claim
	quantity     result.Quantity
	other        string         // what it is compared with; empty: no tool measured it
	mine, theirs float64        // medians
	ratio        stats.Interval // of tare to the other
	pairs        int            // blocks that measured both
	verdict      string
}

// weigh weighs one claim of an outcome.
func (out *outcome) weigh(c claim) comparison {
	quantity, _ := result.QuantityOf(c.metric)
	st := comparison{claim: c, quantity: quantity, other: c.than, verdict: inconclusive}
	if c.than == "" {
		st.other = out.best(quantity)
	}
	mine, theirs := out.column(ours(c.ours), c.metric), out.column(st.other, c.metric)
	st.mine, st.theirs = median(mine), median(theirs)
	blocks := make([]stats.Block, len(out.blocks))
	for n := range blocks {
		blocks[n] = stats.Block{Cell: mine[n], Baselines: []float64{theirs[n]}}
	}
	logs := stats.LogRatios(blocks)
	centre, _ := stats.HodgesLehmann(logs)
	st.pairs = len(logs)
	st.ratio = stats.Interval{Value: math.Exp(centre.Value), Low: math.Exp(centre.Low), High: math.Exp(centre.High)}
	st.verdict = judge(st.ratio, c.bound, quantity.Better)
	return st
}

// judge holds the whole interval of a ratio against the bound.
func judge(ratio stats.Interval, bound float64, better result.Better) string {
	least, most := ratio.Low, ratio.High
	if better == result.Lower { // the same question of the ratio the other way round
		least, most, bound = 1/ratio.High, 1/ratio.Low, 1/bound
	}
	switch {
	case bound == 0 || math.IsInf(bound, 1):
		return shown
	case least >= bound:
		return holds
	case most < bound:
		return holdsNot
	}
	return inconclusive
}

// best is the peer with the best median of a metric.
func (out *outcome) best(q result.Quantity) string {
	label, top := "", math.NaN()
	for _, p := range out.peers {
		m := median(out.column(p.label(), q.Name))
		if math.IsNaN(m) {
			continue
		}
		if label == "" || (q.Better == result.Higher) == (m > top) {
			label, top = p.label(), m
		}
	}
	return label
}

// column is a subject's values of a metric, one for each block, NaN where it
// has none.
func (out *outcome) column(label, metric string) []float64 {
	column := make([]float64, len(out.blocks))
	for n, block := range out.blocks {
		value, measured := block[label][metric]
		if !measured {
			value = math.NaN()
		}
		column[n] = value
	}
	return column
}

// median of those that are numbers; NaN where none is.
func median(column []float64) float64 {
	return stats.Median(slices.DeleteFunc(slices.Clone(column), math.IsNaN))
}
