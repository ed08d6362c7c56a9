package mesh

import (
	"math"
	"math/rand/v2"
	"slices"

	"tare/result"
	"tare/stats"
)

const (
	// partnersOf is how many nodes measure a suspect again in a block.
	partnersOf = 3
	// firstBlocks is after how many blocks a suspect that is no worse than the margin is left;
	// allBlocks is how many whole ones the others have, and mostBlocks how many are asked for
	// where some are not whole.
	firstBlocks, allBlocks, mostBlocks = 4, 20, 26
	// unremarkable is the largest robust z, either way, of a node that measures others.
	unremarkable = 2.0
	// leastChecked and mostChecked bound how many suspects are measured again: so many, or such
	// a share of the nodes, the most striking ones.
	leastChecked, mostChecked = 16, 0.1
)

// Again is which windows are wanted next, to measure suspects again: batches, each of windows
// that are measured at the same time, most at most. It adds their rounds to the result. Measure
// and Add them, and ask again until it wants none: after a few blocks only those that still
// look slow go on. Few windows at a time are best, since suspects are to be measured alone.
func (m *Mesh) Again(most int) [][]Window {
	l, pictures := m.look()
	help := helpersOf(pictures, len(m.res.Nodes))
	var wanted []Window
	for _, nodes := range m.checked(pictures) {
		done, fit := m.blocksOf(nodes), help.forSuspect(nodes, l)
		for block := len(done); block < m.blocksWanted(pictures, l, done); block++ {
			partners := m.partners(nodes, fit, block)
			if partners == nil {
				break
			}
			wanted = append(wanted, m.block(result.MeshCheck{Suspect: nodes, Partners: partners, Block: block})...)
		}
	}
	return packed(wanted, m.groups(), most, func(w Window) Pair { return w.Pair })
}

// checked are the suspects that are measured again, in whichever metric they differ.
func (m *Mesh) checked(pictures []*picture) [][]int {
	var all [][]int
	most := max(leastChecked, int(mostChecked*float64(len(m.res.Nodes))))
	for _, p := range pictures {
		for n, s := range p.suspects {
			if n < most && !slices.ContainsFunc(all, func(nodes []int) bool { return slices.Equal(nodes, s.nodes) }) {
				all = append(all, s.nodes)
			}
		}
	}
	return all
}

// helpers are nodes that may measure suspects again.
type helpers struct {
	fine  []int        // as the others in all metrics
	ended map[int]bool // ends of suspected links
}

func helpersOf(pictures []*picture, nodes int) helpers {
	h := helpers{ended: map[int]bool{}}
	fine := make([]int, nodes) // in how many metrics
	for _, p := range pictures {
		for _, e := range p.nodes {
			if math.Abs(e.score) <= unremarkable {
				fine[e.nodes[0]]++
			}
		}
	}
	for _, p := range pictures {
		for _, s := range p.suspects {
			if s.kind == result.MeshNodeKind {
				fine[s.nodes[0]] = 0
				continue
			}
			for _, node := range s.nodes {
				h.ended[node] = true
			}
		}
	}
	for node, n := range fine {
		if n > 0 && n == len(pictures) {
			h.fine = append(h.fine, node)
		}
	}
	return h
}

// forSuspect are the helpers of a suspect: those of its group before others, and those without
// a suspected link before others, as long as they are enough.
func (h helpers) forSuspect(suspect []int, l layout) []int {
	for _, least := range []int{2 * partnersOf, partnersOf} {
		for _, want := range []struct{ near, clean bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
			fit := slices.DeleteFunc(slices.Clone(h.fine), func(node int) bool {
				far := slices.ContainsFunc(suspect, func(s int) bool { return l.of[s] != l.of[node] })
				return slices.Contains(suspect, node) || want.near && far || want.clean && h.ended[node]
			})
			if len(fit) >= least {
				return fit
			}
		}
	}
	return nil
}

// partners are three helpers, others in each block as far as there are; nil: there are too few.
func (m *Mesh) partners(suspect, fit []int, block int) []int {
	turns := len(fit) / partnersOf // blocks until all have had theirs
	if turns == 0 {
		return nil
	}
	order := slices.Clone(fit)
	random := rand.New(rand.NewPCG(m.res.Seed, uint64(suspect[0])<<40|uint64(suspect[len(suspect)-1])<<16|uint64(block/turns)))
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	first := block % turns * partnersOf
	return order[first : first+partnersOf]
}

