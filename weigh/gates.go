package weigh

import (
	"reflect"
	"slices"

	"tare/catalog"
	"tare/result"
)

// The limits of a comparison.
const (
	maxToll       = "max-toll"
	maxRegression = "max-regression"
)

// gate holds what two results have against one limit. What it can't hold, since the newer
// result lacks it, counts against it.
type gate struct {
	name  string
	limit float64
	allow []string // networks and cells that may be missing
	held  []result.Held
	unmet []result.Unmet
}

// hold holds a value with its interval, of which the whole must exceed the limit to
// break it.
func (g *gate) hold(cell, metric string, value float64, low, high *float64) {
	h := result.Held{Gate: g.name, Cell: cell, Metric: metric, Limit: g.limit, Value: value, Low: *low, High: *high, Met: *low <= g.limit}
	g.held = append(g.held, h)
	if !h.Met {
		g.unmet = append(g.unmet, result.Unmet{Gate: g.name, Cell: cell, Metric: metric, Limit: g.limit, Value: value, Low: *low})
	}
}

// miss counts what could not be held, unless it may be missing.
func (g *gate) miss(networkName, cell, reason string) {
	g.leave(networkName, result.Unmet{Cell: cell, Reason: reason})
}

// leave counts what is left open, unless it may be missing.
func (g *gate) leave(networkName string, u result.Unmet) {
	if !slices.Contains(g.allow, networkName) && !slices.Contains(g.allow, u.Cell) {
		u.Gate, u.Limit = g.name, g.limit
		g.unmet = append(g.unmet, u)
	}
}

func (g *gate) missCell(c *result.Cell, reason string) {
	g.miss(c.Network, CellName(c), reason)
}

// missPlanned counts the networks that the newer result's plan has and its cells have not.
// What the older result could not have either is nothing that was lost.
func (g *gate) missPlanned(old, recent *result.Result) {
	for _, n := range recent.Plan.Networks {
		if n.Name != catalog.Baseline && !slices.ContainsFunc(recent.Cells, func(c result.Cell) bool { return c.Network == n.Name }) {
			g.miss(n.Name, n.Name, "absent, though its plan has it")
		}
	}
	for _, s := range recent.Plan.Skipped {
		if !slices.ContainsFunc(old.Plan.Skipped, func(before result.SkippedNetwork) bool { return before.Name == s.Name }) {
			g.miss(s.Name, s.Name, result.StatusSkipped+": "+s.Reason)
		}
	}
}

// unknown counts what both results have and too little of to be held.
func (g *gate) unknown(c *result.Cell, reason string) {
	g.leave(c.Network, result.Unmet{Cell: CellName(c), Reason: reason, Unknown: true})
}

// end counts a gate that held nothing and missed nothing.
func (g *gate) end() {
	if len(g.held)+len(g.unmet) == 0 {
		g.leave("", result.Unmet{Reason: "nothing was compared", Unknown: true})
	}
}

// held are two results as gates see them.
type held struct {
	old, recent *result.Result
	matched     map[*result.Cell]*result.Cell // the older cell of each newer one
	c           *result.Comparison
	compared    map[*result.Cell]int // the place of a newer cell in the comparison
}

// gates holds the results against the limits.
func (h held) gates(limits Gates) {
	for _, g := range []*gate{h.tolls(limits), h.regressions(limits)} {
		if g != nil {
			g.end()
			h.c.Held, h.c.Unmet = append(h.c.Held, g.held...), append(h.c.Unmet, g.unmet...)
		}
	}
}

// tolls holds what the networks of the newer result cost; nil: there is no such limit.
func (h held) tolls(limits Gates) *gate {
	if limits.MaxToll == nil {
		return nil
	}
	g := &gate{name: maxToll, limit: *limits.MaxToll, allow: limits.AllowMissing}
	for n := range h.recent.Cells {
		cell := &h.recent.Cells[n]
		before := h.matched[cell]
		switch {
		case cell.Network == catalog.Baseline:
			continue
		case cell.Status == result.StatusSkipped && before != nil && before.Status == result.StatusSkipped:
			continue // the older result had it no more than this one
		case cell.Status != result.StatusOK:
			g.missCell(cell, lost(cell))
			continue
		}
		holds := len(g.held)
		for _, m := range cell.Metrics {
			if m.Toll != nil && m.Toll.Low != nil && m.Toll.High != nil && result.Judged(m.Name) {
				g.hold(CellName(cell), m.Name, m.Toll.Value, m.Toll.Low, m.Toll.High)
			}
		}
		if len(g.held) == holds {
			g.unknown(cell, tooFew)
		}
	}
	for n := range h.old.Cells {
		if before := &h.old.Cells[n]; before.Network != catalog.Baseline && before.Status == result.StatusOK && h.absent(before) {
			g.missCell(before, "absent from the newer result")
		}
	}
	g.missPlanned(h.old, h.recent)
	return g
}

