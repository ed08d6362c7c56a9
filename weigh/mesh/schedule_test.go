package mesh

import (
	"fmt"
	"testing"

	"tare/test/labtest"
)

// racks labels nodes in groups of a size; 0: without labels.
func racks(nodes, size int) []string {
	groups := make([]string, nodes)
	for n := range groups {
		if size > 0 {
			groups[n] = fmt.Sprintf("rack%d", n/size)
		}
	}
	return groups
}

func TestRoundsPairEachNodeOnceAndNoPairTwice(t *testing.T) {
	for _, c := range []struct{ nodes, rack, rounds, pairs int }{
		{0, 0, 0, 0}, {1, 0, 0, 0}, {2, 0, 1, 1}, {3, 0, 3, 3}, {10, 5, 9, 45}, {11, 0, 11, 55}, {64, 0, 63, 2016},
		{65, 0, 10, 320}, {100, 2, 10, 500}, {101, 20, 10, 500}, {5000, 40, 10, 25000},
	} {
		t.Run(fmt.Sprint(c.nodes), func(t *testing.T) {
			rounds := Rounds(racks(c.nodes, c.rack), 7)
			labtest.Equal(t, "rounds", len(rounds), c.rounds)
			met := map[Pair]bool{}
			client, took := make([]int, c.nodes), make([]int, c.nodes)
			for _, round := range rounds {
				busy := map[int]bool{}
				for _, p := range round {
					if busy[p.Client] || busy[p.Server] || p.Client == p.Server || met[unordered(p.Client, p.Server)] {
						t.Fatalf("pair %v is in the way of another", p)
					}
					busy[p.Client], busy[p.Server], met[unordered(p.Client, p.Server)] = true, true, true
					client[p.Client]++
					took[p.Client]++
					took[p.Server]++
				}
			}
			labtest.Equal(t, "pairs", len(met), c.pairs)
			for n := range c.nodes {
				labtest.Between(t, fmt.Sprintf("node %d as client less as server", n), 2*client[n]-took[n], -3, 3)
				labtest.AtLeast(t, fmt.Sprintf("pairs of node %d", n), took[n], min(c.nodes-1, matchings-1))
			}
			labtest.Equal(t, "connected", c.nodes < 2 || connected(rounds, c.nodes), true)
		})
	}
}

func TestManyNodesMeetTheirGroupInTwoRounds(t *testing.T) {
	groups := racks(1000, 40)
	inside := make([]int, len(groups))
	for _, round := range Rounds(groups, 3) {
		for _, p := range round {
			if groups[p.Client] == groups[p.Server] {
				inside[p.Client]++
				inside[p.Server]++
			}
		}
	}
	for n, times := range inside {
		labtest.AtLeast(t, fmt.Sprintf("pairs of node %d in its rack", n), times, withinMatchings-1)
	}
}

func TestAnotherSeedIsAnotherOrder(t *testing.T) {
	one, same, other := fmt.Sprint(Rounds(racks(10, 0), 1)), fmt.Sprint(Rounds(racks(10, 0), 1)), fmt.Sprint(Rounds(racks(10, 0), 2))
	labtest.Equal(t, "the same seed", one, same)
	labtest.NotEqual(t, "another seed", one, other)
}

func TestSparseBatchesDoNotFillAnUplink(t *testing.T) {
	groups := racks(1000, 40)
	for _, round := range Rounds(groups, 5) {
		batches := Sparse(round, groups, 30)
		pairs := 0
		for _, batch := range batches {
			leave := map[string]int{}
			for _, p := range batch {
				if groups[p.Client] != groups[p.Server] {
					leave[groups[p.Client]]++
					leave[groups[p.Server]]++
				}
			}
			for g, n := range leave {
				labtest.AtMost(t, "nodes of "+g+" with a pair outside it", n, 2)
			}
			labtest.AtMost(t, "pairs at the same time", len(batch), 30)
			pairs += len(batch)
		}
		labtest.Equal(t, "pairs", pairs, len(round))
		labtest.AtMost(t, "batches", len(batches), 2*len(round)/30)
	}
}

func TestIncastHasEachNodeServeOnce(t *testing.T) {
	for _, servers := range []int{1, 3} {
		serves := map[int]int{}
		for _, round := range Incast([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, servers, 1) {
			of := map[int]int{}
			for _, p := range round {
				of[p.Server]++
			}
			for _, p := range round {
				labtest.Equal(t, "a client is no server", of[p.Client], 0)
			}
			labtest.Equal(t, "all nodes take part", len(round)+len(of), 10)
			for server := range of {
				serves[server]++
				labtest.Between(t, "clients of a server", of[server], len(round)/len(of), len(round)/len(of)+1)
			}
		}
		labtest.Equal(t, "servers", len(serves), 10)
	}
}
