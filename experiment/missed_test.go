package experiment

import (
	"testing"

	"tare/result"
)

// A cell whose only run was missed says why it has no number.
func TestCellWithoutASampleFails(t *testing.T) {
	missed, measured := &result.Cell{Status: result.StatusOK}, &result.Cell{Status: result.StatusOK, Samples: make([]result.Sample, 1)}
	r := &recorder{
		cells:  map[cellKey]*result.Cell{{group: 0}: missed, {group: 1}: measured},
		missed: map[*result.Cell][]string{missed: {"missed: block 1 has no window: no answer"}, measured: {"missed: block 2 has no window: no answer"}},
	}
	r.failUnmeasured()
	if missed.Status != result.StatusFailed || missed.Reason != "missed: block 1 has no window: no answer" {
		t.Errorf("%s %q", missed.Status, missed.Reason)
	}
	if measured.Status != result.StatusOK {
		t.Errorf("a cell with a sample: %s %q", measured.Status, measured.Reason)
	}
}
