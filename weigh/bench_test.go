package weigh

import (
	"testing"

	"tare/result"
)

// BenchmarkLargeResult weighs 1,000 cells, as an hour brings them.
func BenchmarkLargeResult(b *testing.B) {
	res := &result.Result{Plan: ladderRun().Plan}
	for n := range 40 {
		for _, c := range ladderRun().Cells {
			c.Params["mtu"] = float64(1500 + n) // makes other groups
			res.Cells = append(res.Cells, c)
		}
	}
	res.SetGroups()
	b.ReportAllocs()
	for b.Loop() {
		weighAll(res)
	}
}
