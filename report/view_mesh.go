package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"tare/result"
	"tare/stats"
)

// viewMesh is a mesh as the page shows it, its texts by language.
type viewMesh struct {
	Nodes      []string            `json:"nodes"`
	Nobody     map[string]string   `json:"nobody,omitempty"`   // where nobody is named
	Unjudged   map[string]string   `json:"unjudged,omitempty"` // where too little of nodes was measured
	Named      []viewNamed         `json:"named"`
	Metrics    []viewMeshMetric    `json:"metrics"`
	Suspects   map[string][]string `json:"suspects"`          // that are not named
	Unmeasured map[string][]string `json:"unmeasured"`        // nodes and links
	History    *viewHistory        `json:"history,omitempty"` // of this and older ones
}

// viewNamed is who is slow, and the numbers behind it.
type viewNamed struct {
	Texts    map[string]string `json:"texts"`
	Evidence []viewEvidence    `json:"evidence"`
}

// viewEvidence is one number of the evidence.
type viewEvidence struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// viewMeshMetric is what a mesh is of one judged metric.
type viewMeshMetric struct {
	Name    string            `json:"name"`
	Heads   map[string]string `json:"heads"`
	Unit    string            `json:"unit"`
	Middle  float64           `json:"middle"` // of all pairs
	Order   []int             `json:"order"`  // the nodes, the worst first
	Pairs   viewMeshPairs     `json:"pairs"`
	Effects []viewMeshEffects `json:"effects"`
	Rounds  []viewMeshRound   `json:"rounds"`
	Incast  *viewMeshIncast   `json:"incast,omitempty"`
}

// viewMeshIncast is how nodes serve many, the worst first.
type viewMeshIncast struct {
	Titles map[string]string         `json:"titles"`
	Rows   []result.MeshIncastEffect `json:"rows"`
	More   int                       `json:"more,omitempty"` // that are not there
}

// viewMeshPairs are the pairs that were asked for, in columns, the worst first.
type viewMeshPairs struct {
	A     []int     `json:"a"` // a node, by its number
	B     []int     `json:"b"` // and another
	Value []float64 `json:"value"`
	Worse []float64 `json:"worse"` // than the middle, a ratio
	N     []int     `json:"n"`     // windows; 0: it was not measured
}

// viewMeshEffects are effects of one kind, the worst first.
type viewMeshEffects struct {
	Kind string           `json:"kind"`
	Rows []viewMeshEffect `json:"rows"`
	More int              `json:"more,omitempty"` // that are not there
}

// viewMeshEffect is how much worse something is.
type viewMeshEffect struct {
	Labels map[string]string `json:"labels"`
	Value  float64           `json:"value"`
	Low    *float64          `json:"low,omitempty"`
	High   *float64          `json:"high,omitempty"`
	N      int               `json:"n"`
}

// viewMeshRound is the middle of the pairs of a round.
type viewMeshRound struct {
	Round int     `json:"round"`
	Dense bool    `json:"dense"`
	Value float64 `json:"value"`
	N     int     `json:"n"`
}

// meshView takes from a result what the page shows of its mesh; nil: it has none.
func meshView(res *result.Result) *viewMesh {
	m := res.Mesh
	if m == nil {
		return nil
	}
	v := &viewMesh{
		Nodes: result.Names(m.Nodes, func(n result.MeshNode) string { return result.Plain(n.Name) }), Named: []viewNamed{}, Metrics: []viewMeshMetric{},
		Suspects: map[string][]string{}, Unmeasured: map[string][]string{},
	}
	for _, n := range m.Named {
		named := viewNamed{Evidence: []viewEvidence{}}
		for _, e := range n.Evidence {
			named.Evidence = append(named.Evidence, viewEvidence{result.Plain(e.Name), result.Plain(meshNumber(e)), result.Plain(e.Source)})
		}
		n.Evidence = nil
		named.Texts = byLanguage(func(w words) string { return strings.TrimSpace(w.named(n)) })
		v.Named = append(v.Named, named)
	}
	if len(m.Named) == 0 {
		v.Nobody = byLanguage(func(w words) string { return w.meshNobody(m) })
	}
	if unjudged := byLanguage(func(w words) string { return w.unjudged(m) }); unjudged[Languages()[0]] != "" {
		v.Unjudged = unjudged
	}
	for _, metric := range m.Judged {
		v.Metrics = append(v.Metrics, meshMetricView(m, metric))
	}
	for _, language := range Languages() {
		v.Suspects[language], v.Unmeasured[language] = wordsOf(language).suspects(m), wordsOf(language).unmeasured(m)
	}
	return v
}

