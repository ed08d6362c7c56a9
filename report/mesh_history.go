package report

import (
	"cmp"
	"io"
	"slices"
	"strconv"

	"tare/result"
	"tare/stats"
)

// Meshes writes what several meshes say over time: who was named, and when. The newest follows as
// Terminal writes one. The only error is that of w.
func Meshes(w io.Writer, results []*result.Result, opts Options) error {
	p := newPage(opts)
	h := historyOf(results)
	p.line(p.paint(p.historyHead(h), bold))
	for _, text := range p.namings(h) {
		p.item("- ", text)
	}
	for _, metric := range h.newest().Mesh.Judged {
		p.historyNodes(h, metric)
	}
	p.line("")
	p.mesh(h.newest())
	return p.to(w, "report")
}

// OnlyMeshes reports whether results are several, and all of them are meshes: they have a time line.
func OnlyMeshes(results []*result.Result) bool {
	return len(results) > 1 && !slices.ContainsFunc(results, func(res *result.Result) bool { return res.Mesh == nil })
}

// history is meshes in the order in which they ended.
type history []*result.Result

func historyOf(results []*result.Result) history {
	return slices.SortedStableFunc(slices.Values(results), func(a, b *result.Result) int { return endOf(a).Compare(endOf(b)) })
}

func (h history) newest() *result.Result { return h[len(h)-1] }

// clock is when a mesh ended, for people.
func clock(res *result.Result) string { return endOf(res).UTC().Format("2006-01-02 15:04") }

// historyHead is what the time line is of.
func (w words) historyHead(h history) string {
	return w.say("history_head", "meshes", w.count("mesh", len(h)), "from", clock(h[0]), "to", clock(h.newest()))
}

// mostNamings is how many of the meshes that named somebody are listed: the newest.
const mostNamings = 12

// namings are the meshes that named somebody, in the order of time, each with whom.
func (w words) namings(h history) []string {
	var texts []string
	for _, res := range h {
		var of []string
		for _, n := range res.Mesh.Named {
			of = append(of, w.meshKind(n.Kind, n.Of)+w.aside(w.join(w.heading(n.Metric)+" "+shareText(n.Value, nil, nil))))
		}
		if len(of) > 0 {
			texts = append(texts, result.Plain(w.of(clock(res), w.join(of...))))
		}
	}
	if len(texts) == 0 {
		return []string{w.say("history_nobody")}
	}
	if more := len(texts) - mostNamings; more > 0 {
		return append([]string{w.say("history_earlier", "n", strconv.Itoa(more))}, texts[more:]...)
	}
	return texts
}

// nodeOver is a node over time.
type nodeOver struct {
	name   string
	values []*float64 // its effect in each mesh; nil: it has none
	named  int        // meshes that named it
	worst  int        // the mesh in which it was worst
}

// mostOver is how many nodes a time line has: those that were named most often, or were worst.
const mostOver = 8

// nodesOver are the nodes of a metric over time, those first that were named most often, then those
// that were worst.
func (h history) nodesOver(metric string) []nodeOver {
	at, all := map[string]int{}, []nodeOver{}
	of := func(name string) *nodeOver {
		if _, known := at[name]; !known {
			at[name] = len(all)
			all = append(all, nodeOver{name: name, values: make([]*float64, len(h)), worst: -1})
		}
		return &all[at[name]]
	}
	for n, res := range h {
		for _, e := range res.Mesh.Effects {
			if e.Kind != result.MeshNodeKind || e.Metric != metric {
				continue
			}
			node := of(e.Of[0])
			node.values[n] = &e.Value
			if node.worst < 0 || e.Value > *node.values[node.worst] {
				node.worst = n
			}
		}
		for _, named := range res.Mesh.Named {
			if named.Kind == result.MeshNodeKind && named.Metric == metric {
				of(named.Of[0]).named++
			}
		}
	}
	all = slices.DeleteFunc(all, func(n nodeOver) bool { return n.worst < 0 })
	slices.SortStableFunc(all, func(a, b nodeOver) int {
		return cmp.Or(cmp.Compare(b.named, a.named), cmp.Compare(*b.values[b.worst], *a.values[a.worst]))
	})
	return all
}

// middle is the median of what a node has.
func (n nodeOver) middle() float64 {
	var values []float64
	for _, v := range n.values {
		if v != nil {
			values = append(values, *v)
		}
	}
	return stats.Median(values)
}

// historyNodes lists the nodes over time.
func (p *page) historyNodes(h history, metric string) {
	nodes := h.nodesOver(metric)
	if len(nodes) == 0 {
		return
	}
	p.title(p.say("history_nodes", "metric", p.heading(metric)))
	columns := grid{{head: p.say("mesh_node_head")}, {head: p.say("history_named"), right: true}, {head: p.say("history_middle"), right: true},
		{head: p.say("history_worst"), right: true}, {head: p.say("history_when")}, {head: p.say("history_newest"), right: true}}
	for _, n := range nodes[:min(len(nodes), mostOver)] {
		newest := "-"
		if last := n.values[len(h)-1]; last != nil {
			newest = shareText(*last, nil, nil)
		}
		columns.add(clip(result.Plain(n.name), longestName), p.say("history_times", "n", strconv.Itoa(n.named), "of", strconv.Itoa(len(h))),
			shareText(n.middle(), nil, nil), shareText(*n.values[n.worst], nil, nil), clock(h[n.worst]), newest)
	}
	p.print(columns)
	if more := len(nodes) - mostOver; more > 0 {
		p.item("  ", p.say("mesh_more", "n", strconv.Itoa(more)))
	}
}

// viewHistory is a time line as the page shows it.
type viewHistory struct {
	Heads   map[string]string   `json:"heads"`
	Named   map[string][]string `json:"named"` // the meshes that named somebody
	At      []string            `json:"at"`    // when each mesh ended
	Metrics []viewOver          `json:"metrics"`
}

// viewOver is the nodes of a metric over time.
type viewOver struct {
	Titles map[string]string `json:"titles"`
	Nodes  []viewNodeOver    `json:"nodes"`
}

type viewNodeOver struct {
	Name   string     `json:"name"`
	Values []*float64 `json:"values"` // by mesh; null: it has none
}

func historyView(h history) *viewHistory {
	v := &viewHistory{Heads: byLanguage(func(w words) string { return w.historyHead(h) }), Named: map[string][]string{}, At: result.Names(h, clock), Metrics: []viewOver{}}
	for _, language := range Languages() {
		v.Named[language] = wordsOf(language).namings(h)
	}
	for _, metric := range h.newest().Mesh.Judged {
		over := viewOver{Titles: byLanguage(func(w words) string { return w.say("history_nodes", "metric", w.heading(metric)) }), Nodes: []viewNodeOver{}}
		nodes := h.nodesOver(metric)
		for _, n := range nodes[:min(len(nodes), mostOver)] {
			over.Nodes = append(over.Nodes, viewNodeOver{result.Plain(n.name), n.values})
		}
		v.Metrics = append(v.Metrics, over)
	}
	return v
}
