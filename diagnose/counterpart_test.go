package diagnose

import (
	"fmt"
	"math"
	"testing"

	"tare/catalog"
	"tare/result"
)

// variant is one setting of an axis, and under it the tolls of a tunnel and of the
// bridge, its parent.
type variant struct {
	value         any
	tunnel, below float64
}

// axesOfOneRun are the ways in which one run measures the same network, path and
// workload several times.
func axesOfOneRun() map[string][]variant {
	return map[string][]variant{
		"connections":      {{1.0, 0.5, 0.1}, {16.0, 0.4, 0.3}, {64.0, 0.8, 0.2}},
		"workers":          {{1.0, 0.5, 0.1}, {4.0, 0.5, 0.3}},
		"link":             {{4e8, 0.2, 0.1}, {1e9, 0.6, 0.15}},
		catalog.Hosts:      {{2.0, 0.4, 0.1}, {10.0, 0.4, 0.3}},
		catalog.Containers: {{1.0, 0.4, 0.1}, {25.0, 0.4, 0.2}},
		catalog.Rules:      {{0.0, 0.4, 0.1}, {1000.0, 0.4, 0.3}},
	}
}

// severalTimes is a run of a tunnel, its bridge and their host under each variant
// of an axis, with tolls as they say, times a factor.
func severalTimes(axis string, variants []variant, factor float64) *result.Result {
	res := &result.Result{Plan: result.Plan{Networks: []result.NetworkPlan{{Name: catalog.Baseline}}}}
	for n, v := range variants {
		for name, toll := range map[string]float64{catalog.Baseline: 0, "bridge": v.below, "vxlan": factor * v.tunnel} {
			if own := (axis == catalog.Hosts || axis == catalog.Containers || axis == catalog.Rules); own && name == catalog.Baseline && n > 0 {
				continue // it has none of the parameters of networks, and is measured once
			} else if cell := measured(name, catalog.CrossHost, "mysql", toll); own {
				res.Plan.Networks = append(res.Plan.Networks, result.NetworkPlan{Name: name, Params: result.MakeSettings(map[string]string{axis: fmt.Sprint(v.value)})})
				if name != catalog.Baseline {
					cell.Params[axis] = v.value
				}
				res.Cells = append(res.Cells, cell)
			} else {
				cell.Params[axis] = v.value
				res.Cells = append(res.Cells, cell)
			}
		}
	}
	return res
}

// TestEachCellHasItsOwnParent holds the share of a tunnel's headers to the bridge
// that was measured as the tunnel was.
func TestEachCellHasItsOwnParent(t *testing.T) {
	for axis, variants := range axesOfOneRun() {
		res := severalTimes(axis, variants, 1)
		Weigh(res, "")
		for n := range res.Cells {
			cell := &res.Cells[n]
			if cell.Network != "vxlan" {
				continue
			}
			for _, v := range variants {
				if cell.Params[axis] != v.value {
					continue
				}
				want := 1 - v.below/v.tunnel
				if len(cell.Findings) != 1 || math.Abs(cell.Findings[0].Share-want) > 1e-9 {
					t.Errorf("%s %v: found %+v, want a share of %v", axis, v.value, cell.Findings, want)
				}
			}
		}
	}
}

// TestEachCellIsVerifiedByItself halves every toll by a fix: each cell is
// compared with itself after it.
func TestEachCellIsVerifiedByItself(t *testing.T) {
	for axis, variants := range axesOfOneRun() {
		found := result.Finding{ID: "shaper-drop", Cause: "the tbf drops", Confidence: 0.9}
		before, after := severalTimes(axis, variants, 1), severalTimes(axis, variants, 0.5)
		for n := range before.Cells {
			if before.Cells[n].Network == "vxlan" {
				before.Cells[n].Findings = []result.Finding{found}
			}
		}
		Verify(before, after, found)
		for _, cell := range before.Cells {
			for _, f := range cell.Findings {
				if f.Verified == nil || math.Abs(f.Verified.Recovered-0.5) > 1e-9 {
					t.Errorf("%s %v: verified %+v, want half of it back", axis, cell.Params[axis], f.Verified)
				}
			}
		}
	}
}
