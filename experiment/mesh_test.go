package experiment

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"tare/catalog"
	"tare/network"
	"tare/result"
	"tare/test/labtest"
	"tare/test/simtest"
	"tare/traffic"
)

// simMesh is a mesh of so many simulated nodes, all of which are on one machine.
func simMesh(t *testing.T, nodes int) Meshing {
	t.Helper()
	s := newSimSite(t, even().Measure)
	s.Fault = func(at string) error {
		if strings.HasPrefix(at, "gone") {
			return errors.New("it went away")
		}
		return nil
	}
	m := Meshing{
		Site: s, Save: func(*result.Result) error { return nil }, Progress: func(Progress) {},
		Plan: Complete(result.Plan{
			Networks: result.NetworksNamed(catalog.Baseline), Paths: []string{catalog.CrossHost},
			Workloads: []result.WorkloadPlan{{Name: "tcp_rr"}}, Blocks: 1, Warmup: 0.001, Duration: 0.05, Seed: 1,
		}),
	}
	for n := range nodes {
		name := fmt.Sprintf("n%d", n+1)
		m.Nodes = append(m.Nodes, MeshNode{MeshNode: result.MeshNode{Name: name}, At: name, Boot: "here"})
	}
	m.Ends = func(_ context.Context, from, to string) (network.Ends, error) {
		addr := netip.AddrFrom4([4]byte{10, 0, 0, to[1] - '0'})
		return network.Ends{Client: from, Server: to, Bind: addr, Dial: addr}, nil
	}
	return m
}

func TestMeshMeasuresEveryPairAndGoesOn(t *testing.T) { simulated(t, meshMeasuresEveryPairAndGoesOn) }