// regressions holds what became worse; nil: there is no such limit.
func (h held) regressions(limits Gates) *gate {
	if limits.MaxRegression == nil {
		return nil
	}
	g := &gate{name: maxRegression, limit: *limits.MaxRegression, allow: limits.AllowMissing}
	for n := range h.old.Cells {
		before := &h.old.Cells[n]
		now := h.now(before)
		switch {
		case before.Status != result.StatusOK:
		case now == nil:
			g.missCell(before, "absent from the newer result")
		case now.Status != result.StatusOK:
			g.missCell(before, lost(now))
		case identical(before, now):
			for _, m := range now.Metrics {
				if none := 0.0; result.Judged(m.Name) {
					g.hold(CellName(now), m.Name, none, &none, &none)
				}
			}
		case before.Network == catalog.Baseline && !limits.Absolute: // it has no toll
		default:
			h.changes(g, now, limits.Absolute)
		}
	}
	g.missPlanned(h.old, h.recent)
	return g
}

// changes holds the changes of a cell that both have: of its tolls, or of its values.
func (h held) changes(g *gate, now *result.Cell, absolute bool) {
	by, weighed := result.JudgedByToll, false
	if absolute {
		by, weighed = result.JudgedByValue, true
	}
	holds := len(g.held)
	for _, m := range h.c.Cells[h.compared[now]].Metrics {
		change := m.Judged(by)
		weighed = weighed || change != nil
		if change != nil && change.Low != nil && change.High != nil && result.Judged(m.Name) {
			g.hold(CellName(now), m.Name, change.Value, change.Low, change.High)
		}
	}
	switch {
	case len(g.held) > holds:
	case !weighed:
		g.unknown(now, "it was not weighed against a host, and so has no toll: --absolute holds its values")
	default:
		g.unknown(now, tooFew)
	}
}

// tooFew is why what was measured can't be held against a limit.
const tooFew = "it has too few blocks for an interval: measure with --blocks 10"

// identical reports whether two cells are the same measurement, as where a result is
// compared with itself.
func identical(before, now *result.Cell) bool {
	return len(before.Samples) > 0 && reflect.DeepEqual(before.Samples, now.Samples) && reflect.DeepEqual(before.Metrics, now.Metrics)
}

// now is the newer cell of an older one, or the one that failed in its place; nil: there
// is none.
func (h held) now(before *result.Cell) *result.Cell {
	for now, was := range h.matched {
		if was == before {
			return now
		}
	}
	return failedAs(before, h.recent.Cells)
}

// absent reports whether no newer cell is an older one's, not even one that failed.
func (h held) absent(before *result.Cell) bool { return h.now(before) == nil }

// lost is why a cell has nothing to be held.
func lost(c *result.Cell) string { return c.Status + ": " + c.Reason }

// CellName names a cell of a comparison: "vxlan cross-host tcp_rr".
func CellName(c *result.Cell) string { return c.Network + " " + c.Path + " " + c.Workload }

// Where a single cell is.
const (
	inOld = "old"
	inNew = "new"
)

// single are the cells that one result alone has measured, with why the other
// failed to.
func single(old, recent *result.Result, matched map[*result.Cell]*result.Cell) []result.SingleCell {
	found := []result.SingleCell{}
	other := map[*result.Cell]*result.Cell{}
	for cell, before := range matched {
		other[before] = cell
	}
	add := func(in string, cells []result.Cell, match map[*result.Cell]*result.Cell, theirs []result.Cell) {
		for n := range cells {
			cell := &cells[n]
			peer := match[cell]
			if cell.Status != result.StatusOK || peer != nil && peer.Status == result.StatusOK {
				continue
			}
			s := result.SingleCell{Cell: CellName(cell), In: in}
			if peer == nil {
				peer = failedAs(cell, theirs)
			}
			if peer != nil {
				s.Reason = lost(peer)
			}
			found = append(found, s)
		}
	}
	add(inOld, old.Cells, other, recent.Cells)
	add(inNew, recent.Cells, matched, old.Cells)
	return found
}

// failedAs is the cell that was not measured in place of one: it may have failed before
// its mode was known.
func failedAs(cell *result.Cell, among []result.Cell) *result.Cell {
	for n := range among {
		c := &among[n]
		if c.Status != result.StatusOK && c.Network == cell.Network && c.Path == cell.Path && c.Workload == cell.Workload {
			return c
		}
	}
	return nil
}
