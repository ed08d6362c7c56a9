package weigh

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// Point is a result as a trend needs it, without its samples: there may be very many.
type Point struct {
	file  string
	res   *result.Result // without samples, readings and states
	grown []float64      // by growing; NaN: not known
	why   string         // it is left out; empty: it is not
}

// PointOf keeps of a result what a trend needs, and drops the rest from it.
func PointOf(file string, res *result.Result) Point {
	p := Point{file: file, res: res}
	switch {
	case res.Mesh != nil:
		p.why = "it is a mesh: tare report shows several of them"
	case res.Finished == "" && len(res.Plan.Networks) > 0:
		p.why = "its run was interrupted"
	}
	for _, g := range growing() {
		p.grown = append(p.grown, g.of(res))
	}
	res.States = nil
	res.Contrasts = nil
	for n := range res.Cells {
		res.Cells[n].Samples = nil
	}
	return p
}

// trendRate is the chance with which a trend in which nothing changes names any change.
const trendRate = 0.05

// Trends compares points over time. read reads a point's whole result again, by its file: of the
// first and the newest, and of those around a change.
func Trends(points []Point, gates Gates, read func(file string) (*result.Result, error)) (result.Trend, error) {
	t := result.Trend{
		Results: []result.TrendResult{}, Left: []result.TrendLeft{}, Cells: []result.TrendCell{},
		Changes: []result.TrendChange{}, Growths: []result.TrendGrowth{},
	}
	slices.SortStableFunc(points, func(a, b Point) int { return begun(a.res).Compare(begun(b.res)) })
	s := trending{read: read, t: &t}
	s.choose(points)
	s.results()
	if len(s.points) < 2 {
		return t, nil
	}
	first, err := read(s.points[0].file)
	if err != nil {
		return t, err
	}
	newest, err := read(s.points[len(s.points)-1].file)
	if err != nil {
		return t, err
	}
	t.Compared = Compare(first, newest, gates)
	t.Compared.Name(s.points[0].file, s.points[len(s.points)-1].file)
	s.cells()
	if err := s.changes(); err != nil {
		return t, err
	}
	s.growths()
	return t, nil
}

// results names the points, and what differs from one to the next.
func (s *trending) results() {
	s.t.Judged = result.JudgedByValue
	for n, p := range s.points {
		r := result.TrendResult{Compared: compared(p.res), Differ: []result.Difference{}, Notes: notesOf(p.res)}
		if r.File = p.file; p.res.Round != nil {
			r.Round = p.res.Round.Number
		}
		if n > 0 {
			r.Differ = machines(s.points[n-1].res, p.res)
		}
		if len(r.Differ) > 0 {
			s.t.Judged = result.JudgedByToll
		}
		s.t.Results = append(s.t.Results, r)
	}
}

// begun is when a result was begun; zero: it does not say.
func begun(res *result.Result) time.Time {
	at, err := time.Parse(time.RFC3339, res.Started)
	if err != nil {
		return time.Time{}
	}
	return at
}

// notesOf is what disturbed a soak up to a round.
func notesOf(res *result.Result) []string {
	notes := []string{}
	r := res.Round
	if r == nil {
		return notes
	}
	if r.Left > 0 {
		notes = append(notes, fmt.Sprintf("left out before it: %d", r.Left))
	}
	if r.Took > r.Every {
		notes = append(notes, fmt.Sprintf("it took %.1f s, longer than the interval", float64(r.Took)))
	}
	if r.Suspended > 0 {
		notes = append(notes, fmt.Sprintf("the machine was suspended for %.1f s", float64(r.Suspended)))
	}
	if r.ClockSet != 0 {
		notes = append(notes, fmt.Sprintf("the clock was set by %+.1f s", float64(r.ClockSet)))
	}
	return notes
}

// trending is a trend while it is made.
type trending struct {
	read   func(file string) (*result.Result, error)
	points []Point
	all    []course
	t      *result.Trend
}

// course is what may change of a cell, over the points that have it.
type course struct {
	cell   int // in the trend
	newest *result.Cell
	of     string    // result.JudgedByValue, result.JudgedByToll
	at     []int     // the points
	logs   []float64 // logarithms, of the value or of its ratio to the baseline
	margin float64
}

