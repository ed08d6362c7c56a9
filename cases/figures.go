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

// figure is one published number, in SI units.
type figure struct {
	Experiment  string  `yaml:"experiment"` // empty: the first
	Network     string  `yaml:"network"`
	Path        string  `yaml:"path"`
	Workload    string  `yaml:"workload"`
	Metric      string  `yaml:"metric"`
	Of          string  `yaml:"of"` // of a toll: the metric
	Unit        string  `yaml:"unit"`
	Value       float64 `yaml:"value"`
	Size        int     `yaml:"size"` // of a message, in bytes
	Connections int     `yaml:"connections"`
	Setting     string  `yaml:"setting"` // what else distinguishes it, in words
	Link        float64 `yaml:"link_bps"`
	Ceiling     float64 `yaml:"ceiling_bps"` // what the article says that the link carries
	As          spot    `yaml:"as"`          // in what the measured spot differs from that of its names
	Note        string  `yaml:"note"`
}

// compare compares one published number with what was measured for it: the value
// itself where a link limits it, else the toll.
func (c Case) compare(f figure, e evidence) result.Figure {
	s := c.spotOf(f)
	row := result.Figure{
		Experiment: s.Experiment, Network: f.Network, As: s.Network, Path: s.Path, Workload: s.Workload,
		Metric: f.Metric, Unit: f.Unit, Setting: f.setting(), Size: f.Size,
	}
	if f.Metric == toll {
		row.Metric, row.Unit, row.PublishedToll = f.Of, unitOf(f.Of), &f.Value
		row.Against = catalog.Baseline
	} else {
		row.Published = &f.Value
	}
	against, compared := c.reference(f)
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
		than.Path = s.Path
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
	if f.Size > 0 {
		words = append(words, bytesText(f.Size))
	}
	if f.Connections > 0 {
		words = append(words, fmt.Sprintf("%d connections", f.Connections))
	}
	if f.Setting != "" {
		words = append(words, f.Setting)
	}
	return strings.Join(words, ", ")
}

// alike reports whether two figures differ only in their networks.
func (f figure) alike(g figure) bool {
	return f.Experiment == g.Experiment && f.Path == g.Path && f.Workload == g.Workload && f.Metric == g.Metric && f.setting() == g.setting()
}

// reference is the figure that another is compared with: the host's in the same
// table, else that of the first network there. The reference itself has none.
func (c Case) reference(f figure) (of figure, compared bool) {
	table := slices.DeleteFunc(slices.Clone(c.Figures), func(g figure) bool { return !f.alike(g) })
	of, has := result.First(table, func(g figure) bool { return g.Network == catalog.Baseline })
	if !has {
		of = table[0]
	}
	return of, f.Metric != toll && of.Network != f.Network && of.Value != 0
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
	q, known := result.QuantityOf(f.Metric)
	return q.Better == result.Lower || !known && f.Unit == "s"
}

// ceiling is the share that a published TCP throughput is of what its link carries
// under the network's headers, and what those take of the host's.
func (c Case) ceiling(f figure) (share, framing float64, known bool) {
	n, found := catalog.FindNetwork(c.spotOf(f).Network)
	if f.Link == 0 || !found || unitOf(c.spotOf(f).Metric) != "bit/s" || !strings.HasPrefix(f.Workload, "tcp_") {
		return 0, 0, false
	}
	link := wire.BitsPerSecond(f.Link)
	own := wire.TCPCeiling(link, wire.IPv4, wire.InnerMTU(mtu, n.Stack), n.Stack)
	framing, _ = wire.FramingToll(own, wire.TCPCeiling(link, wire.IPv4, mtu, wire.None()))
	most := cmp.Or(f.Ceiling, float64(own))
	return f.Value / most, framing, true
}
