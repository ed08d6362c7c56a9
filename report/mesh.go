package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tare/result"
	"tare/stats"
)

// mesh is what a person reads of a mesh.
func (p *page) mesh(res *result.Result) {
	m := res.Mesh
	p.line(p.paint(p.meshHead(res), bold))
	p.interrupted(res)
	for _, named := range m.Named {
		p.item("- ", p.named(named))
	}
	if len(m.Named) == 0 {
		p.item("- ", p.meshNobody(m))
	}
	if unjudged := p.unjudged(m); unjudged != "" {
		p.item("- ", unjudged)
	}
	for _, metric := range m.Judged {
		p.heatMap(m, metric)
	}
	p.nodeEffects(m)
	p.incast(m)
	p.notNamed(m)
	p.warnings(res)
}

// meshHead is what a mesh is of.
func (w words) meshHead(res *result.Result) string {
	return result.Plain(w.say("mesh_head", "nodes", w.count("node", len(res.Mesh.Nodes)), "windows", w.count("window", windowsOf(res.Mesh)),
		"workloads", w.list(result.Names(res.Plan.Workloads, func(w result.WorkloadPlan) string { return w.Name }))))
}

// meshNobody says that nobody is named.
func (w words) meshNobody(m *result.Mesh) string {
	return w.say("mesh_nobody", "margin", percent(m.Margin))
}

// unjudged says which nodes are neither slow nor not, since too little of them was measured; empty: none.
func (w words) unjudged(m *result.Mesh) string {
	var nodes []string
	for _, u := range m.Unmeasured {
		if len(u.Of) == 1 {
			nodes = append(nodes, u.Of[0])
		}
	}
	if len(nodes) == 0 {
		return ""
	}
	if more := len(nodes) - mostEffects; more > 0 {
		nodes = append(nodes[:mostEffects], w.say("answer_more", "n", strconv.Itoa(more)))
	}
	return result.Plain(w.say("mesh_unjudged", "of", w.list(nodes)))
}

// windowsOf is how many windows were measured.
func windowsOf(m *result.Mesh) int {
	all := 0
	for _, r := range m.Rounds {
		all += len(r.Clients)
	}
	return all
}

// named is who is slow, by how much, and on what evidence.
func (w words) named(n result.MeshNamed) string {
	var evidence []string
	for _, e := range n.Evidence {
		evidence = append(evidence, e.Name+" "+meshNumber(e))
	}
	return result.Plain(w.say("mesh_named", "what", w.meshKind(n.Kind, n.Of), "metric", w.heading(n.Metric),
		"share", shareText(n.Value, &n.Low, &n.High), "evidence", w.join(evidence...)))
}

// meshNumber is a number of the evidence: effects are ratios.
func meshNumber(e result.Evidence) string {
	value, is := e.Value.(float64)
	switch {
	case !is:
		return fmt.Sprint(e.Value)
	case strings.HasPrefix(e.Name, "effect"), e.Name == "margin":
		return percent(value)
	}
	return strconv.FormatFloat(value, 'g', 3, 64)
}

// meshKind is what an effect is of.
func (w words) meshKind(kind string, of []string) string {
	all := len(of) == 0
	name := strings.Join(of, " - ")
	switch {
	case kind == result.MeshNodeKind:
		return w.say("mesh_node", "of", name)
	case kind == result.MeshLink:
		return w.say("mesh_link", "of", name)
	case kind == result.MeshGroup:
		return w.say("mesh_group", "of", name)
	case kind == result.MeshUplink:
		return w.say("mesh_uplink", "of", name)
	case kind == result.MeshBetween && all:
		return w.say("mesh_between_all")
	case kind == result.MeshBetween:
		return w.say("mesh_between", "of", name)
	case kind == result.MeshOversubscribed && all:
		return w.say("mesh_oversubscribed_all")
	case kind == result.MeshOversubscribed:
		return w.say("mesh_oversubscribed", "of", name)
	}
	return strings.TrimSpace(kind + " " + name) // of another version of tare
}

// The marks of a heat map, and from how much worse than the middle each is.
var heatMarks = []struct {
	mark string
	from float64
}{{"█", 1}, {"▓", 0.4}, {"▒", 0.15}, {"░", 0.05}}

// mostMapped is of how many nodes a terminal has room for a map.
const mostMapped = 40

