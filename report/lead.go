package report

import (
	"math"
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// mostLeads is up to how many sentences say what was asked: the matrix says more of more networks.
const mostLeads = 6

// betweenMachines is what two machines of the user's have between them.
type betweenMachines struct {
	from, to string
	metrics  []*result.Metric // those that the workloads are judged by
}

// betweenOf is what the hosts measured, where a result names their machines; nothing where a metric was
// measured twice, as with two sizes: its name alone does not say which.
func betweenOf(res *result.Result, groups []*weigh.Group) (b betweenMachines) {
	for _, p := range res.Places {
		switch p.Name {
		case "h1":
			b.from = p.Machine
		case "h2":
			b.to = p.Machine
		}
	}
	for _, g := range askedOf(res.Plan, groups) {
		for _, c := range g.Cells {
			if m := weigh.Metric(c, headline(g)); m != nil && c.Network == catalog.Baseline && c.Path == catalog.CrossHost && c.Status == result.StatusOK {
				if slices.ContainsFunc(b.metrics, func(other *result.Metric) bool { return other.Name == m.Name }) {
					return betweenMachines{}
				}
				b.metrics = append(b.metrics, m)
			}
		}
	}
	return b
}

// thanOf compares networks with one of them, under what was asked for; nil: nothing does.
func thanOf(res *result.Result) *result.Comparison {
	for _, c := range res.Comparisons {
		if c.Along == result.AlongNetwork {
			c.Cells = slices.DeleteFunc(slices.Clone(c.Cells), func(cell result.ComparedCell) bool { return explains(res.Plan, cell.Workload) })
			return &c
		}
	}
	return nil
}

// machines says it; empty: there are no two, or nothing was measured between them.
func (w words) machines(b betweenMachines) string {
	if b.from == "" || b.to == "" || b.from == b.to || len(b.metrics) == 0 {
		return ""
	}
	var texts []string
	for _, m := range b.metrics {
		texts = append(texts, w.heading(m.Name)+" "+scaleFor(m.Unit, m.Value).withUnit(m.Value))
	}
	return w.say("lead_machines", "from", clip(result.Plain(b.from), mostLabel), "to", clip(result.Plain(b.to), mostLabel), "list", w.list(texts))
}

// leadCost is what a network costs on a path by one metric, and is known to.
type leadCost struct {
	network, path string
	under         string // the workloads; empty: all are under the same ones
	workload      string
	against       string // the network that it is compared with; empty: the matrix says which
	program       string // that answers requests; empty: a metric's name says what it is
	metric, unit  string
	share         float64 // of what the other side has
	delta         float64 // of a time; NaN: what is said is the share
	value, than   float64
}

// leads are what was asked, in words with numbers: what is between two machines, and, where the
// networks are few, a sentence for each under each workload with what it costs on each path. They
// have what is decided alone.
func (w words) leads(a answer) []string {
	var all []string
	if text := w.machines(a.between); text != "" {
		all = append(all, text)
	}
	costs := a.costs()
	if a.than != nil {
		costs = append(costsThan(*a.than), a.costsElsewhere(*a.than)...)
	}
	var networks, said []string
	for n, c := range costs {
		networks = result.AddOnce(networks, c.network)
		same := func(other leadCost) bool {
			return other.network == c.network && other.under == c.under && other.against == c.against
		}
		if slices.IndexFunc(costs, same) == n {
			of := slices.DeleteFunc(slices.Clone(costs), func(other leadCost) bool { return !same(other) })
			subject := c.network
			if c.under != "" {
				subject += w.aside(clip(result.Plain(c.under), 40))
			}
			than := ""
			if c.against != "" {
				than = w.say("lead_than", "than", clip(result.Plain(c.against), mostLabel))
			}
			said = append(said, subject+" "+w.costsOf(of)+than+w.say("full_stop"))
		}
	}
	if len(networks) > mostNamed || len(a.rows) > mostNamed || len(said) > mostLeads || !a.hasIntervals() || a.emulated {
		return all
	}
	return append(all, said...)
}

// costs are those of the matrix, without what holds for other machines.
func (a answer) costs() (all []leadCost) {
	for _, r := range a.rows {
		for n, c := range a.columns {
			f := r.fields[n]
			for _, m := range []*result.Metric{f.ratio, f.added} {
				if m == nil || r.modelled || m == f.ratio && m == f.added || m.Toll.Verdict != string(stats.Slower) || m.Baseline == nil {
					continue
				}
				one := leadCost{
					network: r.label + when(r.standIn, "*"), under: c.under, workload: f.measured()[0].Workload, path: c.path, program: programOf(f.measured()),
					metric: m.Name, unit: m.Unit, share: m.Toll.Value, delta: math.NaN(), value: m.Value, than: m.Baseline.Value,
				}
				if m == f.added {
					one.delta = m.Toll.Delta.Value
				}
				all = append(all, one)
			}
		}
	}
	return all
}

// costsThan are those of networks compared with one of them; none where a network has two on a path, as with
// two numbers of connections: its table says which is which.
func costsThan(c result.Comparison) (all []leadCost) {
	several := slices.ContainsFunc(c.Cells, func(cell result.ComparedCell) bool { return cell.Workload != c.Cells[0].Workload })
	for _, cell := range c.Cells {
		kind, _ := catalog.FindWorkload(cell.Workload)
		for _, m := range cell.Metrics {
			change := m.Judged(c.Judged)
			if m.Name != kind.Headline || change == nil || change.Verdict != string(stats.Slower) {
				continue
			}
			one := leadCost{
				network: clip(result.Plain(cell.Network), mostLabel), under: when(several, cell.Workload), against: c.Than, path: cell.Path,
				program: program(cell.Workload, cell.Params), metric: m.Name, unit: m.Unit,
				share: change.Value, delta: math.NaN(), value: m.New, than: m.Old,
			}
			if m.Unit == "s" {
				one.delta = m.New - m.Old
			}
			if slices.ContainsFunc(all, func(other leadCost) bool {
				return other.network == one.network && other.under == one.under && other.path == one.path
			}) {
				return nil
			}
			all = append(all, one)
		}
	}
	return all
}

// costsElsewhere are those against the host on paths that the network to compare with does not serve, as
// published ports are none of docker-host; none where a network has two on a path.
func (a answer) costsElsewhere(c result.Comparison) (all []leadCost) {
	for _, one := range a.costs() {
		served := slices.ContainsFunc(c.Cells, func(cell result.ComparedCell) bool { return cell.Path == one.path })
		if served || one.network == c.Than {
			continue
		}
		if one.under != "" {
			one.under = one.workload
		}
		one.against = catalog.Baseline
		if slices.ContainsFunc(all, func(other leadCost) bool {
			return other.network == one.network && other.under == one.under && other.path == one.path && other.metric == one.metric
		}) {
			return nil
		}
		all = append(all, one)
	}
	return all
}

// costsOf says what one network costs on its paths: first shares, then times.
func (w words) costsOf(all []leadCost) string {
	var shares, times []string
	for _, c := range all {
		if math.IsNaN(c.delta) {
			shares = append(shares, w.costOf(c, len(shares) == 0))
		} else {
			times = append(times, w.costOf(c, len(times) == 0))
		}
	}
	texts := []string{w.list(shares), w.list(times)}
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), w.say("semicolon"))
}

