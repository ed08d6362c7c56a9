package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"tare/catalog"
	"tare/experiment/schedule"
	"tare/probe"
	"tare/result"
	"tare/site"
)

// recorder keeps what a run measures, in its result: cells with their samples and misses, and
// how noisy it was meanwhile.
type recorder struct {
	res     *result.Result
	plan    result.Plan
	groups  []group
	built   clusters
	cells   map[cellKey]*result.Cell
	order   []cellKey // of the cells in the result
	missed  map[*result.Cell][]string
	gates   []string              // warnings of the noise gates, for every number
	before  map[string]probe.Load // of each machine
	weighed time.Duration         // what the last weighing took
	last    bool                  // nothing more will be measured
}

// cellKey finds a cell; both baselines of a group are one cell.
type cellKey struct {
	group   int
	network string
	cluster string
}

func keyOf(group int, c place) cellKey {
	if c.layout != "" {
		return cellKey{group: group, network: c.network.Name}
	}
	return cellKey{group: group, network: c.network.Name, cluster: c.cluster}
}

// newRecorder makes every cell of some groups of a plan, fails those whose cluster is not set up
// and skips what the network turned out not to carry.
func newRecorder(res *result.Result, groups []group, built clusters) *recorder {
	r := &recorder{
		res: res, plan: res.Plan, groups: groups, built: built,
		cells: map[cellKey]*result.Cell{}, missed: map[*result.Cell][]string{},
	}
	for n, g := range groups {
		group, mode := g.key(r.plan, built.steering()), runOf(r.plan, g.workload).Mode
		for _, at := range g.places {
			key := keyOf(n, at)
			if cell, made := r.cells[key]; made {
				cell.Clusters = append(cell.Clusters, at.cluster)
				continue
			}
			cell := r.newCell(g, at)
			cell.Group, cell.Mode = group, mode
			r.cells[key] = cell
			r.order = append(r.order, key)
		}
	}
	return r
}

// newCell makes the cell of a place.
func (r *recorder) newCell(g group, at place) *result.Cell {
	b := r.built[at.cluster]
	cell := &result.Cell{
		Network: at.network.Name, Path: g.path, Workload: g.workload.Name, Fidelity: cmp.Or(b.Fidelity, at.network.Fidelity),
		Clusters: []string{at.cluster}, Params: params(r.plan, g, at, b.RPS), Status: result.StatusOK,
	}
	if b.Error != "" {
		cell.Status, cell.Reason = result.StatusFailed, b.Error
	} else if why := cmp.Or(unservedBy(r.plan, b.Built, g), unfitFor(r.plan, at, g)); why != "" {
		cell.Status, cell.Reason = result.StatusSkipped, why
	}
	return cell
}

// keep adds the sample of a run to its cell, or that the run failed.
func (r *recorder) keep(v visit, sample result.Sample, err error, block, order int) {
	cell := r.cell(v)
	if err == nil {
		sample.Block, sample.Order, sample.Layout = block, order, v.place.layout
		cell.Samples = append(cell.Samples, sample)
		return
	}
	r.missed[cell] = append(r.missed[cell], fmt.Sprintf("missed: block %d has no window: %v", block+1, err))
	if final(err) || schedule.GivesUp(len(r.missed[cell]), len(cell.Samples)) {
		cell.Status, cell.Reason = result.StatusFailed, err.Error()
	}
}

// cell is that of a visit.
func (r *recorder) cell(v visit) *result.Cell { return r.cells[keyOf(v.group, v.place)] }

// measurable reports whether the cell of a visit has not failed.
func (r *recorder) measurable(v visit) bool { return r.cell(v).Status == result.StatusOK }

// numbered are the cells with some of the schedule's numbers.
func (r *recorder) numbered(numbers []int) (cells []*result.Cell) {
	for _, n := range numbers {
		cells = append(cells, r.cells[r.order[n]])
	}
	return cells
}

// forget forgets what was measured of some cells.
func (r *recorder) forget(cells []*result.Cell) {
	for _, cell := range cells {
		cell.Samples = nil
		delete(r.missed, cell)
	}
}

// failUnmeasured fails the cells whose every run was missed, so that they have a reason:
// a plan of one block misses too few for keep to do so.
func (r *recorder) failUnmeasured() {
	for _, cell := range r.cells {
		if missed := r.missed[cell]; cell.Status == result.StatusOK && len(cell.Samples) == 0 && len(missed) > 0 {
			cell.Status, cell.Reason = result.StatusFailed, missed[len(missed)-1]
		}
	}
}

// unread takes what could not be read, each once.
func (r *recorder) unread(more []result.Unread) { r.res.Unread = probe.Unread(r.res.Unread, more) }

// warn adds a warning to the result.
func (r *recorder) warn(text string) { r.res.Warnings = append(r.res.Warnings, text) }

// unservedBy is why a group's path or server can't be measured on a network that is built;
// empty: it can.
func unservedBy(p result.Plan, b site.Built, g group) string {
	if slices.Contains(b.Unserved, g.path) {
		return "with these parameters the network has no such path"
	}
	server, _ := serverOf(g.workload.Name, runOf(p, g.workload))
	if b.Mute != "" && server.SpeaksFirst && catalog.ByPublishedPort(g.path) {
		return server.Name + " speaks first, and " + b.Mute
	}
	return ""
}
