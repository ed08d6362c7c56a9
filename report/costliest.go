package report

import (
	"cmp"
	"slices"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// costliest is the place of the largest toll, and what is known of why.
type costliest struct {
	place
	cause   *result.Finding  // that explains a considerable share; nil: none is known to
	causeOf *result.Metric   // that the cause has a share of; nil: unknown
	also    []result.Finding // seen too, with a share that is unknown or small
	fault   *result.Finding  // by which the cell is broken; nil: it is not
}

// costliest finds the largest toll as the machine has it, and the largest under an interface
// or a link that is a model, where the plan has both.
func (a *answer) costliest() (most, modelled *costliest) {
	var real, model *place
	for p := range a.tolls() {
		if p.metric.Toll.Verdict != string(stats.Slower) || p.row.standIn {
			continue
		}
		if p.row.modelled {
			model = costlier(model, p)
		} else {
			real = costlier(real, p)
		}
	}
	return why(real), why(model)
}

// costlier is the one of two places that costs more.
func costlier(most *place, p place) *place {
	if most == nil || timesWorse(p.metric) > timesWorse(most.metric) {
		return &p
	}
	return most
}

// why finds what explains a toll: the finding with the largest share. One whose share is
// unknown or small is never the cause; nor is what the network itself costs while the
// cell has a fault of which nobody knows how much it costs.
func why(at *place) *costliest {
	if at == nil {
		return nil
	}
	c := &costliest{place: *at}
	cells := at.field.measured()
	slices.SortStableFunc(cells, func(x, y *result.Cell) int { return at.without(x) - at.without(y) })
	for _, cell := range cells {
		for n := range cell.Findings {
			f := &cell.Findings[n]
			switch {
			case considerable(*f) && c.cause == nil:
				c.cause, c.causeOf = f, weigh.Slower(cell)
			case f.Severity == result.SeverityError && c.fault == nil:
				c.fault = f
			case !considerable(*f):
				c.also = append(c.also, *f)
			}
		}
		if c.cause != nil || c.fault != nil || len(c.also) > 0 {
			break
		}
	}
	if c.cause != nil && c.cause.Severity == result.SeverityError {
		c.fault = c.cause
	} else if c.fault != nil {
		c.cause, c.causeOf = nil, nil
	}
	if c.cause != nil { // what explains little is no news then
		c.also = slices.DeleteFunc(c.also, func(f result.Finding) bool { return !unsized(f) })
	}
	c.also = append(c.also, besides(cells, c.also)...)
	return c
}

// besides are the findings of a place's cells that a command mends and whose share nobody knows: what
// somebody set there counts, whichever of the cells shows it. Those that are known already are left out.
func besides(cells []*result.Cell, known []result.Finding) (found []result.Finding) {
	for _, cell := range cells {
		for _, f := range cell.Findings {
			same := func(other result.Finding) bool { return other.ID == f.ID }
			if f.Remedy != nil && unsized(f) && f.Severity != result.SeverityError && !slices.ContainsFunc(slices.Concat(known, found), same) {
				found = append(found, f)
			}
		}
	}
	return found
}

// considerable reports whether a finding is known to explain much of a toll.
func considerable(f result.Finding) bool { return f.Share >= weigh.LeastPart }

// on reports whether a toll is one of some networks on a path: what costs most in one
// respect is not called the cheapest for another.
func (c *costliest) on(path string, networks []string) bool {
	return c != nil && c.column.path == path && slices.Contains(networks, c.row.network)
}

// without is 0 for the cell of which the toll is, and 1 for others.
func (p *place) without(c *result.Cell) int {
	if weigh.Metric(c, p.metric.Name) == p.metric {
		return 0
	}
	return 1
}

// usualNIC is the model of the interface that is as good as the machine itself.
const usualNIC = "full"

// modelled reports whether a cell was measured by an interface or a link that the lab models:
// it is what another machine would have.
func modelled(c *result.Cell) bool {
	nic := c.Params.Text("nic")
	return nic != "" && nic != usualNIC || c.Params.Linked()
}

// fault is something that is broken, whatever it costs.
type fault struct {
	result.Finding
	network, path string // where it was found; empty: on the machine
	more          int    // other faults
}

// faultOf is the fault that is named first: that of the largest toll, else the one that
// explains most.
func faultOf(res *result.Result, most *costliest) *fault {
	var all []fault
	add := func(f result.Finding, network, path string) {
		known := slices.ContainsFunc(all, func(other fault) bool { return other.ID == f.ID && other.Cause == f.Cause })
		if f.Severity == result.SeverityError && !known {
			all = append(all, fault{Finding: f, network: network, path: path})
		}
	}
	if most != nil && most.fault != nil {
		add(*most.fault, most.row.network, most.column.path)
	}
	for _, f := range res.Findings {
		add(f, "", "")
	}
	for _, c := range res.Cells {
		for _, f := range c.Findings {
			add(f, c.Network, c.Path)
		}
	}
	if len(all) == 0 {
		return nil
	}
	if most == nil || most.fault == nil {
		slices.SortStableFunc(all, func(a, b fault) int { return cmp.Compare(b.Share, a.Share) })
	}
	all[0].more = len(all) - 1
	return &all[0]
}

// settleModels marks the rows that hold for other machines than this one: those of a model,
// where there are others.
func (m *matrix) settleModels() {
	own := slices.ContainsFunc(m.rows, func(r matrixRow) bool { return !r.modelled && r.network != catalog.Baseline })
	for n := range m.rows {
		m.rows[n].modelled = m.rows[n].modelled && own
	}
}