// heatMap prints how each pair compares with the middle of all, the worst nodes first.
func (p *page) heatMap(m *result.Mesh, metric string) {
	if len(m.Nodes) > mostMapped {
		return
	}
	values, middle := pairsOfMesh(m, metric)
	if middle == 0 {
		return
	}
	q, _ := result.QuantityOf(metric)
	s := scaleFor(q.Unit, middle)
	p.title(p.say("mesh_map", "metric", p.heading(metric), "middle", s.withUnit(middle)))
	order := byEffect(m, metric)
	wide := 0
	for _, n := range order {
		wide = max(wide, len([]rune(clip(result.Plain(m.Nodes[n].Name), longestNode))))
	}
	for _, a := range order {
		name := clip(result.Plain(m.Nodes[a].Name), longestNode)
		row := "  " + name + strings.Repeat(" ", wide-len([]rune(name))) + " "
		for _, b := range order {
			row += " " + markOf(values[[2]int{min(a, b), max(a, b)}], middle, q.Better, a == b)
		}
		p.line(strings.TrimRight(row, " "))
	}
	var marks []string
	for _, h := range slices.Backward(heatMarks) {
		marks = append(marks, h.mark+" "+strconv.Itoa(int(100*h.from))+" %")
	}
	p.item("  ", p.say("mesh_marks", "marks", p.join(marks...)))
}

// longestNode is where names of nodes are cut.
const longestNode = 16

// markOf is the mark of a pair.
func markOf(values []float64, middle float64, better result.Better, self bool) string {
	switch {
	case self:
		return " "
	case len(values) == 0:
		return "?"
	}
	worse := worseBy(stats.Median(values), middle, better)
	for _, h := range heatMarks {
		if worse > h.from {
			return h.mark
		}
	}
	return "·"
}

// worseBy is by how much a value is worse than the middle, as a ratio to it: effects are.
func worseBy(value, middle float64, better result.Better) float64 {
	if better == result.Higher {
		return 1 - value/middle
	}
	return value/middle - 1
}

// pairsOfMesh are the values of each pair in the rounds of all, few at a time, and their middle.
// A pair that was asked for and not measured has none.
func pairsOfMesh(m *result.Mesh, metric string) (values map[[2]int][]float64, middle float64) {
	values = map[[2]int][]float64{}
	var all []float64
	for _, r := range m.Rounds {
		if r.Dense || r.Check != nil {
			continue
		}
		of := r.Values[metric]
		for n, client := range r.Clients {
			pair := [2]int{min(client, r.Servers[n]), max(client, r.Servers[n])}
			if n < len(of) && of[n] > 0 {
				values[pair], all = append(values[pair], of[n]), append(all, of[n])
			} else if values[pair] == nil {
				values[pair] = nil
			}
		}
	}
	if len(all) > 0 {
		middle = stats.Median(all)
	}
	return values, middle
}

// byEffect are the nodes, the worst in a metric first, those without an effect last.
func byEffect(m *result.Mesh, metric string) []int {
	effects := map[string]float64{}
	for _, e := range m.Effects {
		if e.Kind == result.MeshNodeKind && e.Metric == metric {
			effects[e.Of[0]] = e.Value
		}
	}
	order := make([]int, len(m.Nodes))
	for n := range order {
		order[n] = n
	}
	of := func(n int) float64 {
		if value, has := effects[m.Nodes[n].Name]; has {
			return value
		}
		return -1
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(of(b), of(a)) })
	return order
}

// mostEffects is how many nodes are listed.
const mostEffects = 12

// nodeEffects lists the nodes that are worst, in each metric.
func (p *page) nodeEffects(m *result.Mesh) {
	for _, metric := range m.Judged {
		var effects []result.MeshEffect
		for _, e := range m.Effects {
			if e.Kind == result.MeshNodeKind && e.Metric == metric {
				effects = append(effects, e)
			}
		}
		if len(effects) == 0 {
			continue
		}
		slices.SortStableFunc(effects, func(a, b result.MeshEffect) int { return cmp.Compare(b.Value, a.Value) })
		p.title(p.say("mesh_effects", "metric", p.heading(metric)))
		columns := grid{{head: p.say("mesh_node_head")}, {head: p.say("toll_percent"), right: true}, {head: p.say("mesh_values"), right: true}}
		for n, e := range effects {
			if n < mostEffects {
				columns.add(clip(result.Plain(e.Of[0]), longestName), shareText(e.Value, e.Low, e.High), strconv.Itoa(e.N))
			}
		}
		p.print(columns)
		if more := len(effects) - mostEffects; more > 0 {
			p.item("  ", p.say("mesh_more", "n", strconv.Itoa(more)))
		}
	}
}

