package weigh

import (
	"slices"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
)

// only is stepsRun with only the cells that something holds of.
func only(holds func(network, nic string) bool) *result.Result {
	res := stepsRun()
	res.Cells = slices.DeleteFunc(res.Cells, func(c result.Cell) bool { return !holds(c.Network, c.Params.Text("nic")) })
	return res
}

// vxlanOf is the cell of the tunnel with a model of the interface.
func vxlanOf(t *testing.T, res *result.Result, nic string) *result.Cell {
	t.Helper()
	n := slices.IndexFunc(res.Cells, func(c result.Cell) bool { return c.Network == "vxlan" && c.Params.Text("nic") == nic })
	if n < 0 {
		t.Fatal("the run has no such cell")
	}
	return &res.Cells[n]
}

func TestLackIsWhatWouldDivideAToll(t *testing.T) {
	for name, c := range map[string]struct {
		measured func(network, nic string) bool
		networks []string
		nic      bool
	}{
		"all":            {func(string, string) bool { return true }, nil, false},
		"the tunnel":     {func(n, nic string) bool { return nic == "tso" && (n == catalog.Baseline || n == "vxlan") }, []string{"route", "ptp"}, true},
		"without routes": {func(n, _ string) bool { return n != "route" }, []string{"route"}, false},
	} {
		res := only(c.measured)
		l := Lacking(Groups(res), vxlanOf(t, res, "tso"), "throughput")
		labtest.Equal(t, name+": networks", slices.Equal(l.Networks, c.networks), true)
		labtest.Equal(t, name+": interface", l.NIC, c.nic)
		labtest.Equal(t, name+": interface, of what was not measured", Lacking(Groups(res), vxlanOf(t, res, "tso"), "rtt_p50").NIC, false)
	}
}

// What a changed lab costs is a part by itself; the rest is divided as that of the
// untouched one.
func TestChangeOfALabIsAPart(t *testing.T) {
	res := only(func(n, nic string) bool { return nic == "full" || n == catalog.Baseline })
	changed := *vxlanOf(t, res, "full")
	untouched := stepsRun()
	slower := vxlanOf(t, untouched, "tso") // 0.7 where the untouched one costs 0.2
	changed.Samples, changed.Metrics = slower.Samples, slower.Metrics
	vxlanOf(t, res, "full").Params[Untouched] = "true"
	changed.Params = result.Params{"nic": "full"}
	res.Cells = append(res.Cells, changed)

	parts := Parts(Groups(res), &res.Cells[len(res.Cells)-1], "throughput")
	if len(parts) != 4 {
		t.Fatalf("%d parts, want four: %+v", len(parts), parts)
	}
	labtest.Equal(t, "axis", parts[0].Axis, Untouched)
	labtest.Between(t, "points of the change", parts[0].Points, 0.48, 0.52)
	labtest.Equal(t, "the next is of the untouched one", parts[1].Cell.Params.Has(Untouched), true)
	labtest.Equal(t, "and against routes", parts[1].Below.Network, "route")
}