// choose leaves out the points that can't be compared with the newest.
func (s *trending) choose(points []Point) {
	last := -1
	for n, p := range points {
		if p.why == "" {
			last = n
		}
	}
	seen := map[string]bool{}
	for n, p := range points {
		switch {
		case p.why != "":
		case p.res.ID != "" && seen[p.res.ID]:
			p.why = "it is there twice"
		case n != last && !alike(p.res, points[last].res):
			p.why = "it has no cell of the newest result"
		}
		seen[p.res.ID] = true
		if p.why != "" {
			s.t.Left = append(s.t.Left, result.TrendLeft{File: p.file, Reason: p.why})
			continue
		}
		s.points = append(s.points, p)
	}
}

// alike reports whether two results have a cell in common besides that of the host, if there is any.
func alike(old, recent *result.Result) bool {
	alone := !slices.ContainsFunc(recent.Cells, func(c result.Cell) bool { return c.Network != catalog.Baseline })
	for cell := range matches(old, recent) {
		if alone || cell.Network != catalog.Baseline {
			return true
		}
	}
	return false
}

// cells makes the cells of the newest result with what each point has of them.
func (s *trending) cells() {
	newest := s.newest()
	var matched []map[*result.Cell]*result.Cell
	for _, p := range s.points {
		matched = append(matched, matches(p.res, newest))
	}
	for n := range newest.Cells {
		cell := &newest.Cells[n]
		head := Headline(cell)
		if cell.Status != result.StatusOK || head == nil {
			continue
		}
		c := result.TrendCell{
			Network: cell.Network, Path: cell.Path, Workload: cell.Workload, Mode: cell.Mode, Params: cell.Params,
			Metric: head.Name, Unit: head.Unit, Better: head.Better, Change: s.change(cell, head.Name),
		}
		values, tolls := s.courseOf(cell, result.JudgedByValue), s.courseOf(cell, result.JudgedByToll)
		for at := range s.points {
			m := measured(matched[at][cell], head.Name)
			value, toll := (*float64)(nil), (*result.TrendToll)(nil)
			if m != nil {
				value = &m.Value
				values.add(at, m.Value)
				if m.Toll != nil && cell.Network != catalog.Baseline {
					toll = &result.TrendToll{Value: m.Toll.Value, Low: m.Toll.Low, High: m.Toll.High}
					tolls.add(at, ratioOf(m))
				}
			}
			c.Values, c.Tolls = append(c.Values, value), append(c.Tolls, toll)
		}
		s.t.Cells = append(s.t.Cells, c)
		switch { // what a network has of the machine is in the host's own figures
		case len(tolls.at) > 0:
			s.all = append(s.all, tolls)
		case s.t.Judged == result.JudgedByValue:
			s.all = append(s.all, values)
		}
	}
}

// newest is the newest of the results.
func (s *trending) newest() *result.Result { return s.points[len(s.points)-1].res }

func (s *trending) courseOf(cell *result.Cell, of string) course {
	return course{cell: len(s.t.Cells), newest: cell, of: of, margin: cmp.Or(s.newest().Plan.Margin, stats.DeclaredMargin)}
}

func (s *course) add(at int, value float64) {
	if value > 0 && !math.IsInf(value, 0) {
		s.at, s.logs = append(s.at, at), append(s.logs, math.Log(value))
	}
}

// ratioOf is a metric as a ratio to its baseline, by its toll.
func ratioOf(m *result.Metric) float64 {
	if m.Better == result.Lower {
		return 1 + m.Toll.Value
	}
	return 1 - m.Toll.Value
}

// measured is a metric of a cell that was measured; nil: there is none.
func measured(cell *result.Cell, name string) *result.Metric {
	if cell == nil || cell.Status != result.StatusOK {
		return nil
	}
	return Metric(cell, name)
}

// change is how a cell of the newest result differs from the first, as they were compared.
func (s *trending) change(cell *result.Cell, metric string) *result.Change {
	for _, c := range s.t.Compared.Cells {
		if c.Network != cell.Network || c.Path != cell.Path || c.Workload != cell.Workload || c.Mode != cell.Mode || c.Params.Key() != cell.Params.Key() {
			continue
		}
		for _, m := range c.Metrics {
			if m.Name == metric && m.TollChange != nil {
				return m.TollChange // what the machine has of it is in the host's own change
			}
			if m.Name == metric {
				return m.Judged(s.t.Judged)
			}
		}
	}
	return nil
}
