package report

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"tare/network"
	"tare/result"
)

// group is what stands in one table: one path under one setting, and one
// workload, or tcp_stream and tcp_rr side by side.
type group struct {
	loads []*load
}

// load is one workload with its parameters on one path: its networks are
// compared with each other.
type load struct {
	key   loadKey
	cells []*result.Cell // in the order of the tables
}

// loadKey is what the networks of a comparison share.
type loadKey struct {
	path     string
	setting  string // nic, mtu, pin, rps, cc
	link     string // the baseline's; a network may have its own
	workload string
	mode     string
	own      string // the workload's own parameters
}

// settings are the parameters that belong to the lab; all others are the
// workload's own. The link stands apart.
func settings() []string { return []string{"nic", "mtu", "pin", "rps", "cc"} }

// isNetworkParam tells parameters of one network: they tell rows apart, not
// tables.
func isNetworkParam(name string) bool {
	return slices.ContainsFunc(network.Params(), func(p network.Param) bool { return p.Name == name })
}

// split gives the parameters of the lab and those of the workload.
func split(params result.Params) (setting, own result.Params) {
	setting, own = result.Params{}, result.Params{}
	for name, value := range params {
		switch {
		case name == "link" || isNetworkParam(name):
		case slices.Contains(settings(), name):
			setting[name] = value
		default:
			own[name] = value
		}
	}
	return setting, own
}

// paramText is a parameter as text: equal texts, equal values.
func paramText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return number(v)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error() // a value that no file can hold
	}
	return string(text)
}

// number writes a number in full, without an exponent where it is short.
func number(v float64) string {
	if size := math.Abs(v); size >= 1e15 || size < 1e-4 && v != 0 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func keyOf(cell *result.Cell) loadKey {
	setting, own := split(cell.Params)
	return loadKey{
		path: cell.Path, setting: setting.Key(), link: paramText(cell.Params["link"]),
		workload: cell.Workload, mode: cell.Mode, own: own.Key(),
	}
}

// loadsOf sorts the cells of a result into what is compared.
func loadsOf(res *result.Result) []*load {
	var loads []*load
	links := baselineLinks(res)
	for _, ok := range []bool{true, false} { // what failed joins what was measured
		for i := range res.Cells {
			cell := &res.Cells[i]
			if (cell.Status == result.StatusOK) != ok {
				continue
			}
			key := keyOf(cell)
			bare := key
			bare.link = ""
			if of := links[bare]; len(of) > 0 && !slices.Contains(of, key.link) {
				key.link = of[0]
			}
			at := slices.IndexFunc(loads, func(l *load) bool { return l.key == key })
			if at < 0 && !ok {
				at = slices.IndexFunc(loads, func(l *load) bool { return l.admits(cell) })
			}
			if at < 0 {
				at = len(loads)
				loads = append(loads, &load{key: key})
			}
			loads[at].cells = append(loads[at].cells, cell)
		}
	}
	for _, l := range loads {
		slices.SortStableFunc(l.cells, func(a, b *result.Cell) int {
			return cmp.Compare(networkOrder(a.Network), networkOrder(b.Network))
		})
	}
	slices.SortStableFunc(loads, func(a, b *load) int {
		return cmp.Compare(pathOrder(a.key.path), pathOrder(b.key.path))
	})
	return loads
}

// baselineLinks are the links that a baseline was measured on, by key without
// a link: a network with a link of its own is weighed against one of those.
func baselineLinks(res *result.Result) map[loadKey][]string {
	links := map[loadKey][]string{}
	for i := range res.Cells {
		if res.Cells[i].Network == network.Baseline {
			key := keyOf(&res.Cells[i])
			link := key.link
			key.link = ""
			links[key] = append(links[key], link)
		}
	}
	return links
}

// admits tells whether a cell that was not measured, and so may lack its mode
// and parameters, belongs here.
func (l *load) admits(c *result.Cell) bool {
	return l.key.path == c.Path && l.key.workload == c.Workload &&
		(c.Mode == "" || c.Mode == l.key.mode) && agree(l.cells[0].Params, c.Params)
}

// agree tells whether two sets of parameters differ in nothing that both
// name, links aside.
func agree(a, b result.Params) bool {
	for name, value := range a {
		other, both := b[name]
		if both && name != "link" && paramText(value) != paramText(other) {
			return false
		}
	}
	return true
}

// groupsOf puts loads of one path and setting together where they share a
// table: one tcp_stream and one tcp_rr.
func groupsOf(loads []*load) []group {
	var groups []group
	for _, l := range loads {
		twin := partner(loads, l)
		switch {
		case twin == nil:
			groups = append(groups, group{loads: []*load{l}})
		case l.key.workload == "tcp_stream":
			groups = append(groups, group{loads: []*load{l, twin}})
		}
	}
	return groups
}

// partner is the load that shares a table with l, nil where there is none.
func partner(loads []*load, l *load) *load {
	var same, other []*load
	for _, candidate := range loads {
		if candidate.key.path != l.key.path || candidate.key.setting != l.key.setting || candidate.key.link != l.key.link {
			continue
		}
		switch {
		case candidate.key.workload == l.key.workload:
			same = append(same, candidate)
		case candidate.key.workload == "tcp_stream" && l.key.workload == "tcp_rr",
			candidate.key.workload == "tcp_rr" && l.key.workload == "tcp_stream":
			other = append(other, candidate)
		}
	}
	if len(same) != 1 || len(other) != 1 {
		return nil
	}
	return other[0]
}

// networkOrder is a network's place in the tables; those that are not known
// come last.
func networkOrder(name string) int {
	all := network.All()
	if at := slices.IndexFunc(all, func(n network.Network) bool { return n.Name == name }); at >= 0 {
		return at
	}
	return len(all)
}

func pathOrder(path string) int {
	if at := slices.Index(network.Paths(), path); at >= 0 {
		return at
	}
	return len(network.Paths())
}

// describe is a table's title: what all of its cells share. Parameters that
// never vary stand in the heading of the report.
func (g group) describe(w words, loads []*load) string {
	first := g.loads[0]
	parts := []string{first.key.path}
	setting, _ := split(first.cells[0].Params)
	for _, name := range settings() {
		text := paramText(setting[name])
		if text != "" && (name == "nic" || name == "mtu" || varies(loads, name, "")) {
			parts = append(parts, name+" "+text)
		}
	}
	if rate, err := strconv.ParseFloat(first.key.link, 64); err == nil && rate > 0 {
		parts = append(parts, "link "+scaleFor("bit/s", rate).withUnit(rate))
	}
	var names []string
	for _, l := range g.loads {
		names = append(names, l.describe(loads))
	}
	return w.of(w.join(parts...), strings.Join(names, w.say("and")))
}

// describe names the workload with its mode and what tells it from others of
// its kind.
func (l *load) describe(loads []*load) string {
	var details []string
	if l.key.mode != "" {
		details = append(details, l.key.mode)
	}
	_, own := split(l.cells[0].Params)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if varies(loads, name, l.key.workload) {
			details = append(details, name+" "+paramText(own[name]))
		}
	}
	if len(details) == 0 {
		return l.key.workload
	}
	return l.key.workload + " (" + strings.Join(details, ", ") + ")"
}

// varies tells whether a parameter has several values among the loads of a
// workload, "" for all workloads.
func varies(loads []*load, name, workload string) bool {
	values := map[string]bool{}
	for _, l := range loads {
		if workload == "" || l.key.workload == workload {
			values[paramText(l.cells[0].Params[name])] = true
		}
	}
	return len(values) > 1
}
