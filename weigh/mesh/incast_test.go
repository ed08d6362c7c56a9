package mesh_test

import (
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
	"tare/test/meshtest"
	"tare/weigh/mesh"
)

// incast measures a world, and then so many nodes that all others send to: its clients share
// what a node can take, of which n3 loses half when many send. lost is a client of which no
// window comes back.
func incast(t *testing.T, servers, lost int, metric string) *result.Mesh {
	t.Helper()
	w := meshtest.New(meshtest.World{Groups: racks(10, 0), Window: 0.01}, 1)
	res := run(w, 1, both...)
	res.Judged = []string{metric}
	for n := range res.Rounds {
		if metric == "rtt_p50" {
			times := make([]float64, len(res.Rounds[n].Clients))
			for i := range times {
				times[i] = 20e-6
			}
			res.Rounds[n].Values = map[string][]float64{metric: times}
		}
	}
	res.Incast = &result.MeshIncast{Servers: servers}
	m := mesh.On(res)
	for n, round := range mesh.Incast(m.Answering(), servers, 1) {
		clients := map[int]int{}
		for _, p := range round {
			clients[p.Server]++
		}
		for _, p := range round {
			value, failed := 9e9/float64(clients[p.Server]), ""
			if metric == "rtt_p50" {
				value = 40e-6
			}
			if p.Server == 3 {
				value /= 2
			}
			if p.Client == lost {
				failed = "connection timed out"
			}
			m.AddIncast(n, p, map[string]float64{metric: value}, failed)
		}
	}
	m.Judge()
	return res
}

func TestIncastIsHeldAgainstOneToOne(t *testing.T) {
	res := incast(t, 1, -1, "throughput")
	labtest.Equal(t, "named", strings.Join(names(res), ", "), "")
	labtest.Equal(t, "nodes that served", len(res.Incast.Effects), 10)
	for node, e := range res.Incast.Effects {
		least, most := -0.05, 0.05
		if node == 3 {
			least, most = 0.45, 0.55
		}
		labtest.Between(t, e.Of+" loses", e.Value, least, most)
		labtest.Equal(t, "senders", e.Senders, 9)
		labtest.Between(t, "what one sends it", e.One, 8.5e9, 9.5e9)
	}
	labtest.Equal(t, "what nine send to n3", res.Incast.Effects[3].All, 4.5e9)
	labtest.Equal(t, "the least of them", res.Incast.Effects[3].Worst, 5e8)

	several := incast(t, 4, -1, "throughput")
	labtest.Equal(t, "rounds of four servers and of two", len(several.Incast.Rounds), 3)
	labtest.Equal(t, "nodes that served", len(several.Incast.Effects), 10)
}

// A time is not shared: the middle of the clients is held against that of one.
func TestIncastOfTimes(t *testing.T) {
	res := incast(t, 1, -1, "rtt_p50")
	labtest.Between(t, "n0 takes longer", res.Incast.Effects[0].Value, 0.99, 1.01)
	labtest.Between(t, "n3 takes longer", res.Incast.Effects[3].Value, -0.01, 0.01)
}

// A sender that was not measured leaves more to the others: that says nothing about the server.
func TestIncastWithALostSenderIsNotJudged(t *testing.T) {
	res := incast(t, 1, 5, "throughput")
	labtest.Equal(t, "nodes that are judged", len(res.Incast.Effects), 1)
	labtest.Equal(t, "the one that is no client then", res.Incast.Effects[0].Of, "n5")
	labtest.Equal(t, "why not", res.Incast.Rounds[0].Failures[0].Reason, "connection timed out")
}
