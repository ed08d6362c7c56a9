package main

import (
	"testing"

	"tare/catalog"
	"tare/result"
)

// TestWhatIsMended chooses the worst finding that can be carried out: a remedy
// where it has one, and for ends that wander a lab in which they are bound,
// which only a run that set up its own lab can have.
func TestWhatIsMended(t *testing.T) {
	wanders := result.Finding{ID: wandering, Severity: result.SeverityWarning, Confidence: 0.9}
	typed := result.Finding{ID: "offload-off", Severity: result.SeverityWarning, Confidence: 0.8, Remedy: &result.Remedy{At: "vxlan.h1", Command: "true"}}
	manual := result.Finding{ID: "nat-cost", Severity: result.SeverityWarning, Confidence: 0.95}
	for name, c := range map[string]struct {
		findings []result.Finding
		pin      string
		lab      string
		want     string
		pinned   bool
	}{
		"wanders, free":          {[]result.Finding{manual, wanders, typed}, catalog.PinNone, "", wandering, true},
		"wanders, bound already": {[]result.Finding{wanders, typed}, catalog.PinApart, "", "offload-off", false},
		"wanders in a named lab": {[]result.Finding{wanders, typed}, catalog.PinNone, "demo", "offload-off", false},
		"nothing can be typed":   {[]result.Finding{manual}, catalog.PinNone, "", "", false},
	} {
		f := runFlags{labName: c.lab}
		res := &result.Result{Cells: []result.Cell{{Findings: c.findings}}}
		got, ok := f.toMend(result.Plan{Axes: result.PlanAxes{"pin": {string(c.pin)}}}, res)
		if ok != (c.want != "") || got.finding.ID != c.want || got.pinned != c.pinned {
			t.Errorf("%s: %q, pinned %v, %v; want %q, %v", name, got.finding.ID, got.pinned, ok, c.want, c.pinned)
		}
	}
}
