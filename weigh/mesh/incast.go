package mesh

import (
	"math/rand/v2"
	"slices"

	"tare/result"
	"tare/stats"
)

// Incast is rounds in which many of some nodes send to few, all at once: in each so many serve,
// and all others are clients of one of them, spread evenly. With one server it is the pattern
// N:1, with more N:M. Each node serves once; where their number is no multiple of the servers,
// the last round has fewer. The order is random. These windows are for Mesh.AddIncast: Mesh.Add
// would take a server that many share for slow.
func Incast(of []int, servers int, seed uint64) [][]Pair {
	random := rand.New(rand.NewPCG(seed, 2))
	nodes, order := len(of), slices.Clone(of)
	random.Shuffle(nodes, func(i, j int) { order[i], order[j] = order[j], order[i] })
	var rounds [][]Pair
	for first := 0; first < nodes; first += servers {
		serving := order[first:min(first+servers, nodes)]
		var round []Pair
		for n := range nodes - len(serving) {
			client := order[(first+len(serving)+n)%nodes]
			round = append(round, Pair{client, serving[n%len(serving)]})
		}
		rounds = append(rounds, round)
	}
	return rounds
}

// Answering are the nodes that measured anything in the rounds of all pairs.
func (m *Mesh) Answering() []int {
	answered := make([]bool, len(m.res.Nodes))
	for _, r := range m.res.Rounds {
		for _, values := range r.Values {
			for n, value := range values {
				if value > 0 {
					answered[r.Clients[n]], answered[r.Servers[n]] = true, true
				}
			}
		}
	}
	var nodes []int
	for node, is := range answered {
		if is {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// AddIncast takes what a window of an incast measured, or why it failed, as Add does.
func (m *Mesh) AddIncast(round int, of Pair, metrics map[string]float64, failed string) {
	in := m.res.Incast
	at := slices.IndexFunc(in.Rounds, func(r result.MeshRound) bool { return r.Round == round })
	if at < 0 {
		at = len(in.Rounds)
		in.Rounds = append(in.Rounds, result.MeshRound{Round: round, Dense: true, Clients: []int{}, Servers: []int{}, Values: map[string][]float64{}})
	}
	m.enter(&in.Rounds[at], of, metrics, failed)
}

// addIncast adds how each node serves many against what it has with one. A round in which one of
// its clients was not measured does not count: the others had more.
func (m *Mesh) addIncast() {
	in := m.res.Incast
	if in == nil {
		return
	}
	in.Effects = []result.MeshIncastEffect{}
	for _, metric := range m.res.Judged {
		one := m.alone(metric)
		for node := range m.res.Nodes {
			if e, ok := m.incastOf(node, metric, one[node]); ok {
				in.Effects = append(in.Effects, e)
			}
		}
	}
}

// alone are the values of each node with one other, few pairs at a time: as the client too, since
// of few partners one may be slow.
func (m *Mesh) alone(metric string) map[int][]float64 {
	values := map[int][]float64{}
	for _, r := range m.res.Rounds {
		if r.Check != nil || r.Dense {
			continue
		}
		for n, value := range r.Values[metric] {
			if value > 0 {
				for _, node := range []int{r.Clients[n], r.Servers[n]} {
					values[node] = append(values[node], value)
				}
			}
		}
	}
	return values
}

// incastOf holds the rounds in which a node serves many against its values with one.
func (m *Mesh) incastOf(node int, metric string, one []float64) (e result.MeshIncastEffect, ok bool) {
	rate := directionOf(metric) == stats.HigherIsBetter
	e = result.MeshIncastEffect{Of: m.res.Nodes[node].Name, Metric: metric}
	var together, worst []float64
	for _, r := range m.res.Incast.Rounds {
		var values []float64
		for n, value := range r.Values[metric] {
			if r.Servers[n] == node {
				values = append(values, value)
			}
		}
		if len(values) == 0 || slices.Min(values) <= 0 {
			continue
		}
		e.Senders = max(e.Senders, len(values))
		if !rate {
			together, worst = append(together, stats.Median(values)), append(worst, slices.Max(values))
			continue
		}
		sum := 0.0
		for _, value := range values {
			sum += value
		}
		together, worst = append(together, sum), append(worst, slices.Min(values))
	}
	if e.N = len(together); e.N == 0 || len(one) == 0 {
		return e, false
	}
	badness := badnessOf(metric)
	e.One, e.All, e.Worst = sixDigits(stats.Median(one)), sixDigits(stats.Median(together)), sixDigits(stats.Median(worst))
	e.Value = sixDigits(toll(metric, badness(e.All)-badness(e.One)))
	return e, true
}
