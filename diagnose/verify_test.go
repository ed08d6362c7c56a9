package diagnose

import (
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
)

// between gives a toll its interval.
func between(cell result.Cell, low, high float64) result.Cell {
	cell.Metrics[0].Toll.Low, cell.Metrics[0].Toll.High = &low, &high
	return cell
}

// TestFixIsBelievedWhereItGivesBack verifies one finding by three second runs.
func TestFixIsBelievedWhereItGivesBack(t *testing.T) {
	for name, c := range map[string]struct {
		after      result.Cell
		recovered  float64
		confidence float64
	}{
		"gives back":                     {between(measured("bridge", catalog.CrossHost, "tcp_stream", 0.2), 0.15, 0.25), 0.75, 0.9},
		"gives nothing":                  {between(measured("bridge", catalog.CrossHost, "tcp_stream", 0.8), 0.75, 0.85), 0, 0.45},
		"without intervals":              {measured("bridge", catalog.CrossHost, "tcp_stream", 0.2), 0.75, 0.9},
		"and nothing, without intervals": {measured("bridge", catalog.CrossHost, "tcp_stream", 0.8), 0, 0.45},
		"is in doubt":                    {between(measured("bridge", catalog.CrossHost, "tcp_stream", 0.72), 0.6, 0.84), 0.1, 0.45},
	} {
		cell := between(measured("bridge", catalog.CrossHost, "tcp_stream", 0.8), 0.7, 0.9)
		found := result.Finding{ID: "shaper-drop", Cause: "the tbf drops", Confidence: 0.9}
		cell.Findings = []result.Finding{found}
		before := &result.Result{Cells: []result.Cell{cell}}
		Verify(before, &result.Result{Cells: []result.Cell{c.after}}, found)
		got := before.Cells[0].Findings[0]
		v := got.Verified
		if v == nil {
			t.Fatalf("%s: not verified, confidence %v", name, got.Confidence)
		}
		labtest.Between(t, name+": recovered", v.Recovered, c.recovered-0.01, c.recovered+0.01)
		labtest.Equal(t, name+": confidence", got.Confidence, c.confidence)
	}
}

// A cell that is not slower is compared by the first toll that it has.
func TestFixOfACellThatIsNotSlower(t *testing.T) {
	cell := measured("bridge", catalog.CrossHost, "tcp_stream", 0.01)
	cell.Metrics = append([]result.Metric{{Name: "cpu_per_gbit"}}, cell.Metrics...)
	cell.Metrics[1].Toll.Verdict = "equal"
	found := result.Finding{ID: "shaper-drop", Confidence: 0.9}
	cell.Findings = []result.Finding{found}
	before := &result.Result{Cells: []result.Cell{cell}}
	Verify(before, &result.Result{Cells: []result.Cell{measured("bridge", catalog.CrossHost, "tcp_stream", 0)}}, found)
	if v := before.Cells[0].Findings[0].Verified; v == nil || v.Metric != "throughput" || v.Recovered != 1 {
		t.Errorf("verified %+v, want all of the throughput", v)
	}
}

func TestFixOfAPathThatCarriedNothing(t *testing.T) {
	for status, recovered := range map[string]float64{result.StatusOK: 1, result.StatusFailed: 0} {
		dead := measured("route", catalog.CrossHost, "tcp_rr", 0)
		after := dead
		dead.Status, dead.Metrics, after.Status = result.StatusFailed, nil, status
		found := result.Finding{ID: "forwarding-off", Confidence: 0.9}
		dead.Findings = []result.Finding{found}
		before := &result.Result{Cells: []result.Cell{dead}}
		Verify(before, &result.Result{Cells: []result.Cell{after}}, found)
		if v := before.Cells[0].Findings[0].Verified; v == nil || v.Recovered != recovered {
			t.Errorf("a cell that is %s after the fix: verified %+v, want %v", status, v, recovered)
		}
	}
}