// byLanguage is a text in each language.
func byLanguage(text func(words) string) map[string]string {
	texts := map[string]string{}
	for _, language := range Languages() {
		texts[language] = text(wordsOf(language))
	}
	return texts
}

func meshMetricView(m *result.Mesh, metric string) viewMeshMetric {
	q, _ := result.QuantityOf(metric)
	values, middle := pairsOfMesh(m, metric)
	v := viewMeshMetric{
		Name: metric, Heads: byLanguage(func(w words) string { return w.heading(metric) }), Unit: q.Unit, Middle: middle, Order: byEffect(m, metric),
		Pairs: meshPairsView(values, middle, q.Better), Effects: meshEffectsView(m, metric), Rounds: meshRoundsView(m, metric),
	}
	if of := incastEffects(m, metric); len(of) > 0 {
		shown := of[:min(len(of), mostDrawn)]
		v.Incast = &viewMeshIncast{Titles: byLanguage(func(w words) string { return w.incastTitle(m, metric) }), Rows: shown, More: len(of) - len(shown)}
	}
	return v
}

// meshPairsView puts pairs into columns.
func meshPairsView(values map[[2]int][]float64, middle float64, better result.Better) viewMeshPairs {
	v := viewMeshPairs{A: []int{}, B: []int{}, Value: []float64{}, Worse: []float64{}, N: []int{}}
	type pair struct {
		of           [2]int
		value, worse float64
		n            int
	}
	var all []pair
	for _, of := range slices.SortedFunc(maps.Keys(values), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		one := pair{of: of, n: len(values[of])}
		if one.n > 0 {
			one.value = stats.Median(values[of])
			one.worse = worseBy(one.value, middle, better)
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b pair) int {
		return cmp.Or(cmp.Compare(min(b.n, 1), min(a.n, 1)), cmp.Compare(b.worse, a.worse))
	})
	for _, one := range all {
		v.A, v.B, v.N = append(v.A, one.of[0]), append(v.B, one.of[1]), append(v.N, one.n)
		v.Value, v.Worse = append(v.Value, one.value), append(v.Worse, rounded(one.worse))
	}
	return v
}

// rounded is a ratio with four digits behind the point.
func rounded(ratio float64) float64 { return math.Round(1e4*ratio) / 1e4 }

// mostDrawn is how many effects of a kind the page shows.
const mostDrawn = 40

// meshEffectsView are the effects in a metric, kind by kind.
func meshEffectsView(m *result.Mesh, metric string) []viewMeshEffects {
	kinds := []viewMeshEffects{}
	for _, e := range m.Effects {
		if e.Metric == metric && !slices.ContainsFunc(kinds, func(k viewMeshEffects) bool { return k.Kind == e.Kind }) {
			kinds = append(kinds, viewMeshEffects{Kind: e.Kind})
		}
	}
	for n := range kinds {
		var of []result.MeshEffect
		for _, e := range m.Effects {
			if e.Metric == metric && e.Kind == kinds[n].Kind {
				of = append(of, e)
			}
		}
		slices.SortStableFunc(of, func(a, b result.MeshEffect) int { return cmp.Compare(b.Value, a.Value) })
		for _, e := range of[:min(len(of), mostDrawn)] {
			labels := byLanguage(func(w words) string { return strings.TrimSpace(result.Plain(w.meshKind(e.Kind, e.Of))) })
			kinds[n].Rows = append(kinds[n].Rows, viewMeshEffect{labels, e.Value, e.Low, e.High, e.N})
		}
		kinds[n].More = len(of) - len(kinds[n].Rows)
	}
	return kinds
}

// meshRoundsView is the middle of each round of all pairs.
func meshRoundsView(m *result.Mesh, metric string) []viewMeshRound {
	rounds := []viewMeshRound{}
	for _, r := range m.Rounds {
		measured := slices.DeleteFunc(slices.Clone(r.Values[metric]), func(v float64) bool { return !(v > 0) })
		if r.Check == nil && len(measured) > 0 {
			rounds = append(rounds, viewMeshRound{r.Round, r.Dense, stats.Median(measured), len(measured)})
		}
	}
	return rounds
}
