package diagnose

import (
	"fmt"
	"strings"

	"tare/catalog"
	"tare/weigh"
)

// nature is in the place of a fix where there is nothing to fix: a network costs this because it
// is what it is. It names the networks that were measured, keep what this one has, and cost
// less: to give the network up is no fix. To a shell it is a comment.
func (e *Evidence) nature() string { return e.natureBeside(e.cheaper()) }

// natureBeside is the same, if networks are known to be cheaper.
func (e *Evidence) natureBeside(cheaper []string) string {
	text := "# this is what " + e.Network + " is"
	kind, _ := catalog.FindNetwork(e.Network)
	if !catalog.Builds(e.Network) {
		return text
	}
	keeps := "its properties"
	if names := kind.Properties(); len(names) > 0 {
		keeps += " (" + strings.Join(names, ", ") + ")"
	}
	switch len(cheaper) {
	case 0:
		return text + ": of the networks measured here that keep " + keeps + ", none is known to cost less"
	case 1:
		return text + ": " + cheaper[0] + " keeps " + keeps + ", and costs less here"
	default:
		return text + ": " + strings.Join(cheaper, " and ") + " keep " + keeps + ", and cost less here"
	}
}

// cheaper names the networks that were measured as the cell was, keep what its network has, and
// whose tolls are below its toll with their whole intervals.
func (e *Evidence) cheaper() []string {
	m, slow := slower(e.Cell)
	if !slow || m.Toll.Low == nil {
		return nil
	}
	kind, _ := catalog.FindNetwork(e.Network)
	group := weigh.Of(e.groups, e.Cell)
	var names []string
	for _, c := range group.Cells {
		other, _ := catalog.FindNetwork(c.Network)
		if c.Network == e.Network || c.Fidelity == catalog.StandIn || other.Least || !other.Keeps(kind) || c != group.Counterpart(e.Cell, c.Network) {
			continue
		}
		if than := weigh.Metric(c, m.Name); than != nil && than.Toll != nil && than.Toll.High != nil && *than.Toll.High < *m.Toll.Low {
			names = append(names, c.Network)
		}
	}
	return names
}

// apart is the run that measures apart what a part has together.
func (e *Evidence) apart(p weigh.Part) string {
	names := strings.Join(append(append([]string{p.Below.Network}, p.Between...), p.Cell.Network), ",")
	paths := e.Path
	if twin := catalog.Unpublished(e.Path); twin != "" {
		paths += "," + twin // what is built upon may have no published ports
	}
	return fmt.Sprintf("tare run --networks %s --paths %s  # it measures them apart", strings.TrimPrefix(names, catalog.Baseline+","), paths)
}
