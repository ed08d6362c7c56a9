package mesh

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// Pair is two nodes, by their numbers from 0: the client sends to the server.
type Pair struct{ Client, Server int }

const (
	// tournamentMost is the most nodes of which each is paired with each other.
	tournamentMost = 64
	// matchings is how many rounds more nodes have, and withinMatchings how many of these
	// pair each node with one of its group: without them, a slow group could not be
	// distinguished from a slow uplink.
	matchings, withinMatchings = 10, 2
)

// Rounds is who is measured with whom. groups has a label for each node, empty where it has
// none. In a round each node is in one pair at most.
//
// Up to 64 nodes, each pair is measured once, in as few rounds as that takes; where their
// number is odd, each rests once. More nodes have ten random rounds, in which no pair occurs
// twice and which connect all nodes; where the nodes have several groups, two of the rounds
// pair nodes of the same group. The order and the directions are random; a node is client about
// as often as server. Another seed gives other rounds, for those who measure longer.
func Rounds(groups []string, seed uint64) [][]Pair {
	random := rand.New(rand.NewPCG(seed, 1))
	var rounds [][]Pair
	if len(groups) <= tournamentMost {
		rounds = tournament(len(groups), random)
	} else {
		rounds = randomRounds(groups, random)
	}
	random.Shuffle(len(rounds), func(i, j int) { rounds[i], rounds[j] = rounds[j], rounds[i] })
	direct(rounds, len(groups), random)
	return rounds
}

// tournament is the circle method: one node stays, the others move on by one place each round,
// and those opposite each other are a pair.
func tournament(nodes int, random *rand.Rand) [][]Pair {
	if nodes < 2 {
		return nil
	}
	places := random.Perm(nodes)
	if nodes%2 == 1 {
		places = append(places, -1) // whoever is opposite rests
	}
	var rounds [][]Pair
	last := len(places) - 1
	for range last {
		var round []Pair
		for n := range len(places) / 2 {
			if a, b := places[n], places[last-n]; a >= 0 && b >= 0 {
				round = append(round, Pair{a, b})
			}
		}
		rounds = append(rounds, round)
		places = slices.Concat(places[:1], places[last:], places[1:last])
	}
	return rounds
}

// randomRounds draws matchings until they connect all nodes, which few draws do not.
func randomRounds(groups []string, random *rand.Rand) [][]Pair {
	several := slices.ContainsFunc(groups, func(g string) bool { return g != groups[0] })
	for {
		met := map[Pair]bool{}
		var rounds [][]Pair
		for n := range matchings {
			order := random.Perm(len(groups))
			if several && n < withinMatchings {
				slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(groups[a], groups[b]) })
			}
			if len(groups)%2 == 1 { // another rests in each round
				rests := n * len(groups) / matchings
				order = slices.DeleteFunc(order, func(node int) bool { return node == rests })
			}
			rounds = append(rounds, matching(order, met, random))
		}
		if connected(rounds, len(groups)) {
			return rounds
		}
	}
}

// matching pairs neighbours in an order of an even length. Where the two have met already, one
// of them changes places with a node near it, or with any.
func matching(order []int, met map[Pair]bool, random *rand.Rand) []Pair {
	for n := 0; n < len(order); n += 2 {
		for try := 0; met[unordered(order[n], order[n+1])]; try++ {
			other := (n + 2 + try) % len(order)
			if try > 8 {
				other = random.IntN(len(order))
			}
			earlier := other < n // whose pair was found good
			switch partner := other ^ 1; {
			case other/2 == n/2, met[unordered(order[n], order[other])], earlier && met[unordered(order[n+1], order[partner])]:
			default:
				order[n+1], order[other] = order[other], order[n+1]
			}
		}
	}
	var round []Pair
	for n := 0; n < len(order); n += 2 {
		met[unordered(order[n], order[n+1])] = true
		round = append(round, Pair{order[n], order[n+1]})
	}
	return round
}

func unordered(a, b int) Pair { return Pair{min(a, b), max(a, b)} }

// connected reports whether pairs lead from each node to each other.
func connected(rounds [][]Pair, nodes int) bool {
	root := make([]int, nodes)
	for n := range root {
		root[n] = n
	}
	find := func(n int) int {
		for root[n] != n {
			root[n] = root[root[n]]
			n = root[n]
		}
		return n
	}
	parts := nodes
	for _, round := range rounds {
		for _, p := range round {
			if a, b := find(p.Client), find(p.Server); a != b {
				root[a] = b
				parts--
			}
		}
	}
	return parts == 1
}

// direct draws which node of a pair is the client, for the one that was client less often than
// server so far.
func direct(rounds [][]Pair, nodes int, random *rand.Rand) {
	more := make([]int, nodes) // times client less times server
	for _, round := range rounds {
		for n, p := range round {
			lead := more[p.Client] - more[p.Server]
			if lead > 0 || lead == 0 && random.IntN(2) == 0 {
				p.Client, p.Server = p.Server, p.Client
			}
			round[n] = p
			more[p.Client]++
			more[p.Server]--
		}
	}
}

// leaving is how many nodes of a group have a pair outside it at the same time, as a share of
// the group: few uplinks carry less than a twentieth of what the nodes below them can send.
const leaving = 1.0 / 20

// Sparse divides the pairs of a round into batches that are measured one after another: most pairs
// at most at the same time, and few that leave the same group, so that they do not fill its uplink.
// In a batch no node is in two pairs.
func Sparse(round []Pair, groups []string, most int) [][]Pair {
	return packed(round, groups, most, func(p Pair) Pair { return p })
}

// packed puts each item into the first batch that has room for it.
func packed[T any](items []T, groups []string, most int, pairOf func(T) Pair) [][]T {
	type use struct {
		nodes map[int]bool
		leave map[string]int
	}
	size := map[string]int{}
	for _, g := range groups {
		size[g]++
	}
	full := func(u use, g string) bool { return u.leave[g] >= max(1, int(leaving*float64(size[g]))) }
	var batches [][]T
	var uses []use
	first := 0 // the batches before it have no room
	for _, item := range items {
		p := pairOf(item)
		a, b := groups[p.Client], groups[p.Server]
		at := first
		for at < len(batches) && (len(batches[at]) >= most || uses[at].nodes[p.Client] || uses[at].nodes[p.Server] ||
			a != b && (full(uses[at], a) || full(uses[at], b))) {
			at++
		}
		if at == len(batches) {
			batches, uses = append(batches, nil), append(uses, use{map[int]bool{}, map[string]int{}})
		}
		batches[at] = append(batches[at], item)
		uses[at].nodes[p.Client], uses[at].nodes[p.Server] = true, true
		if a != b {
			uses[at].leave[a]++
			uses[at].leave[b]++
		}
		for first < len(batches) && len(batches[first]) >= most {
			first++
		}
	}
	return batches
}
