package mesh

import (
	"math"
	"slices"

	"tare/result"
)

// Window is one measurement that is wanted, or was done: a pair in a round.
type Window struct {
	Pair
	Round int  // from 0; those of Again follow the highest that there is
	Dense bool // the round's pairs run all at once
}

// Mesh adds to the part of a result that is about a mesh, and judges it. It is not for
// concurrent use.
type Mesh struct {
	res    *result.Mesh
	places map[place]int // of rounds
	next   int           // the round that Again may use

	layout   layout
	pictures []*picture // of the judged metrics that were measured; nil: there are new windows
}

type place struct {
	round int
	dense bool
}

// On works on a result, whether empty but for its nodes, judged metrics, margin and seed, or
// read from a file: then it goes on from what that holds, without the blocks that were not
// begun. Each judged metric must be a result.Quantity that is positive by nature; DefaultMargin
// is a good margin.
func On(res *result.Mesh) *Mesh {
	res.Rounds = slices.DeleteFunc(res.Rounds, func(r result.MeshRound) bool { return r.Check != nil && len(r.Clients) == 0 })
	m := &Mesh{res: res, places: map[place]int{}}
	for n, r := range res.Rounds {
		m.places[place{r.Round, r.Dense}] = n
		m.next = max(m.next, r.Round+1)
	}
	return m
}

// DefaultMargin is the effect that is taken for nothing unless a plan declares another: machines of
// one kind differ by as much.
const DefaultMargin = 0.05

// Add takes what a window measured, or why it failed: rates and times by the names of their
// metrics, in SI units, all that a pair measured in a round at once. A value that is not
// positive and finite, and a judged metric that is absent, count as not measured. Six digits
// are kept.
func (m *Mesh) Add(w Window, metrics map[string]float64, failed string) {
	r := m.round(place{w.Round, w.Dense})
	if r.Check == nil {
		m.pictures = nil
	}
	m.enter(r, w.Pair, metrics, failed)
}

// enter adds to a round what a pair measured, or why it failed.
func (m *Mesh) enter(r *result.MeshRound, of Pair, metrics map[string]float64, failed string) {
	entry := len(r.Clients)
	r.Clients, r.Servers = append(r.Clients, of.Client), append(r.Servers, of.Server)
	for name := range metrics {
		if r.Values[name] == nil {
			r.Values[name] = make([]float64, entry)
		}
	}
	for name := range r.Values {
		value := metrics[name]
		if failed != "" || !(value > 0) || math.IsInf(value, 1) {
			value = 0
		}
		r.Values[name] = append(r.Values[name], sixDigits(value))
	}
	if failed == "" {
		failed = m.lacks(metrics)
	}
	if failed != "" {
		fail(r, entry, result.Plain(failed))
	}
}

// look is what all rounds but those of suspects show.
func (m *Mesh) look() (layout, []*picture) {
	if m.pictures == nil {
		m.layout, m.pictures = layoutOf(m.res.Nodes), []*picture{}
		for _, metric := range m.res.Judged {
			if p := pictureOf(m.res, m.layout, metric); len(p.fits) > 0 {
				m.pictures = append(m.pictures, p)
			}
		}
	}
	return m.layout, m.pictures
}

// groups are the labels of all nodes.
func (m *Mesh) groups() []string {
	return result.Names(m.res.Nodes, func(n result.MeshNode) string { return n.Group })
}

// lacks is which judged metric is not among those measured; empty: none.
func (m *Mesh) lacks(metrics map[string]float64) string {
	for _, name := range m.res.Judged {
		if value := metrics[name]; !(value > 0) || math.IsInf(value, 1) {
			return "it measured no " + name
		}
	}
	return ""
}

// round is the one at a place, which is added where it is new.
func (m *Mesh) round(at place) *result.MeshRound {
	n, known := m.places[at]
	if !known {
		n = len(m.res.Rounds)
		m.places[at] = n
		m.next = max(m.next, at.round+1)
		m.res.Rounds = append(m.res.Rounds, result.MeshRound{
			Round: at.round, Dense: at.dense, Clients: []int{}, Servers: []int{}, Values: map[string][]float64{},
		})
	}
	return &m.res.Rounds[n]
}

// fail adds why an entry of a round was not measured.
func fail(r *result.MeshRound, entry int, reason string) {
	at := slices.IndexFunc(r.Failures, func(f result.MeshFailure) bool { return f.Reason == reason })
	if at < 0 {
		at = len(r.Failures)
		r.Failures = append(r.Failures, result.MeshFailure{Reason: reason})
	}
	r.Failures[at].Pairs = append(r.Failures[at].Pairs, entry)
}
