package report

import (
	"cmp"
	"slices"
	"strconv"

	"tare/network"
	"tare/result"
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
// "link": by the first of the loads that differ in it alone.
func spansOver(loads []*load, over string) map[*load][]viewSpan {
	found := map[*load][]viewSpan{}
	first := map[loadKey]*load{}
	for _, l := range loads {
		key := l.but(over)
		if first[key] == nil {
			first[key] = l
		}
		for _, r := range rowsOf([]*load{l}) {
			found[first[key]] = addDots(found[first[key]], l, r, over)
		}
	}
	for l, spans := range found {
		found[l] = slices.DeleteFunc(spans, func(s viewSpan) bool { return len(s.Dots) < 2 })
		for _, s := range found[l] {
			slices.SortStableFunc(s.Dots, func(a, b viewDot) int { return compareAt(a.At, b.At) })
		}
	}
	return found
}

// but is what a load shares with those that differ in a parameter alone.
func (l *load) but(over string) loadKey {
	key := l.key
	if over == "link" {
		key.link = ""
		return key
	}
	setting, _ := split(l.cells[0].Params)
	delete(setting, over)
	key.setting = setting.Key()
	return key
}

// addDots adds the toll of a row to its network's span. A network with a link of
// its own is weighed against a baseline on another: it spans what it was weighed
// at against that one.
func addDots(spans []viewSpan, l *load, r row, over string) []viewSpan {
	m := r.metric(0, headline(l))
	if r.network == network.Baseline || m == nil || m.Toll == nil {
		return spans
	}
	dot := viewDot{At: r.cells[0].Params[over], N: m.N, Toll: *m.Toll}
	if over != "link" {
		dot.At = paramText(dot.At)
		return addDot(spans, r.name(), r.cells[0].Fidelity, dot)
	}
	if rate, ok := dot.At.(float64); !ok || rate <= 0 {
		return spans
	}
	bare := r
	bare.link = ""
	if r.link == "" {
		spans = addDot(spans, bare.name(), r.cells[0].Fidelity, dot)
	}
	if slices.ContainsFunc(l.cells, func(c *result.Cell) bool { return c.Network == r.network && l.ownLink(c) != "" }) {
		spans = addDot(spans, bare.name()+" ("+network.Baseline+"@"+linkOf(l)+")", r.cells[0].Fidelity, dot)
	}
	return spans
}

// linkOf is the link of a load's baseline, as a plan writes it.
func linkOf(l *load) string {
	if rate, err := strconv.ParseFloat(l.key.link, 64); err == nil {
		return result.BitsPerSecond(rate).String()
	}
	return l.key.link
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
