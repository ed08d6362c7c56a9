package main

import (
	"strings"
	"testing"

	"tare/report"
	"tare/result"
)

// TestTooManyCellsAreRefused: a report that nobody could read is refused, and not
// rendered for minutes.
func TestTooManyCellsAreRefused(t *testing.T) {
	many := []*result.Result{{Cells: make([]result.Cell, report.MostCells)}, {Cells: make([]result.Cell, 1)}}
	if err := fits(many[:1], report.MostCells); err != nil {
		t.Errorf("%d cells: %v", report.MostCells, err)
	}
	err := fits(many, report.MostCells)
	if err == nil || !strings.Contains(err.Error(), "20001 cells") || !strings.Contains(err.Error(), "CSV") {
		t.Errorf("20001 cells: %v", err)
	}
	if csv, _ := report.FindFormat("csv"); fits(many, csv.Most) != nil {
		t.Error("CSV holds any number")
	}
}