// costOf is what a metric costs on a path: all of it on the first, and the number on others.
func (w words) costOf(c leadCost, first bool) string {
	s, where := scaleFor(c.unit, c.than, c.value), w.between(c.path)
	much, value, base := points(c.share)+" %", s.withUnit(c.value), s.withUnit(c.than)
	if !math.IsNaN(c.delta) {
		much, _ = s.difference(c.delta, nil, nil)
		much = strings.TrimPrefix(much, "+") + " " + s.unit
	}
	switch {
	case !first:
		return w.say("lead_also", "where", where, "cost", much)
	case !math.IsNaN(c.delta):
		return w.say("lead_added", "where", where, "cost", much, "metric", w.heading(c.metric), "value", value, "base", base)
	case c.program != "" && c.metric == "rate":
		return w.say("lead_requests", "where", where, "cost", much, "program", c.program, "value", perSecond(value), "base", perSecond(base))
	}
	return w.say("lead_share", "where", where, "cost", much, "metric", w.heading(c.metric), "value", value, "base", base)
}

// perSecond is a rate without its "per second": 18.1k, or 950.
func perSecond(rate string) string {
	return strings.TrimSuffix(strings.Replace(strings.TrimSuffix(rate, " 1/s"), " ", "", 1), "/s")
}

// programOf is the server that answers requests in some cells; empty: they are none of a program's.
func programOf(cells []*result.Cell) string {
	if len(cells) == 0 {
		return ""
	}
	return program(cells[0].Workload, cells[0].Params)
}

func program(workload string, params result.Params) string {
	if kind, _ := catalog.FindWorkload(workload); !kind.Application() {
		return ""
	}
	if server := result.Plain(params.Text("server")); server != "" && server != "tare" {
		return clip(server, mostLabel)
	}
	return workload
}
