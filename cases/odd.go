package cases

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
)

// Published returns an article's figures as a result, for a referee. Figures of the
// same network and setting are one cell with one block.
func (c Case) Published() (*result.Result, error) {
	p, err := c.read()
	if err != nil {
		return nil, err
	}
	res := &result.Result{Schema: result.Schema, ID: c.ID, Cells: []result.Cell{}}
	at := map[string]int{}
	for _, f := range p.Figures {
		q, known := result.QuantityOf(f.Metric)
		if !known {
			continue
		}
		cell := result.Cell{
			Network: f.Network, Path: f.Path, Workload: f.Workload, Status: result.StatusOK,
			Params: result.Params{"setting": f.setting(), "experiment": f.Experiment}, Metrics: []result.Metric{},
		}
		if f.Connections > 0 {
			cell.Params["connections"] = f.Connections
		}
		key := strings.Join([]string{cell.Network, cell.Path, cell.Workload, cell.Params.Key()}, "\n")
		if _, known := at[key]; !known {
			at[key] = len(res.Cells)
			res.Cells = append(res.Cells, cell)
		}
		m := result.Metric{Name: q.Name, Unit: q.Unit, Better: q.Better, N: 1, Value: f.Value, Warnings: []string{}}
		if share, framing, known := c.ceiling(f); known {
			m.Ceiling = &result.Ceiling{Value: f.Value / share, Ratio: share, Framing: framing}
		}
		metrics := &res.Cells[at[key]].Metrics
		*metrics = append(*metrics, m)
	}
	return res, nil
}

// odd lists the published figures that contradict each other: the referee's
// warnings, and what only the whole table shows.
func (c Case) odd(p published, refereed *result.Result) []string {
	all := []string{}
	for _, cell := range refereed.Cells {
		for _, m := range cell.Metrics {
			for _, warning := range m.Warnings {
				all = append(all, strings.TrimSpace(fmt.Sprintf("%s, %s %s, %v: %s", cell.Network, cell.Workload, m.Name, cell.Params["setting"], warning)))
			}
		}
	}
	return slices.Concat(all, inProgress(refereed), p.fasterThanHost(), c.againstItself(p))
}

// inProgress is how many transactions the tables imply to be in progress at the same
// time, where they give no number of connections: rate times mean time (Little,
// 1961).
func inProgress(refereed *result.Result) []string {
	type bounds struct {
		least, most float64
		rows        int
	}
	found := map[string]*bounds{}
	var order []string
	for _, cell := range refereed.Cells {
		rate, each := 0.0, 0.0
		for _, m := range cell.Metrics {
			switch m.Name {
			case "rate":
				rate = m.Value
			case "rtt_mean", "latency_mean":
				each = m.Value
			}
		}
		if rate*each == 0 || cell.Params["connections"] != nil {
			continue
		}
		name := fmt.Sprint(cell.Params["experiment"])
		if found[name] == nil {
			found[name], order = &bounds{least: math.Inf(1)}, append(order, name)
		}
		b := found[name]
		b.least, b.most, b.rows = min(b.least, rate*each), max(b.most, rate*each), b.rows+1
	}
	var all []string
	for _, name := range order {
		b := found[name]
		all = append(all, fmt.Sprintf("%s: rate times mean time is from %.1f to %.1f in its %d rows: this many transactions were in progress at the same time, a number that the article does not give", name, b.least, b.most, b.rows))
	}
	return all
}

// noisy is by how much, as a ratio, a container may be published as faster than its
// host before that is odd: single runs are no more precise.
const noisy = 0.05

// fasterThanHost counts the figures in which a container beats its own host.
func (p published) fasterThanHost() []string {
	type tally struct {
		faster, of int
		most       float64
	}
	found := map[string]*tally{}
	var order []string
	for _, f := range p.Figures {
		t := p.tollOf(f)
		if t == nil || catalog.Within(f.Path) {
			continue
		}
		name := f.Network + "'s " + f.Metric
		if f.Experiment != "" {
			name = f.Experiment + ": " + name
		}
		if found[name] == nil {
			found[name], order = &tally{}, append(order, name)
		}
		found[name].of++
		if -*t > noisy {
			found[name].faster++
			found[name].most = max(found[name].most, -*t)
		}
	}
	var all []string
	for _, name := range order {
		if n := found[name]; n.faster > 0 {
			all = append(all, fmt.Sprintf("%s is better than its host's in %d of %d figures, by at most %s: a container's packets take the whole path of its host's, so this is the noise of single runs, or the two set-ups differ", name, n.faster, n.of, percent(n.most)))
		}
	}
	return all
}

// By how much a toll in the text may differ from that of the article's own table: as
// a ratio, and as a difference on top of it.
const (
	apartRatio = 1.25
	apartToll  = 0.02
)

// againstItself compares the tolls that the text names with those of the article's
// own table.
func (c Case) againstItself(p published) []string {
	var all []string
	for _, claim := range c.Claims {
		if claim.toll == nil {
			continue
		}
		least, most, has := 1.0, -1.0, false
		for _, f := range p.Figures {
			t := p.tollOf(f)
			if f.Link = claim.ofLink; t == nil && f.Link > 0 {
				if share, _, known := c.ceiling(f); known {
					lost := 1 - share
					t = &lost
				}
			}
			if t != nil && c.spotOf(f) == claim.toll.spot {
				least, most, has = min(least, *t), max(most, *t), true
			}
		}
		below := claim.toll.high*apartRatio+apartToll < least
		above := claim.toll.low > most*apartRatio+apartToll
		if has && (below || above) {
			all = append(all, fmt.Sprintf("the text says %q, a toll of %s; its own table gives %s", claim.text, claim.toll.text(), span{low: least, high: most}.text()))
		}
	}
	return all
}
