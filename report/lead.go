package report

import (
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

// betweenOf is what the hosts measured, where a result names their machines.
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
				b.metrics = append(b.metrics, m)
			}
		}
	}
	return b
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

// leads are what was asked, in words with numbers: what is between two machines, and, where the
// networks are few, a sentence for each under each workload with what it costs on each path. They
// have what is decided alone.
func (w words) leads(a answer) []string {
	var all []string
	if text := w.machines(a.between); text != "" {
		all = append(all, text)
	}
	if len(a.rows) > mostNamed || !a.hasIntervals() || a.emulated {
		return all
	}
	return append(all, w.costs(a)...)
}

// costs has a sentence for each network of the matrix under each workload; nil: they are too many.
func (w words) costs(a answer) []string {
	var all []string
	for _, r := range a.rows {
		if r.modelled { // it holds for other machines
			continue
		}
		var unders []string
		for _, c := range a.columns {
			unders = result.AddOnce(unders, c.under)
		}
		for _, under := range unders {
			if text := w.cost(a, r, under); text != "" {
				all = append(all, text)
			}
		}
	}
	if len(all) > mostLeads {
		return nil
	}
	return all
}

// cost is what a network costs under some workloads; empty: nothing that is decided.
func (w words) cost(a answer, r matrixRow, under string) string {
	var shares, added []string
	for n, c := range a.columns {
		if c.under != under {
			continue
		}
		f := r.fields[n]
		if m := f.ratio; m != f.added && known(m) {
			shares = append(shares, w.leadOf(w.between(c.path), f, m, len(shares) == 0))
		}
		if m := f.added; known(m) {
			added = append(added, w.leadOf(w.between(c.path), f, m, len(added) == 0))
		}
	}
	var texts []string
	for _, of := range [][]string{shares, added} {
		if len(of) > 0 {
			texts = append(texts, w.list(of))
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return r.label + " " + strings.Join(texts, w.say("semicolon")) + w.say("full_stop")
}

// known reports whether a metric is known to be worse than the baseline's, whose value is there.
func known(m *result.Metric) bool {
	return m != nil && m.Toll.Verdict == string(stats.Slower) && m.Baseline != nil
}

// leadOf is what a metric costs on a path: all of it on the first, and the number on others.
func (w words) leadOf(where string, f matrixField, m *result.Metric, first bool) string {
	s := scaleFor(m.Unit, m.Baseline.Value, m.Value)
	cost, value, base := points(m.Toll.Value)+" %", s.withUnit(m.Value), s.withUnit(m.Baseline.Value)
	if m == f.added {
		cost, _ = s.difference(m.Toll.Delta.Value, nil, nil)
		cost = strings.TrimPrefix(cost, "+") + " " + s.unit
	}
	program := programOf(f)
	switch {
	case !first:
		return w.say("lead_also", "where", where, "cost", cost)
	case m == f.added:
		return w.say("lead_added", "where", where, "cost", cost, "metric", w.heading(m.Name), "value", value, "base", base)
	case program != "" && m.Name == "rate":
		return w.say("lead_requests", "where", where, "cost", cost, "program", program, "value", perSecond(value), "base", perSecond(base))
	}
	return w.say("lead_share", "where", where, "cost", cost, "metric", w.heading(m.Name), "value", value, "base", base)
}

// perSecond is a rate without its "per second": 18.1k, or 950.
func perSecond(rate string) string {
	return strings.TrimSuffix(strings.Replace(strings.TrimSuffix(rate, " 1/s"), " ", "", 1), "/s")
}

// programOf is the server that answers requests in a field's cells; empty: they are none of a program's.
func programOf(f matrixField) string {
	for _, c := range f.measured() {
		if kind, _ := catalog.FindWorkload(c.Workload); kind.Application() {
			if server := result.Plain(c.Params.Text("server")); server != "" && server != "tare" {
				return server
			}
			return c.Workload
		}
	}
	return ""
}
