package diagnose

import (
	"slices"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
	"tare/weigh"
)

// routes is a run of routes with a toll.
func routes(toll float64) *result.Result {
	res := steps(map[string]map[string]float64{"full": {catalog.Baseline: 0, "route": toll}})
	res.SetGroups()
	return res
}

// besides is a contrast of routes in a lab: its toll there, and in an untouched lab.
func besides(here, untouched float64) *result.Result {
	res := routes(here)
	clean := steps(map[string]map[string]float64{"full": {"route": untouched}}).Cells[0]
	clean.Params[weigh.Untouched] = "true"
	res.Cells = append(res.Cells, clean)
	return res
}

func TestChangesOfALabHaveTheShareThatAnUntouchedOneLacks(t *testing.T) {
	for name, c := range map[string]struct {
		faults     []result.Finding // that the run named
		untouched  float64
		cause      string
		share      float64
		confidence float64
	}{
		"a named fault":      {[]result.Finding{{ID: "offload-off", Confidence: 0.92}}, 0.1, "offload-off", 5.0 / 6, 0.92},
		"a contradicted one": {[]result.Finding{{ID: "offload-off", Confidence: 0.92, Share: 0.9}}, 0.6, "offload-off", 0, 0.92 * doubted},
		"no fault named":     {nil, 0.1, "lab-changed", 5.0 / 6, 0.8},
		"no fault":           {nil, 0.6, "rung-cost", 1, 0.9},
	} {
		res := routes(0.6)
		cell := &res.Cells[1]
		cell.Findings = c.faults
		Divide(res, besides(0.6, c.untouched), "lossy")
		first := cell.Findings[0]
		labtest.Equal(t, name+": the cause", first.ID, c.cause)
		labtest.Between(t, name+": its share", first.Share, c.share-0.02, c.share+0.02)
		labtest.Between(t, name+": its confidence", first.Confidence, c.confidence-1e-9, c.confidence+1e-9)
		var sum float64
		for _, f := range cell.Findings {
			sum += f.Share
		}
		labtest.Between(t, name+": sum of the shares", sum, 0.98, 1.02)
	}
}

// Of a toll of 60 % what a lab was changed by takes 4.5 points: no cause is named for so little.
func TestHardlyAChangeOfALabIsNoCause(t *testing.T) {
	res := routes(0.6)
	Divide(res, besides(0.6, 0.555), "lossy")
	labtest.Equal(t, "a change is named", slices.Contains(ids(res.Cells[1].Findings), "lab-changed"), false)
}

// A step over networks that the run lacks is divided once they were measured besides.
func TestStepsAreDividedByWhatWasMeasuredBesides(t *testing.T) {
	res := steps(map[string]map[string]float64{"full": {catalog.Baseline: 0, "vxlan": 0.3}})
	Weigh(res, "")
	cell := &res.Cells[1]
	labtest.Equal(t, "causes before", slices.Equal(ids(cell.Findings), []string{"rung-cost", "encapsulation-cost"}), true)
	Divide(res, steps(map[string]map[string]float64{"full": {catalog.Baseline: 0, "ptp": 0.1, "route": 0.2, "vxlan": 0.3}}), "")
	after := ids(cell.Findings) // of equal shares, in any order
	slices.Sort(after)
	labtest.Equal(t, "causes after", slices.Equal(after, []string{"encapsulation-cost", "rung-cost", "rung-cost"}), true)
	for _, f := range cell.Findings {
		labtest.Between(t, "share of "+f.ID, f.Share, 0.32, 0.35)
	}
	labtest.Equal(t, "cells besides", len(res.Contrasts), 4)
	labtest.Equal(t, "cells", len(res.Cells), 2)
}