// block adds a round that measures a suspect, and is its windows.
func (m *Mesh) block(c result.MeshCheck) []Window {
	number := m.next
	m.round(place{number, false}).Check = &c
	var pairs []Pair
	for n, partner := range c.Partners {
		pairs = append(pairs, Pair{partner, c.Partners[(n+1)%partnersOf]})
		for _, s := range c.Suspect {
			pairs = append(pairs, Pair{s, partner})
		}
		if len(c.Suspect) == 2 {
			pairs = append(pairs, Pair{c.Suspect[n%2], c.Suspect[1-n%2]})
		}
	}
	windows := make([]Window, len(pairs))
	for n, p := range pairs {
		if (c.Block+n)%2 == 1 {
			p.Client, p.Server = p.Server, p.Client
		}
		windows[n] = Window{Pair: p, Round: number}
	}
	return windows
}

// blocksOf are the rounds that measured a suspect again.
func (m *Mesh) blocksOf(suspect []int) []*result.MeshRound {
	var blocks []*result.MeshRound
	for n := range m.res.Rounds {
		if r := &m.res.Rounds[n]; r.Check != nil && slices.Equal(r.Check.Suspect, suspect) {
			blocks = append(blocks, r)
		}
	}
	return blocks
}

// blocksWanted is how many blocks a suspect is to have, of which some are done.
func (m *Mesh) blocksWanted(pictures []*picture, l layout, done []*result.MeshRound) int {
	if len(done) < firstBlocks {
		return firstBlocks
	}
	wanted := 0
	for _, p := range pictures {
		effects := p.again(l, done)
		if len(effects) > 0 && stats.Median(effects) > marginOf(p.metric, m.res.Margin) {
			wanted = max(wanted, min(mostBlocks, len(done)+allBlocks-len(effects)))
		}
	}
	return wanted
}

// again is the effect of a suspect in each of its blocks that is whole: how much worse it
// is than its partners are among each other. Of a link it is what is left of the pair without
// its two nodes.
func (p *picture) again(l layout, blocks []*result.MeshRound) []float64 {
	var effects []float64
	badness := badnessOf(p.metric)
	for _, r := range blocks {
		among, own := make([][]float64, 2), make([]float64, 0, partnersOf)
		var partners []float64
		suspect := r.Check.Suspect
		for entry, value := range r.Values[p.metric] {
			if value <= 0 {
				continue
			}
			a, b := r.Clients[entry], r.Servers[entry]
			bad := badness(value) - p.ofGroups(l, a, b)
			switch at, other := slices.Index(suspect, a), slices.Index(suspect, b); {
			case at >= 0 && other >= 0:
				own = append(own, bad)
			case at >= 0 || other >= 0:
				among[max(at, other)] = append(among[max(at, other)], bad)
			default:
				partners = append(partners, bad)
			}
		}
		// A window that stalls is the worst of three, or of two.
		sets := [][]float64{among[0], partners}
		if len(suspect) == 2 {
			sets = append(sets, among[1], own)
		}
		if slices.ContainsFunc(sets, func(of []float64) bool { return len(of) < partnersOf-1 }) {
			continue
		}
		effect := lowMedian(among[0]) - lowMedian(partners)
		if len(suspect) == 2 {
			effect = lowMedian(own) - lowMedian(among[1]) - effect
		}
		effects = append(effects, effect)
	}
	return effects
}

// ofGroups is the part of a pair's badness that its groups explain.
func (p *picture) ofGroups(l layout, a, b int) float64 {
	sum := 0.0
	for _, factor := range p.fits[0].factors {
		switch factor.name {
		case ofBetween, ofGroup, ofUplink, ofCell:
			of := factor.of(observation{client: a, server: b})
			for _, class := range of.class[:of.n] {
				sum += factor.values[class]
			}
		}
	}
	return sum
}

// marginOf is a margin as a difference of badness.
func marginOf(metric string, margin float64) float64 {
	if directionOf(metric) == stats.HigherIsBetter {
		return -math.Log(1 - margin)
	}
	return math.Log(1 + margin)
}

// toll is a difference of badness as a ratio; positive is worse.
func toll(metric string, bad float64) float64 {
	d := directionOf(metric)
	if d == stats.HigherIsBetter {
		bad = -bad
	}
	return d.Of(bad)
}
