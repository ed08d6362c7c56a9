package mesh

import "math/rand/v2"

// Incast is rounds in which many send to few, all at once: in each round so many nodes serve,
// and all others are clients of one of them, spread evenly. With one server it is the pattern
// N:1, with more N:M. Each node serves once; where their number is no multiple of the servers,
// the last round has fewer. The order is random. These windows are not for Mesh.Add, which
// would take a server that many share for slow.
func Incast(nodes, servers int, seed uint64) [][]Pair {
	random := rand.New(rand.NewPCG(seed, 2))
	order := random.Perm(nodes)
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
