package report

import (
	"io"
	"testing"

	"tare/result"
)

// BenchmarkPage writes the page of 1,000 cells.
func BenchmarkPage(b *testing.B) {
	results := []*result.Result{thousand()}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := writeHTML(io.Discard, results, ""); err != nil {
			b.Fatal(err)
		}
	}
}
