package report

import (
	"cmp"
	"slices"

	"tare/catalog"
	"tare/result"
	"tare/weigh"
)

// viewSpan is one network that was weighed several times, all alike but for one
// parameter of the lab.
type viewSpan struct {
	Label    string    `json:"label"`
	Fidelity string    `json:"fidelity"`
	Dots     []viewDot `json:"dots"`
}

// viewDot is the toll at one value of the parameter.
type viewDot struct {
	At   any         `json:"at"` // the nic's model, or the link's rate in bit/s
	N    int         `json:"n"`  // blocks
	Toll result.Toll `json:"toll"`
}

// spansOver finds what networks cost over a parameter of the lab, "nic" or
// "link": by the first of the groups that differ in it alone.
func spansOver(groups []*weigh.Group, over string) map[*weigh.Group][]viewSpan {
	found := map[*weigh.Group][]viewSpan{}
	first := map[string]*weigh.Group{}
	for _, g := range groups {
		key := g.Without(over)
		if first[key] == nil {
			first[key] = g
		}
		for _, r := range rowsOf([]*weigh.Group{g}) {
			found[first[key]] = addDots(found[first[key]], g, r, over)
		}
	}
	for g, spans := range found {
		found[g] = slices.DeleteFunc(spans, func(s viewSpan) bool { return len(s.Dots) < 2 })
		for _, s := range found[g] {
			slices.SortStableFunc(s.Dots, func(a, b viewDot) int { return compareAt(a.At, b.At) })
		}
	}
	return found
}

// addDots adds the toll of a row to its network's span. A network with its own link
// is weighed against a baseline on another: it spans what it was weighed
// at against that one.
func addDots(spans []viewSpan, g *weigh.Group, r row, over string) []viewSpan {
	m := r.metric(0, headline(g))
	if r.network == catalog.Baseline || m == nil || m.Toll == nil {
		return spans
	}
	dot := viewDot{At: r.cells[0].Params.Text(over), N: m.N, Toll: *m.Toll}
	if over != "link" {
		return addDot(spans, r.name(), r.cells[0].Fidelity, dot)
	}
	link := r.cells[0].Params.Number(over)
	if link <= 0 {
		return spans
	}
	dot.At = link
	bare := r
	bare.link = ""
	if r.link == "" {
		spans = addDot(spans, bare.name(), r.cells[0].Fidelity, dot)
	}
	if slices.ContainsFunc(g.Cells, func(c *result.Cell) bool { return c.Network == r.network && g.OwnLink(c) > 0 }) {
		spans = addDot(spans, bare.name()+" ("+catalog.Baseline+"@"+g.Link().String()+")", r.cells[0].Fidelity, dot)
	}
	return spans
}

// addDot adds a dot to the span of a label, the first at each place.
func addDot(spans []viewSpan, label, fidelity string, dot viewDot) []viewSpan {
	at := slices.IndexFunc(spans, func(s viewSpan) bool { return s.Label == label })
	if at < 0 {
		return append(spans, viewSpan{label, fidelity, []viewDot{dot}})
	}
	if !slices.ContainsFunc(spans[at].Dots, func(d viewDot) bool { return d.At == dot.At }) {
		spans[at].Dots = append(spans[at].Dots, dot)
	}
	return spans
}

// compareAt puts rates in rising order, and models from the most to the least
// that they take off the CPU.
func compareAt(a, b any) int {
	if x, ok := a.(float64); ok {
		return cmp.Compare(x, b.(float64))
	}
	models := []any{"full", "tso", "frames", "plain"}
	return cmp.Compare(slices.Index(models, a), slices.Index(models, b))
}
