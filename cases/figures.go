package cases

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
	"tare/wire"
)

// mtu is that of the hosts in every article, in bytes.
const mtu = 1500

// figures compares every published number with what was measured for it.
func (c Case) figures(p published, e evidence) []result.Figure {
	all := []result.Figure{}
	for _, f := range p.Figures {
		all = append(all, c.compare(f, p, e))
	}
	return all
}

// compare compares one published number with what was measured for it: the value
// itself where a link limits it, else the toll.
func (c Case) compare(f figure, p published, e evidence) result.Figure {
	s := c.spotOf(f)
	row := result.Figure{
		Experiment: s.experiment, Network: f.Network, As: s.network, Path: s.path, Workload: s.workload,
		Metric: f.Metric, Unit: f.Unit, Setting: f.setting(), Size: f.Size,
	}
	if f.Metric == toll {
		row.Metric, row.Unit, row.PublishedToll = f.Of, unitOf(f.Of), &f.Value
		row.Against = catalog.Baseline
	} else {
		row.Published = &f.Value
	}
	against, compared := p.reference(f)
	if compared {
		row.Against, row.PublishedToll = against.Network, f.tollOver(against)
	}
	if share, framing, known := c.ceiling(f); known {
		row.Ceiling = &result.CeilingShares{Published: share, Framing: framing}
	}
	if row.Reason = e.lacks(s); row.Reason != "" {
		return row
	}
	row.Fidelity = e.cell(s).Fidelity
	if v := e.value(s); !math.IsNaN(v) {
		if f.Metric == "latency_one_way" {
			v /= 2
		}
		row.Measured = &v
	}
	than := s.host()
	if compared {
		than = c.spotOf(against)
		than.path = s.path
	}
	if row.Against != "" && e.lacks(than) == "" {
		row.Toll = e.weigh(s, than).Change()
		if e.standIn(than) {
			row.Fidelity = catalog.StandIn
		}
	}
	if m := e.metric(s); row.Ceiling != nil && m != nil && m.Ceiling != nil {
		row.Ceiling.Measured = &m.Ceiling.Ratio
	}
	return row
}

func unitOf(metric string) string {
	q, _ := result.QuantityOf(metric)
	return q.Unit
}

// setting is what distinguishes a figure from others of its network.
func (f figure) setting() string {
	var words []string
	add := func(known bool, format string, values ...any) {
		if known {
			words = append(words, fmt.Sprintf(format, values...))
		}
	}
	add(f.Size > 0, "%s", bytesText(f.Size))
	add(f.Datagram > 0, "datagrams of %s", bytesText(f.Datagram))
	add(f.Platform != "", "%s", f.Platform)
	add(f.Round > 0, "round %d", f.Round)
	add(f.Offered > 0, "offered %s", result.BitsPerSecond(f.Offered))
	add(f.Flows > 0, "%d flows", f.Flows)
	add(f.Connections > 0, "%d connections", f.Connections)
	add(f.Workers > 0, "%d workers", f.Workers)
	add(f.Services > 0, "%d Services", f.Services)
	add(f.Tool != "", "%s", f.Tool)
	add(f.apart(), "run apart")
	if f.Pinned != nil {
		add(*f.Pinned, "pinned")
		add(!*f.Pinned, "not pinned")
	}
	return strings.Join(words, ", ")
}

// apart reports whether a figure that a sweep also measures was measured in a run
// without the sweep.
func (f figure) apart() bool { return strings.Contains(f.Note, "run apart") }

// alike reports whether two figures differ only in their networks.
func (f figure) alike(g figure) bool {
	return f.Experiment == g.Experiment && f.Path == g.Path && f.Workload == g.Workload && f.Metric == g.Metric && f.setting() == g.setting()
}

// reference is the figure that another is compared with: the host's in the same
// table, else that of the first network there. The reference itself has none.
func (p published) reference(f figure) (figure, bool) {
	first := slices.IndexFunc(p.Figures, f.alike)
	host := slices.IndexFunc(p.Figures, func(g figure) bool { return g.Network == catalog.Baseline && f.alike(g) })
	at := first
	if host >= 0 {
		at = host
	}
	if at < 0 || f.Metric == toll || p.Figures[at].Network == f.Network || p.Figures[at].Value == 0 {
		return figure{}, false
	}
	return p.Figures[at], true
}

// tollOver is what a figure costs over another of the same table.
func (f figure) tollOver(reference figure) *float64 {
	t := 1 - f.Value/reference.Value
	if f.lowerIsBetter() {
		t = -t
	}
	return &t
}

// lowerIsBetter reports whether a lower value is better, also for metrics that tare
// does not have, such as latency_p975.
func (f figure) lowerIsBetter() bool {
	if q, known := result.QuantityOf(f.Metric); known {
		return q.Better == result.Lower
	}
	return f.Unit == "s"
}

// tollOf is a figure's toll over the host of the same table; nil: there is no host.
func (p published) tollOf(f figure) *float64 {
	if of, compared := p.reference(f); compared && of.Network == catalog.Baseline {
		return f.tollOver(of)
	}
	return nil
}

// ceiling is the share that a published TCP throughput is of what its link carries
// under the network's headers, and what those take of the host's.
func (c Case) ceiling(f figure) (share, framing float64, known bool) {
	n, found := catalog.FindNetwork(c.spotOf(f).network)
	if f.Link == 0 || !found || unitOf(c.spotOf(f).metric) != "bit/s" || !strings.HasPrefix(f.Workload, "tcp_") {
		return 0, 0, false
	}
	link := wire.BitsPerSecond(f.Link)
	own := wire.TCPCeiling(link, wire.IPv4, wire.InnerMTU(mtu, n.Stack), n.Stack)
	framing, _ = wire.FramingToll(own, wire.TCPCeiling(link, wire.IPv4, mtu, wire.None()))
	most := cmp.Or(f.Ceiling, float64(own))
	return f.Value / most, framing, true
}
