package weigh

import (
	"cmp"

	"tare/catalog"
	"tare/result"
	"tare/wire"
)

// addCeilings sets the share of what the wire could carry, and splits the
// toll into framing and the rest. Without a link the CPU is the bound, and
// there is no ceiling.
func addCeilings(cell, baseline *result.Cell) {
	n, _ := catalog.FindNetwork(cell.Network)
	own, ok := ceiling(cell, n)
	if !ok {
		return
	}
	base, known := catalog.FindNetwork(catalog.Baseline)
	baseCeiling, baseOK := ceiling(baseline, base)
	for i := range cell.Metrics {
		m := &cell.Metrics[i]
		if m.Name != "throughput" {
			continue
		}
		m.Ceiling = &result.Ceiling{Value: own, Ratio: m.Value / own}
		framing, ok := wire.FramingToll(own, baseCeiling)
		if !ok || !known || !baseOK || n.Name == catalog.Baseline {
			continue
		}
		m.Ceiling.Framing = framing
		if m.Toll != nil {
			m.TollParts = &result.TollParts{Framing: framing, Processing: m.Toll.Value - framing}
		}
	}
}

// ceiling of a cell's goodput in bit/s. Within a host nothing crosses the link.
func ceiling(cell *result.Cell, n catalog.Network) (float64, bool) {
	link := wire.BitsPerSecond(cell.Params.Number("link"))
	if link <= 0 || catalog.Within(cell.Path) {
		return 0, false
	}
	mtu := wire.InnerMTU(cell.Params.Count("mtu"), n.Stack)
	ip := wire.IP(cmp.Or(cell.Params.Count("ip"), int(wire.IPv4)))
	kind, _ := catalog.FindWorkload(cell.Workload)
	if kind.TCP {
		return float64(wire.TCPCeiling(link, ip, mtu, n.Stack)), true
	}
	size := cell.Params.Count("size")
	return float64(wire.UDPCeiling(link, ip, size, mtu, n.Stack).Goodput), size > 0
}

// Bound gives the throughputs of imported cells their ceilings: that of a link
// and an MTU, under the headers of a network where one is named.
func Bound(res *result.Result, link result.BitsPerSecond, mtu int, name string) {
	for i := range res.Cells {
		cell := &res.Cells[i]
		cell.Params["link"], cell.Params["mtu"] = float64(link), float64(mtu)
		if name != "" {
			cell.Network = name
		}
		addCeilings(cell, cell)
	}
}
