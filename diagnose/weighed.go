package diagnose

import (
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
	"tare/weigh"
	"tare/wire"
)

// Weigh names the causes of a result's tolls: those of each cell that was
// measured, and of the machine. Findings that a cell has already stay. lab is the
// name of the lab that was measured, if it still exists; else empty.
func Weigh(res *result.Result, lab string) {
	res.Findings = append(res.Findings, find(&Evidence{Noise: res.Noise}, Machine())...)
	groups := weigh.Groups(res)
	for n := range res.Cells {
		cell := &res.Cells[n]
		if cell.Status != result.StatusOK || cell.Network == catalog.Baseline {
			continue
		}
		rules := Costs()
		if kind, known := catalog.FindWorkload(cell.Workload); known && kind.MakesContainers() {
			rules = Making()
		}
		cell.Findings = append(cell.Findings, find(weighed(res, groups, cell, lab), rules)...)
		settle(cell)
	}
}

// WeighTraces names the causes that the tracer saw in the cells of a result.
func WeighTraces(res *result.Result, lab string) {
	groups := weigh.Groups(res)
	for n := range res.Cells {
		if cell := &res.Cells[n]; cell.Trace != nil {
			cell.Findings = append(cell.Findings, find(weighed(res, groups, cell, lab), Traced())...)
			settle(cell)
		}
	}
}

// weighed is the evidence that a result holds of a cell.
func weighed(res *result.Result, groups []*weigh.Group, cell *result.Cell, lab string) *Evidence {
	kind, _ := catalog.FindNetwork(cell.Network)
	mtu, group := cell.Params.Count("mtu"), weigh.Of(groups, cell)
	e := &Evidence{
		Lab: lab, Cell: cell, Noise: res.Noise, groups: groups,
		Parent: group.Counterpart(cell, kind.Parent), Baseline: group.Counterpart(cell, catalog.Baseline),
	}
	if len(cell.Clusters) > 0 {
		e.Prefix = cell.Clusters[0] + "."
	}
	e.Examination = result.Examination{
		Unread:  res.Unread,
		Network: cell.Network, Fidelity: cell.Fidelity, Path: cell.Path,
		NIC: cell.Params.Text("nic"), MTU: mtu, Inner: wire.InnerMTU(mtu, kind.Stack),
		Link: cell.Params.Linked(), Rules: cell.Params.Count(catalog.Rules),
	}
	if cell.Client != nil && cell.Server != nil { // one that makes containers has no ends
		e.Client, e.Server = cell.Client.At, cell.Server.At
		e.Places = catalog.PlacesOf(e.Client, e.Server)
	}
	for _, s := range res.States {
		underlay, at, of := strings.Cut(s.At, ".")
		if of && slices.Contains(cell.Clusters, underlay) {
			s.At = at
			e.States = append(e.States, s)
		}
	}
	for _, sample := range cell.Samples {
		e.Readings = append(e.Readings, sample.Readings...)
	}
	if m, slow := slower(cell); slow {
		e.Parts = weigh.Parts(groups, cell, m.Name)
	}
	return e
}

// slower is the metric by which a cell is slower, which shares are about.
func slower(cell *result.Cell) (result.Metric, bool) {
	if m := weigh.Slower(cell); m != nil {
		return *m, true
	}
	return result.Metric{}, false
}

// ofToll is the share of a cell's toll that a cause explains which took so much of
// the time; 0: it has no toll.
func (e *Evidence) ofToll(time float64) float64 {
	if _, slow := slower(e.Cell); !slow {
		return 0
	}
	return max(0, min(1, time))
}

// ofTime is the share of a cell's toll that goes if so small a share of its time is saved; 0:
// it has no toll.
func (e *Evidence) ofTime(saved float64) float64 {
	m, slow := slower(e.Cell)
	if !slow || m.Toll.Value <= 0 {
		return 0
	}
	return min(1, saved/m.Toll.Value)
}

// ofGap is the share of a cell's toll that goes if its rate grows by a factor; 0:
// it has no toll on a rate.
func (e *Evidence) ofGap(growth float64) float64 {
	m, slow := slower(e.Cell)
	if !slow || m.Better != result.Higher || m.Baseline == nil || m.Baseline.Value <= m.Value {
		return 0
	}
	return max(0, min(1, m.Value*(growth-1)/(m.Baseline.Value-m.Value)))
}

// added is the share of a cell's toll that its parent has not; 0: no parent was
// measured, or it is no faster.
func (e *Evidence) added(metric result.Metric) float64 {
	if e.Parent == nil {
		return 0
	}
	if m := weigh.Metric(e.Parent, metric.Name); m != nil && m.Toll != nil {
		return max(0, min(1, 1-m.Toll.Value/metric.Toll.Value))
	}
	return 0
}

// adding gives a finding about what the network itself adds its share of the toll: by
// the blocks where the same run has what it is built upon. A part that is none, beside larger
// ones of what is below, is noise: then the ladder of the cell's own group has the share.
func (e *Evidence) adding(m result.Metric, f result.Finding) result.Finding {
	for _, p := range e.Parts {
		if !p.Own() || p.Cell.Network != e.Network {
			continue
		}
		if rung, known := e.ownRung(); p.Share.Value <= 0 && known && rung.Below.Network == p.Below.Network {
			p = rung
		}
		return explaining(p, f)
	}
	f.Share = e.added(m)
	return f
}

// attributed is the confidence that a cost which lies in the network's nature is
// the cause of the toll: so much where the parent was measured, by which the
// share is known; else the toll may have other causes.
func (e *Evidence) attributed(confidence float64) float64 {
	if e.Parent == nil {
		return min(confidence, unattributed)
	}
	return confidence
}

const unattributed = 0.65

// tolled is the evidence of a cell's toll, and of its parent's.
func (e *Evidence) tolled(m result.Metric) []result.Evidence {
	all := []result.Evidence{{Name: "toll of " + e.Network + " on " + m.Name, Value: m.Toll.Value, Source: "this result"}}
	if e.Parent != nil {
		if p := weigh.Metric(e.Parent, m.Name); p != nil && p.Toll != nil {
			all = append(all, result.Evidence{Name: "toll of " + e.Parent.Network + ", its parent", Value: p.Toll.Value, Source: "this result"})
		}
	}
	return all
}

// mean is that of a counter over the samples of the cell; 0: none has it.
func (e *Evidence) mean(counter string) float64 {
	var sum, n float64
	for _, s := range e.Cell.Samples {
		if value, there := s.Counters[counter]; there {
			sum, n = sum+value, n+1
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// cellLoses reports whether the measurement lost packets, and the share if that is
// known.
func (e *Evidence) cellLoses() (float64, bool) {
	var loss, again float64
	for _, s := range e.Cell.Samples {
		loss, again = loss+s.Metrics["loss"], again+s.Metrics["retransmits"]
	}
	loss /= max(1, float64(len(e.Cell.Samples)))
	return loss, loss >= trainLoss || again > 0
}
