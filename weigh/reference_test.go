package weigh

import (
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
)

// TestReferences holds a path against another of the same network, block by block.
func TestReferences(t *testing.T) {
	cell := func(path string, rtt float64) result.Cell {
		c := result.Cell{Network: catalog.Endpoint, Path: path, Workload: "tcp_rr", Mode: "nodelay", Status: result.StatusOK, Params: result.Params{"mtu": 1500}}
		for block := range 8 {
			slow := 1 + float64(block) // what both have in common does not count
			c.Samples = append(c.Samples, result.Sample{Block: block, Metrics: map[string]float64{"rtt_p50": rtt * slow}})
		}
		return c
	}
	res := &result.Result{Cells: []result.Cell{cell(catalog.SameHost, 20e-6), cell(catalog.CrossHost, 50e-6)}}
	all := References(res, catalog.SameHost)
	if len(all) != 1 || all[0].Low == nil {
		t.Fatalf("references %+v, want one with an interval", all)
	}
	labtest.Equal(t, "path", all[0].Path, catalog.CrossHost)
	labtest.Near(t, "how much worse", all[0].Value, 1.5, 1e-9)
	labtest.Near(t, "low", *all[0].Low, 1.5, 1e-9)
	labtest.Equal(t, "held against a path that is not there", len(References(res, catalog.HostToContainer)), 0)
}
