package mesh_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tare/result"
	"tare/stats"
	"tare/test/labtest"
	"tare/test/meshtest"
	"tare/weigh/mesh"
)

// tenNodes are without groups, of which n3 loses a fifth.
func tenNodes() meshtest.World {
	return meshtest.World{Groups: racks(10, 0), Window: 0.05, SlowNodes: map[int]float64{3: 0.2}}
}

func TestWhatWasNotMeasuredIsNotSlow(t *testing.T) {
	world := tenNodes()
	world.Dead = map[int]bool{4: true}
	res := run(meshtest.New(world, 1), 1, both...)
	labtest.Equal(t, "named", strings.Join(names(res), ", "), "node n3")
	if len(res.Unmeasured) != 1 {
		t.Fatalf("not measured are %+v, want n4 alone", res.Unmeasured)
	}
	u := res.Unmeasured[0]
	labtest.Equal(t, "not measured", strings.Join(u.Of, " "), "n4")
	labtest.Equal(t, "windows asked for", u.Asked, 18)
	labtest.Equal(t, "windows measured", u.Measured, 0)
	labtest.Contains(t, "reason", u.Reason, "no answer in time")
	for _, e := range res.Effects {
		labtest.Equal(t, "an effect is of n4", slices.Contains(e.Of, "n4"), false)
	}
}

func TestALinkThatNeverAnsweredIsNamedAsUnmeasured(t *testing.T) {
	res := &result.Mesh{Judged: []string{"throughput"}, Margin: 0.05}
	w := meshtest.New(meshtest.World{Groups: racks(6, 0), Window: 0.02}, 1)
	for n := range 6 {
		res.Nodes = append(res.Nodes, result.MeshNode{Name: fmt.Sprintf("n%d", n)})
	}
	m := mesh.On(res)
	for n, round := range mesh.Rounds(w.Groups, 1) {
		for _, p := range round {
			value, failed := w.Goodput(p.Client, p.Server, false)
			metrics := map[string]float64{"throughput": value}
			switch fmt.Sprint(min(p.Client, p.Server), max(p.Client, p.Server)) {
			case "1 2":
				failed = "connection refused"
			case "3 4":
				metrics = map[string]float64{"throughput": 0}
			}
			m.Add(mesh.Window{Pair: p, Round: n}, metrics, failed)
		}
	}
	m.Judge()
	labtest.Equal(t, "named", len(res.Named), 0)
	var all []string
	for _, u := range res.Unmeasured {
		all = append(all, strings.Join(u.Of, "-")+": "+u.Reason)
	}
	labtest.Equal(t, "not measured", strings.Join(all, "; "), "n1-n2: connection refused; n3-n4: it measured no throughput")
}

func TestTooFewNodesAreNotJudged(t *testing.T) {
	res := run(meshtest.New(meshtest.World{Groups: racks(3, 0), SlowNodes: map[int]float64{1: 0.5}}, 1), 1, both...)
	labtest.Equal(t, "named", len(res.Named), 0)
	labtest.Equal(t, "not judged", len(res.Unmeasured), 3)
	labtest.Contains(t, "reason", res.Unmeasured[0].Reason, "it takes 3 other nodes")
}

func TestNamesCarryTheirNumbers(t *testing.T) {
	res := run(meshtest.New(tenNodes(), 1), 1, both...)
	named := res.Named[0]
	labtest.Between(t, "effect", named.Value, 0.17, 0.23)
	labtest.Between(t, "its low end", named.Low, 0.1, named.Value)
	labtest.Between(t, "its high end", named.High, named.Value, 0.3)
	evidence := map[string]any{}
	for _, e := range named.Evidence {
		evidence[e.Name] = e.Value
	}
	labtest.Equal(t, "blocks", evidence["blocks"], any(20))
	labtest.Equal(t, "blocks in which it was worse", evidence["blocks in which it was worse"], any(20))
	labtest.AtLeast(t, "partners", evidence["partners"].(int), 6)
	for _, name := range []string{"effect as the client", "effect as the server", "effect among all pairs"} {
		labtest.Between(t, name, evidence[name].(float64), 0.1, 0.3)
	}
}

