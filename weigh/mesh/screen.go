package mesh

import (
	"cmp"
	"math"
	"slices"

	"tare/result"
	"tare/stats"
)

// The rates at which nodes and links are suspected wrongly, as a share of the suspects: high,
// since suspects are measured again.
const (
	wrongNodes = 0.1
	wrongLinks = 0.2
)

// chaotic is how many times the spread of the better density makes the other one no evidence on
// nodes and links: an oversubscribed uplink gives one pair much and the next little.
const chaotic = 2

// picture is what the rounds show of one metric.
type picture struct {
	metric string
	fits   []*fit // one for each density that was run; the sparse one first
	usable []*fit // of them, those that are evidence on nodes and links
	nodes  []estimate
	links  []estimate
	// How far nodes are apart that nothing is wrong with: the robust deviation of their
	// effects, less what the noise of windows makes of it.
	natural  float64
	suspects []suspect // the most striking first
}

// estimate is the effect of a node, or of a link beyond its nodes and groups, as a logarithm
// that is larger where it is worse.
type estimate struct {
	nodes    []int     // one, or the two of a link
	values   []float64 // of windows
	partners int       // of a node, different ones
	value    float64
	score    float64 // robust z
}

// pictureOf takes apart what was measured of a metric.
func pictureOf(res *result.Mesh, l layout, metric string) *picture {
	p := &picture{metric: metric}
	least := math.Inf(1)
	for _, dense := range []bool{false, true} {
		if seen := observed(res, metric, dense); len(seen) > 0 {
			f := newFit(seen, l.factors(len(res.Rounds)))
			p.fits = append(p.fits, f)
			least = min(least, f.spread)
		}
	}
	for _, f := range p.fits {
		if f.spread <= chaotic*least {
			p.usable = append(p.usable, f)
		}
	}
	p.addNodes(len(res.Nodes))
	p.addLinks()
	p.addSuspects()
	return p
}

// addNodes estimates all nodes that were measured with enough others.
func (p *picture) addNodes(nodes int) {
	values, partners := make([][]float64, nodes), make([]map[int]bool, nodes)
	for _, f := range p.usable {
		effects := f.factor(ofNode)
		for node := range nodes {
			if !effects.known[node] {
				continue
			}
			values[node] = append(values[node], f.partial(effects, node)...)
			if partners[node] == nil {
				partners[node] = map[int]bool{}
			}
			for _, n := range effects.members[node] {
				partners[node][f.seen[n].client+f.seen[n].server-node] = true
			}
		}
	}
	var all, with, errs []float64
	pairs, window := p.apart(nil)
	for node := range nodes {
		if n := len(partners[node]); n >= leastPartners {
			e := estimate{nodes: []int{node}, values: values[node], partners: n}
			e.value = middleOf(e)
			p.nodes = append(p.nodes, e)
			err := middleError * math.Hypot(pairs/math.Sqrt(float64(n)), window/math.Sqrt(float64(len(e.values))))
			all, with, errs = append(all, e.value), append(with, float64(n)), append(errs, err)
		}
	}
	if len(all) == 0 {
		return
	}
	middle, deviation, usual := stats.Median(all), mad(all), stats.Median(with)
	for n := range p.nodes {
		e := &p.nodes[n]
		fewer := math.Sqrt(max(1, usual/with[n])) // an effect from fewer partners varies more
		e.value -= middle                         // skewed noise moves the estimates of all
		for v := range e.values {
			e.values[v] -= middle
		}
		e.score = ratio(e.value, deviation*fewer)
	}
	p.natural = beyond(deviation, stats.Median(errs), len(all))
}

const (
	// manyPartners is from how many partners on a few slow links can't mislead the
	// Hodges-Lehmann estimate, which varies less than a median.
	manyPartners = 8
	// middleError is the standard error of the estimate of n normal values, times the root of n,
	// as a multiple of their deviation.
	middleError = 1.05
)

// middleOf is the effect of a node from its windows.
func middleOf(e estimate) float64 {
	if e.partners < manyPartners {
		return stats.Median(e.values)
	}
	at, _ := stats.HodgesLehmann(e.values)
	return at.Value
}

// beyond is the part of a robust deviation, of so many values, that noise does not explain, and
// that is not there by chance.
func beyond(deviation, noise float64, n int) float64 {
	if n == 0 {
		return 0
	}
	sure := deviation / chanceOf(n)
	return math.Sqrt(max(0, sure*sure-noise*noise))
}

// chanceOf is by which factor a robust deviation of so many values is off, one time in twenty.
func chanceOf(n int) float64 { return 1 + 1.9/math.Sqrt(float64(n)) }

// addLinks estimates each pair of nodes with an estimate by the window in the middle, or the
// better one of two: a window may stall, and a link that is slow is so in all.
func (p *picture) addLinks() {
	judged := map[int]bool{}
	for _, e := range p.nodes {
		judged[e.nodes[0]] = true
	}
	values := map[Pair][]float64{}
	for _, f := range p.usable {
		for _, o := range f.seen {
			if judged[o.client] && judged[o.server] {
				pair := unordered(o.client, o.server)
				values[pair] = append(values[pair], o.left)
			}
		}
	}
	all := make([]float64, 0, len(values))
	for pair, of := range values {
		e := estimate{nodes: []int{pair.Client, pair.Server}, values: of, value: lowMedian(of)}
		p.links = append(p.links, e)
		all = append(all, e.value)
	}
	slices.SortFunc(p.links, func(a, b estimate) int { return slices.Compare(a.nodes, b.nodes) })
	if len(all) == 0 {
		return
	}
	middle, deviation := stats.Median(all), wide(all)
	for n := range p.links {
		p.links[n].value -= middle
		p.links[n].score = ratio(p.links[n].value, deviation)
	}
}

// ratio is a over b; 0 where nothing varies and a is nothing.
func ratio(a, b float64) float64 {
	if math.Abs(a) < still {
		return 0
	}
	return min(a/max(b, still), 1e6)
}

// suspect is a node or a link that differs.
type suspect struct {
	kind   string
	metric string
	estimate
}

// addSuspects adds all whose effect sticks out.
func (p *picture) addSuspects() {
	for _, k := range []struct {
		kind string
		of   []estimate
		rate float64
	}{{result.MeshNodeKind, p.nodes, wrongNodes}, {result.MeshLink, p.links, wrongLinks}} {
		chances := make([]float64, len(k.of))
		for n, e := range k.of {
			chances[n] = above(e.score)
		}
		most := bound(chances, len(chances), k.rate)
		for n, e := range k.of {
			if chances[n] <= most {
				p.suspects = append(p.suspects, suspect{k.kind, p.metric, e})
			}
		}
	}
	slices.SortStableFunc(p.suspects, func(a, b suspect) int { return cmp.Compare(b.score, a.score) })
}

// above is the chance of a standard normal variable to be so large.
func above(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// bound is the largest chance that counts among those of so many tests, where the given share of
// all that count may do so wrongly (Benjamini and Hochberg, 1995); negative: none does.
func bound(chances []float64, tests int, rate float64) float64 {
	sorted := slices.Sorted(slices.Values(chances))
	for n := len(sorted); n > 0; n-- {
		if most := rate * float64(n) / float64(tests); sorted[n-1] <= most {
			return most
		}
	}
	return -1
}
