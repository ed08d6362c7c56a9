package weigh

import (
	"tare/network"
	"tare/result"
)

func cellName(network, path, workload string) string { return network + " " + path + " " + workload }

// heavy are the tolls of a result that a limit excludes: by their whole interval.
func heavy(res *result.Result, gates Gates) []result.Unmet {
	found := []result.Unmet{}
	if gates.MaxToll == nil {
		return found
	}
	for _, cell := range res.Cells {
		for _, m := range cell.Metrics {
			if cell.Network == network.Baseline || m.Toll == nil || m.Toll.Low == nil || !result.Judged(m.Name) || *m.Toll.Low <= *gates.MaxToll {
				continue
			}
			found = append(found, result.Unmet{
				Gate: "max-toll", Cell: cellName(cell.Network, cell.Path, cell.Workload), Metric: m.Name,
				Limit: *gates.MaxToll, Value: m.Toll.Value, Low: *m.Toll.Low,
			})
		}
	}
	return found
}

// regressions are the changes for the worse that a limit excludes, and what was
// measured and failed now.
func regressions(c result.Comparison, gates Gates) []result.Unmet {
	var found []result.Unmet
	if gates.MaxRegression == nil {
		return found
	}
	for _, cell := range c.Cells {
		for _, m := range cell.Metrics {
			change := m.Judged(c.Judged)
			if change == nil || change.Low == nil || !result.Judged(m.Name) || *change.Low <= *gates.MaxRegression {
				continue
			}
			found = append(found, result.Unmet{
				Gate: "max-regression", Cell: cellName(cell.Network, cell.Path, cell.Workload), Metric: m.Name,
				Limit: *gates.MaxRegression, Value: change.Value, Low: *change.Low,
			})
		}
	}
	for _, s := range c.Single {
		if s.In == inOld && s.Reason != "" {
			found = append(found, result.Unmet{Gate: "max-regression", Cell: s.Cell, Limit: *gates.MaxRegression, Reason: s.Reason})
		}
	}
	return found
}

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
			s := result.SingleCell{Cell: cellName(cell.Network, cell.Path, cell.Workload), In: in}
			if peer == nil {
				peer = failedAs(cell, theirs)
			}
			if peer != nil && peer.Status == result.StatusFailed {
				s.Reason = "failed: " + peer.Reason
			}
			found = append(found, s)
		}
	}
	add(inOld, old.Cells, other, recent.Cells)
	add(inNew, recent.Cells, matched, old.Cells)
	return found
}

// failedAs is the cell that failed in place of one: it may have failed before its
// mode was known.
func failedAs(cell *result.Cell, among []result.Cell) *result.Cell {
	for n := range among {
		c := &among[n]
		if c.Status == result.StatusFailed && c.Network == cell.Network && c.Path == cell.Path && c.Workload == cell.Workload {
			return c
		}
	}
	return nil
}