// A time that is longer is worse, and a throughput that is larger is not. That no window has
// another metric keeps nobody from being named.
func TestLongerTimesAreWorse(t *testing.T) {
	res := &result.Mesh{Judged: []string{"rtt_p50", "rate"}, Margin: mesh.DefaultMargin}
	w := meshtest.New(tenNodes(), 1)
	for n := range 10 {
		res.Nodes = append(res.Nodes, result.MeshNode{Name: fmt.Sprintf("n%d", n)})
	}
	m := mesh.On(res)
	add := func(window mesh.Window) {
		value, failed := w.Goodput(window.Client, window.Server, window.Dense)
		m.Add(window, map[string]float64{"rtt_p50": 1e6 / value, "throughput": value}, failed)
	}
	for n, round := range mesh.Rounds(w.Groups, 1) {
		for _, p := range round {
			add(mesh.Window{Pair: p, Round: n})
		}
	}
	for wanted := m.Again(3); len(wanted) > 0; wanted = m.Again(3) {
		for _, batch := range wanted {
			for _, window := range batch {
				add(window)
			}
		}
	}
	m.Judge()
	labtest.Equal(t, "named", strings.Join(names(res), ", "), "node n3")
	labtest.Between(t, "effect: a time is longer by a quarter", res.Named[0].Value, 0.2, 0.3)
}

func TestSuspectsAreMeasuredAgainByOthers(t *testing.T) {
	world := tenNodes()
	world.SlowLinks = map[[2]int]float64{{6, 8}: 0.5}
	res := run(meshtest.New(world, 2), 2, both...)
	blocks := map[string]int{}
	for _, r := range res.Rounds {
		if r.Check == nil {
			continue
		}
		blocks[fmt.Sprint(r.Check.Suspect)]++
		labtest.Equal(t, "partners", len(r.Check.Partners), 3)
		for _, partner := range r.Check.Partners {
			labtest.Equal(t, "a suspect is a partner", partner == 3 || slices.Contains(r.Check.Suspect, partner), false)
		}
		labtest.Equal(t, "windows", len(r.Clients), 6*len(r.Check.Suspect))
	}
	labtest.AtLeast(t, "blocks of the node", blocks["[3]"], 20)
	labtest.AtLeast(t, "blocks of the link", blocks["[6 8]"], 20)
}

// A run that ended early goes on from its file to the same end.
func TestGoesOnFromAFile(t *testing.T) {
	whole := run(meshtest.New(tenNodes(), 5), 5, both...)
	var file bytes.Buffer
	if err := (&result.Result{Schema: result.Schema, Mesh: whole}).Write(&file); err != nil {
		t.Fatal(err)
	}
	read, err := result.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	res := read.Mesh
	for n := range res.Rounds { // the later blocks were asked for, and not begun
		if r := &res.Rounds[n]; r.Check != nil && r.Check.Block > 10 {
			r.Clients, r.Servers, r.Values, r.Failures = nil, nil, nil, nil
		}
	}
	m, w := mesh.On(res), meshtest.New(tenNodes(), 6)
	before := len(res.Rounds)
	labtest.AtMost(t, "rounds that are left", before, len(whole.Rounds)-9)
	for wanted := m.Again(1); len(wanted) > 0; wanted = m.Again(1) {
		for _, batch := range wanted {
			for _, window := range batch {
				value, failed := w.Goodput(window.Client, window.Server, window.Dense)
				m.Add(window, map[string]float64{"throughput": value}, failed)
			}
		}
	}
	m.Judge()
	labtest.AtLeast(t, "rounds that were added", len(res.Rounds)-before, 1)
	labtest.Equal(t, "named", strings.Join(names(res), ", "), "node n3")
	numbers := map[int]bool{}
	for _, r := range res.Rounds {
		labtest.Equal(t, "the number of a suspect's round is in use", r.Check != nil && numbers[r.Round], false)
		numbers[r.Round] = true
	}
}

// Effects are against the middle of all nodes, whatever the noise: one that is far from it measures
// no suspect again.
func TestNodesAreHeldAgainstTheirMiddle(t *testing.T) {
	for seed := range uint64(20) {
		world := tenNodes()
		world.Groups, world.Stall = racks(9, 0), 0.3
		var values []float64
		for _, e := range run(meshtest.New(world, seed), seed, both...).Effects {
			if e.Kind == result.MeshNodeKind {
				values = append(values, e.Value)
			}
		}
		labtest.AtMost(t, "effect of the node in the middle", math.Abs(stats.Median(values)), 1e-5)
	}
}
