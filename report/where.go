package report

import (
	"cmp"
	"slices"
	"strconv"

	"tare/result"
)

// where says what the numbers are from, and so what they hold for. It is empty where that is
// not known: of what other tools measured, and of a site that this version does not have.
func (w words) where(res *result.Result) string {
	site := cmp.Or(res.Site, res.Plan.Site)
	switch {
	case !weighs(res):
		return ""
	case res.Kernels != nil:
		return w.say("where_kernels")
	case site == result.SiteSSH:
		return w.say("where_ssh") + w.first(res)
	case site == result.SiteEndpoint:
		return w.say("where_endpoint") + w.first(res)
	case site == result.SiteDocker:
		return w.say("where_docker") + w.first(res)
	case site == result.SiteKubernetes:
		return w.say("where_kubernetes") + w.first(res)
	case site == "", site == result.SiteLab:
		return w.say("where_lab")
	}
	return ""
}

// weighs reports whether networks were measured, as they are not by other tools.
func weighs(res *result.Result) bool {
	return slices.ContainsFunc(res.Cells, func(c result.Cell) bool { return c.Network != "" })
}

// first names the machine that a report describes, where a result is of several.
func (w words) first(res *result.Result) string {
	machines := machinesOf(res)
	if len(machines) < 2 {
		return ""
	}
	return w.say("where_first", "name", clip(result.Plain(machines[0]), 40), "n", strconv.Itoa(len(machines)))
}

// machinesOf are the names of the machines at which a result has places, in their order.
func machinesOf(res *result.Result) (names []string) {
	seen := map[string]bool{}
	add := func(p result.Place) {
		name := cmp.Or(p.Machine, p.Name)
		if id := cmp.Or(p.Boot, name); !seen[id] {
			seen[id], names = true, append(names, name)
		}
	}
	for _, p := range res.Places {
		add(p)
	}
	for _, pair := range res.Pairs {
		for _, p := range pair.Places {
			add(p)
		}
	}
	return names
}
