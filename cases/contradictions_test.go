package cases

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/experiment"
	"tare/result"
	"tare/test/labtest"
)

// TestContradictionsAreNamed finds what contradicts in the figures and claims of each case, which its
// file lists in these words: the referee's warnings, and what only the whole table shows.
func TestContradictionsAreNamed(t *testing.T) {
	for _, c := range all(t) {
		refereed := c.published()
		experiment.Referee(refereed)
		found := slices.Concat(warnings(refereed), inProgress(refereed), c.fasterThanHost(), c.againstItself())
		labtest.Equal(t, c.ID+": contradictions", strings.Join(c.Contradictions, "\n"), strings.Join(found, "\n"))
	}
}

// published is an article's figures as a result, for the referee. Figures of the
// same network and setting are one cell with one block.
func (c Case) published() *result.Result {
	res := &result.Result{Schema: result.Schema, ID: c.ID, Cells: []result.Cell{}}
	at := map[string]int{}
	for _, f := range c.Figures {
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
	return res
}

func warnings(refereed *result.Result) []string {
	var all []string
	for _, cell := range refereed.Cells {
		for _, m := range cell.Metrics {
			for _, warning := range m.Warnings {
				all = append(all, strings.TrimSpace(fmt.Sprintf("%s, %s %s, %v: %s", cell.Network, cell.Workload, m.Name, cell.Params["setting"], warning)))
			}
		}
	}
	return all
}

// series are numbers of one name.
type series struct {
	name   string
	values []float64
}

// with adds a number to the series of a name, which are in the order of their first numbers.
func with(all []series, name string, value float64) []series {
	at := slices.IndexFunc(all, func(s series) bool { return s.name == name })
	if at < 0 {
		return append(all, series{name, []float64{value}})
	}
	all[at].values = append(all[at].values, value)
	return all
}

// inProgress is how many transactions the tables imply to be in progress at the same
// time, where they give no number of connections: rate times mean time (Little,
// 1961).
func inProgress(refereed *result.Result) []string {
	var found []series
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
		if rate*each != 0 && cell.Params["connections"] == nil {
			found = with(found, cell.Params.Text("experiment"), rate*each)
		}
	}
	var all []string
	for _, of := range found {
		all = append(all, fmt.Sprintf("%s: rate times mean time is from %.1f to %.1f in its %d rows: this many transactions were in progress at the same time, a number that the article does not give",
			of.name, slices.Min(of.values), slices.Max(of.values), len(of.values)))
	}
	return all
}

// noisy is by how much, as a ratio, a container may be published as faster than its
// host before that is odd: single runs are no more precise.
const noisy = 0.05

// fasterThanHost counts the figures in which a container beats its own host.
func (c Case) fasterThanHost() []string {
	var gains []series
	for _, f := range c.Figures {
		if t := c.tollOf(f); t != nil && !catalog.Within(f.Path) {
			name := f.Network + "'s " + f.Metric
			if f.Experiment != "" {
				name = f.Experiment + ": " + name
			}
			gains = with(gains, name, -*t)
		}
	}
	var all []string
	for _, of := range gains {
		n := 0
		for _, gain := range of.values {
			if gain > noisy {
				n++
			}
		}
		if n > 0 {
			all = append(all, fmt.Sprintf("%s is better than its host's in %d of %d figures, by at most %s: a container's packets take the whole path of its host's, so this is the noise of single runs, or the two set-ups differ", of.name, n, len(of.values), percent(slices.Max(of.values))))
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
func (c Case) againstItself() []string {
	var all []string
	for _, one := range c.Claims {
		for _, named := range one.ReproducedIf {
			table := c.tollsAt(named)
			if named.Relation != "costs" || len(table) == 0 {
				continue
			}
			least, most := slices.Min(table), slices.Max(table)
			if named.Range.high*apartRatio+apartToll < least || named.Range.low > most*apartRatio+apartToll {
				all = append(all, fmt.Sprintf("the text says %q, a toll of %s; its own table gives %s", one.Text, named.Range, span{least, most}))
			}
		}
	}
	return all
}

// tollsAt are those of the article's own table at the spot of a comparison: over its host, or of the
// link.
func (c Case) tollsAt(named comparison) []float64 {
	var tolls []float64
	for _, f := range c.Figures {
		if c.spotOf(f) != named.Figure {
			continue
		}
		f.Link = named.OfLink
		if t := c.tollOf(f); t != nil {
			tolls = append(tolls, *t)
		} else if share, _, known := c.ceiling(f); known {
			tolls = append(tolls, 1-share)
		}
	}
	return tolls
}

// tollOf is a figure's toll over the host of the same table; nil: there is no host.
func (c Case) tollOf(f figure) *float64 {
	if of, compared := c.reference(f); compared && of.Network == catalog.Baseline {
		return f.tollOver(of)
	}
	return nil
}