func meshMeasuresEveryPairAndGoesOn(t *testing.T) {
	m := simMesh(t, 5)
	m.Nodes[4].At = "gone"
	saved := 0
	m.Save = func(*result.Result) error { saved++; return nil }
	res, err := Mesh(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	met := map[string]bool{}
	windows := 0
	for _, r := range res.Mesh.Rounds {
		for n := range r.Clients {
			if r.Check == nil {
				windows++
				met[fmt.Sprint(min(r.Clients[n], r.Servers[n]), max(r.Clients[n], r.Servers[n]))] = true
			}
		}
	}
	labtest.Equal(t, "pairs", len(met), 10)
	labtest.Equal(t, "windows", windows, 10)
	if saved < 5 || res.Finished == "" {
		t.Errorf("saved %d times in five rounds, finished %q", saved, res.Finished)
	}
	if len(res.Mesh.Unmeasured) != 1 || res.Mesh.Unmeasured[0].Of[0] != "n5" || !strings.Contains(res.Mesh.Unmeasured[0].Reason, "it went away") {
		t.Errorf("not measured: %+v, want n5, which went away", res.Mesh.Unmeasured)
	}
	for _, named := range res.Mesh.Named {
		if named.Of[0] == "n5" {
			t.Errorf("%+v is named, of which nothing is known", named)
		}
	}

	// What is there is not measured again; what was cut off is.
	res.Finished = ""
	res.Mesh.Rounds = res.Mesh.Rounds[:2]
	first := res.Mesh.Rounds[0].Values["rtt_p50"][0]
	m.Resume = res
	again, err := Mesh(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "first value", again.Mesh.Rounds[0].Values["rtt_p50"][0], first)
	rounds := map[int]bool{}
	for _, r := range again.Mesh.Rounds {
		if r.Check == nil {
			rounds[r.Round] = true
		}
	}
	labtest.Equal(t, "rounds", len(rounds), 5)
}

// In an incast each node serves all others at once, and what is there is not measured again.
func TestMeshMeasuresManyToFew(t *testing.T) { simulated(t, meshMeasuresManyToFew) }

func meshMeasuresManyToFew(t *testing.T) {
	m := simMesh(t, 5)
	m.Nodes[4].At = "gone"
	m.Incast = 1
	res, err := Mesh(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	in := res.Mesh.Incast
	labtest.Equal(t, "rounds", len(in.Rounds), 4)
	served := map[int]bool{}
	for _, r := range in.Rounds {
		labtest.Equal(t, "clients of "+res.Mesh.Nodes[r.Servers[0]].Name, len(r.Clients), 3)
		labtest.Equal(t, "failures", len(r.Failures), 0)
		served[r.Servers[0]] = true
	}
	labtest.Equal(t, "nodes that served", len(served), 4)
	labtest.AtLeast(t, "nodes that are judged", len(in.Effects), 1)

	in.Rounds = in.Rounds[:3]
	first := in.Rounds[0].Values["rtt_p50"][0]
	m.Resume = res
	again, err := Mesh(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "rounds", len(again.Mesh.Incast.Rounds), 4)
	labtest.Equal(t, "first value", again.Mesh.Incast.Rounds[0].Values["rtt_p50"][0], first)
}

// A median takes 20 round trips, which need not end within a window of 50 ms: that one is measured again,
// longer. Where even that is too short, the node is not judged, which is said.
func TestMeshMeasuresRoundTripsLongerThanItsWindows(t *testing.T) {
	for took, want := range map[time.Duration]string{3 * time.Millisecond: "named", 40 * time.Millisecond: "named", 10 * time.Second: "not judged"} {
		t.Run(fmt.Sprint(took, " is ", want), func(t *testing.T) {
			simulated(t, func(t *testing.T) { meshMeasuresSlowNode(t, took, want == "named") })
		})
	}
}

// meshMeasuresSlowNode measures a mesh whose last node takes so long to answer and to be answered.
func meshMeasuresSlowNode(t *testing.T, took time.Duration, named bool) {
	m := simMesh(t, 6)
	m.Site = newSimSite(t, func(r simtest.Request) simtest.Reply {
		reply := even().Measure(r)
		if n := r.Run.Duration / took; r.At == "n6" || strings.HasPrefix(r.Address, "10.0.0.6:") {
			reply.Tally.Metrics = map[string]float64{}
			if n > 0 {
				reply.Tally.Metrics["rtt_mean"] = took.Seconds()
			}
			if n >= 2*traffic.TailSamples {
				reply.Tally.Metrics["rtt_p50"] = took.Seconds()
			}
		}
		return reply
	})
	res, err := Mesh(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if named {
		labtest.Equal(t, "not measured", len(res.Mesh.Unmeasured), 0)
		if n := res.Mesh.Named; len(n) != 1 || n[0].Of[0] != "n6" || n[0].Kind != result.MeshNodeKind {
			t.Errorf("named %+v, want node n6 alone", n)
		}
		return
	}
	labtest.Equal(t, "named", len(res.Mesh.Named), 0)
	if u := res.Mesh.Unmeasured; len(u) != 1 || u[0].Of[0] != "n6" || u[0].Measured != 0 || !strings.Contains(u[0].Reason, "too few round trips ended within 1.25s: choose longer windows (--duration)") {
		t.Errorf("not measured: %+v, want n6, and what to do", u)
	}
}

func TestMeshIsInterruptedWithWhatItHas(t *testing.T) { simulated(t, meshIsInterruptedWithWhatItHas) }

func meshIsInterruptedWithWhatItHas(t *testing.T) {
	m := simMesh(t, 4)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m.Save = func(*result.Result) error { cancel(); return nil }
	res, err := Mesh(ctx, m)
	if !errors.Is(err, context.Canceled) || res == nil || res.Finished != "" || len(res.Mesh.Rounds) == 0 {
		t.Fatalf("%v, result %+v: want what was measured until then", err, res)
	}
}

func TestNodesAreApartOnMachinesOfTheirs(t *testing.T) {
	node := func(boot string) MeshNode { return MeshNode{Boot: boot} }
	for want, nodes := range map[bool][]MeshNode{
		true: {node("a"), node("b")}, false: {node("a"), node("b"), node("a")},
	} {
		labtest.Equal(t, fmt.Sprint(nodes), Apart(nodes), want)
	}
	labtest.Equal(t, "unknown", Apart([]MeshNode{node("")}), false)
}