// incast lists the nodes that serve many worst, against how they serve one.
func (p *page) incast(m *result.Mesh) {
	for _, metric := range m.Judged {
		of := incastEffects(m, metric)
		if len(of) == 0 {
			continue
		}
		q, _ := result.QuantityOf(metric)
		s := scaleFor(q.Unit, of[0].One)
		p.title(p.incastTitle(m, metric))
		columns := grid{{head: p.say("mesh_node_head")}, {head: p.say("mesh_senders"), right: true}, {head: p.say("mesh_one"), right: true},
			{head: p.say("mesh_all"), right: true}, {head: p.say("mesh_worst_sender"), right: true}, {head: p.say("toll_percent"), right: true}}
		for n, e := range of {
			if n < mostEffects {
				columns.add(clip(result.Plain(e.Of), longestName), strconv.Itoa(e.Senders), s.withUnit(e.One), s.withUnit(e.All), s.withUnit(e.Worst), shareText(e.Value, nil, nil))
			}
		}
		p.print(columns)
		if more := len(of) - mostEffects; more > 0 {
			p.item("  ", p.say("mesh_more", "n", strconv.Itoa(more)))
		}
	}
}

// incastTitle says who sends to whom.
func (w words) incastTitle(m *result.Mesh, metric string) string {
	q, _ := result.QuantityOf(metric)
	servers := strconv.Itoa(m.Incast.Servers)
	if q.Better == result.Higher {
		return w.say("mesh_incast_rate", "n", servers, "metric", w.heading(metric))
	}
	return w.say("mesh_incast_time", "n", servers, "metric", w.heading(metric))
}

// incastEffects are those in a metric, the worst first.
func incastEffects(m *result.Mesh, metric string) []result.MeshIncastEffect {
	if m.Incast == nil {
		return nil
	}
	of := slices.DeleteFunc(slices.Clone(m.Incast.Effects), func(e result.MeshIncastEffect) bool { return e.Metric != metric })
	slices.SortStableFunc(of, func(a, b result.MeshIncastEffect) int { return cmp.Compare(b.Value, a.Value) })
	return of
}

// notNamed lists who was suspected and is not named, and what was not measured.
func (p *page) notNamed(m *result.Mesh) {
	for _, part := range []struct {
		title string
		texts []string
	}{{p.say("mesh_suspects"), p.suspects(m)}, {p.say("mesh_unmeasured"), p.unmeasured(m)}} {
		if len(part.texts) == 0 {
			continue
		}
		p.title(part.title)
		for n, text := range part.texts {
			if n < mostEffects {
				p.item("  - ", text)
			}
		}
		if more := len(part.texts) - mostEffects; more > 0 {
			p.item("  ", p.say("mesh_more", "n", strconv.Itoa(more)))
		}
	}
}

// suspects are those that are not named, each with what became of it.
func (w words) suspects(m *result.Mesh) []string {
	texts := []string{}
	for _, s := range m.Suspects {
		outcome := w.say("mesh_undecided")
		if s.Outcome == result.MeshCleared {
			outcome = w.say("mesh_cleared")
		}
		if s.Outcome != result.MeshConfirmed {
			texts = append(texts, result.Plain(w.of(w.meshKind(s.Kind, s.Of)+w.say("comma")+w.heading(s.Metric), outcome+w.say("semicolon")+s.Reason)))
		}
	}
	return texts
}

// unmeasured are the nodes and links that were not measured, each with the reason.
func (w words) unmeasured(m *result.Mesh) []string {
	texts := []string{}
	for _, u := range m.Unmeasured {
		measured := w.say("mesh_measured", "n", strconv.Itoa(u.Measured), "of", w.count("window", u.Asked))
		texts = append(texts, result.Plain(w.of(strings.Join(u.Of, " - "), measured+w.say("semicolon")+u.Reason)))
	}
	return texts
}
