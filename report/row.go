package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
	"tare/weigh"
)

// row is one network of a table: its cell under each of the table's groups, nil
// where there is none.
type row struct {
	network  string
	link     string          // its own, "" where it has the table's
	settings result.Settings // the network's own parameters, "" where it has its defaults
	common   result.Settings // those of them that all rows of the network have
	cells    []*result.Cell
	first    bool // no row of its network is before it
}

// rowsOf joins the cells of groups by network, in the order of the tables.
func rowsOf(groups []*weigh.Group) []row {
	type identity struct {
		network, link string
		settings      result.Settings
		again         int
	}
	var rows []row
	at := map[identity]int{}
	for slot, g := range groups {
		seen := map[identity]int{}
		for _, c := range g.Cells {
			id := identity{network: c.Network, link: linkOf(g, c), settings: settingsOf(c.Params)}
			again := seen[id]
			seen[id]++
			id.again = again
			if _, ok := at[id]; !ok {
				at[id] = len(rows)
				rows = append(rows, row{network: c.Network, link: id.link, settings: id.settings, cells: make([]*result.Cell, len(groups))})
			}
			rows[at[id]].cells[slot] = c
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Compare(catalog.Order(a.network), catalog.Order(b.network))
	})
	for n := range rows {
		rows[n].first = n == 0 || rows[n-1].network != rows[n].network
	}
	share(rows)
	return rows
}

// share finds what the rows of each network have in common, which the heading names.
func share(rows []row) {
	of := map[string][]result.Settings{}
	for _, r := range rows {
		of[r.network] = append(of[r.network], r.settings)
	}
	for n, r := range rows {
		rows[n].common = alike(of[r.network])
	}
}

// alike are the settings that several have in common, where they differ in others.
func alike(all []result.Settings) result.Settings {
	if len(slices.Compact(slices.Sorted(slices.Values(all)))) < 2 {
		return ""
	}
	common := all[0].Map()
	for _, other := range all[1:] {
		maps.DeleteFunc(common, func(name, value string) bool { return other.Map()[name] != value })
	}
	return result.MakeSettings(common)
}

// linkOf is the link of a cell where it is not its baseline's.
func linkOf(g *weigh.Group, c *result.Cell) string {
	if link := g.OwnLink(c); link > 0 {
		return link.String()
	}
	return ""
}

// mostLabel is what a row's label may take of a table.
const mostLabel = 32

// name is the row's label. Where it has no room for all parameters, it has those in which the
// network's rows differ. Those that do not fit next to the network's name are alone, indented: the
// row follows another of the network. The first has their values alone.
func (r row) name() string {
	label := result.Plain(r.network)
	if r.link != "" {
		label += "@" + result.Plain(r.link)
	}
	settings := result.Plain(r.settings.String())
	if settings == "" {
		return clip(label, mostLabel)
	}
	full := label + " " + settings
	if width(full) > mostLabel && r.common != "" {
		settings = result.Plain(r.varied())
		full = label + " " + settings
	}
	if width(full) <= mostLabel {
		return full
	}
	if strings.Contains(settings, catalog.With+"=") { // the beginning of a command says which it is
		return clip(full, mostLabel)
	}
	if !r.first {
		return clip("  "+settings, mostLabel)
	}
	for _, one := range strings.Fields(settings) {
		_, value, _ := strings.Cut(one, "=")
		label += " " + value
	}
	return clip(label, mostLabel)
}

// varied are the settings in which rows of the network differ, as text.
func (r row) varied() string {
	own, common := r.settings.Map(), r.common.Map()
	maps.DeleteFunc(own, func(name, _ string) bool { _, is := common[name]; return is })
	return result.MakeSettings(own).String()
}

// settingsOf are the network's own parameters; those that no network declares are left out.
func settingsOf(params result.Params) result.Settings {
	own := params.Settings().Map()
	maps.DeleteFunc(own, func(name, _ string) bool {
		return !slices.ContainsFunc(catalog.Params(), func(p catalog.Param) bool { return p.Name == name })
	})
	return result.MakeSettings(own)
}

// metric is a metric of one of the row's cells, nil where it was not measured.
func (r row) metric(slot int, name string) *result.Metric {
	if r.cells[slot] == nil || r.cells[slot].Status != result.StatusOK {
		return nil
	}
	return weigh.Metric(r.cells[slot], name)
}

// measured reports whether any of the headlines was.
func (r row) measured(headlines []string) bool {
	for slot, name := range headlines {
		if r.metric(slot, name) != nil {
			return true
		}
	}
	return false
}

// everywhere are the texts that are at every number of the row, where it has
// several.
func (r row) everywhere(shown [][]string) []string {
	var lists [][]string
	for slot, names := range shown {
		for _, name := range names {
			if m := r.metric(slot, name); m != nil {
				texts := []string{}
				for _, text := range m.Warnings {
					texts = append(texts, result.Plain(text))
				}
				lists = append(lists, texts)
			}
		}
	}
	return inAll(lists)
}

// nameNotes are the remarks on the row as a whole.
func (r row) nameNotes(w words, shown [][]string) []string {
	var texts []string
	add := func(text string) {
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	for slot, c := range r.cells {
		if c == nil || c.Status != result.StatusOK {
			continue
		}
		add(w.fidelityNote(c))
		noted := map[string]bool{}
		for _, m := range c.Metrics {
			for _, text := range m.Warnings {
				if slices.Contains(shown[slot], m.Name) {
					noted[text] = true
				}
			}
		}
		for _, m := range c.Metrics {
			for _, text := range m.Warnings {
				if !noted[text] {
					add(result.Plain(m.Name + ": " + text))
				}
				noted[text] = true
			}
		}
		add(w.windowNote(c, noted))
	}
	return texts
}

// fidelityNote remarks that a cell is not on the real data path; empty: it is.
func (w words) fidelityNote(c *result.Cell) string {
	switch c.Fidelity {
	case catalog.Product, catalog.SamePath:
		return ""
	case catalog.StandIn:
		return w.say("stand_in_text")
	case "":
		return w.say("fidelity_unknown")
	}
	return w.say("fidelity_is", "value", result.Plain(c.Fidelity))
}

// windowNote is about warnings of samples that were not noted yet.
func (w words) windowNote(c *result.Cell, noted map[string]bool) string {
	windows := map[string]int{}
	for _, s := range c.Samples {
		for _, text := range s.Warnings {
			if !noted[text] {
				windows[text]++
			}
		}
	}
	if len(windows) == 0 {
		return ""
	}
	texts := slices.SortedFunc(maps.Keys(windows), func(a, b string) int {
		return cmp.Or(cmp.Compare(windows[b], windows[a]), cmp.Compare(a, b))
	})
	note := result.Plain(texts[0]) + w.aside(w.count("window", windows[texts[0]]))
	if len(texts) > 1 {
		note += w.say("single_windows", "warnings", w.count("other_warning", len(texts)-1))
	}
	return note
}
