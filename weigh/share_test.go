package weigh

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/test/labtest"
)

// stepsRun is a run of a tunnel, of routes and of what these are built upon, with two
// models of the interface.
func stepsRun() *result.Result {
	random := rand.New(rand.NewPCG(20, 1))
	tolls := map[string]map[string]float64{
		"full": {catalog.Baseline: 0, "ptp": 0.05, "route": 0.1, "vxlan": 0.2},
		"tso":  {catalog.Baseline: 0, "ptp": 0.05, "route": 0.1, "vxlan": 0.7},
	}
	res := &result.Result{}
	for _, nic := range []string{"full", "tso"} {
		for _, name := range []string{catalog.Baseline, "ptp", "route", "vxlan"} {
			c := result.Cell{
				Network: name, Path: catalog.CrossHost, Workload: "tcp_stream", Status: result.StatusOK, Params: result.Params{"nic": nic},
			}
			for block := range 10 {
				for _, layout := range []string{LayoutA, LayoutB} {
					value := 4e10 * (1 - tolls[nic][name]) * math.Exp(0.01*random.NormFloat64())
					c.Samples = append(c.Samples, result.Sample{Block: block, Layout: layout, Metrics: map[string]float64{"throughput": value}})
				}
			}
			res.Cells = append(res.Cells, c)
		}
	}
	res.SetGroups()
	cells := make([]*result.Cell, len(res.Cells))
	for n := range cells {
		cells[n] = &res.Cells[n]
	}
	Result(cells, Options{Margin: stats.DeclaredMargin, Warnings: func(*result.Cell) []string { return nil }})
	return res
}

// A tunnel's toll consists of what its interface cannot do, of what it adds to routes,
// and of what those cost.
func TestTollIsDividedByWhatTheRunMeasured(t *testing.T) {
	res := stepsRun()
	for n := range res.Cells {
		c := &res.Cells[n]
		if c.Network != "vxlan" || c.Params.Text("nic") != "tso" {
			continue
		}
		parts := Parts(Groups(res), c, "throughput")
		if len(parts) != 4 {
			t.Fatalf("%d parts, want four: %+v", len(parts), parts)
		}
		var points, share float64
		for i, want := range []struct {
			below, axis string
			points      float64
			direct      bool
		}{{"vxlan", "nic", 0.5, false}, {"route", "", 0.1, true}, {"ptp", "", 0.05, true}, {catalog.Baseline, "", 0.05, true}} {
			p := parts[i]
			labtest.Equal(t, "below", p.Below.Network, want.below)
			labtest.Equal(t, "axis", p.Axis, want.axis)
			labtest.Equal(t, "its own", p.Own(), want.direct)
			labtest.Between(t, "points", p.Points, want.points-0.02, want.points+0.02)
			if !p.Whole || p.Share.Low > want.points/0.7 || p.Share.High < want.points/0.7 {
				t.Errorf("share %+v, want about %v", p.Share, want.points/0.7)
			}
			points, share = points+p.Points, share+p.Share.Value
		}
		labtest.Between(t, "points of all parts less the toll", points-Metric(c, "throughput").Toll.Value, -1e-9, 1e-9)
		labtest.Between(t, "shares of all parts", share, 1-1e-9, 1+1e-9)
		return
	}
	t.Fatal("the run has no such cell")
}

// A network with a link of its frames has no twin with a better interface: its link has
// its model of it.
func TestPartsOfNetworksWithTheirLink(t *testing.T) {
	res := stepsRun()
	for n := range res.Cells {
		c := &res.Cells[n]
		if c.Network == "vxlan" && c.Params.Text("nic") == "full" {
			c.Params["nic"], c.Params["link"] = "frames", 1e9 // in the group of the others, as cells of a plan with such a link
		}
	}
	for n := range res.Cells {
		for _, p := range Parts(Groups(res), &res.Cells[n], "throughput") {
			if p.Cell == p.Below || p.Axis != "" && p.Cell.Params.Text("nic") == "frames" {
				t.Errorf("a part of %s with nic %s is what it has more than nic %s", p.Cell.Network, p.Cell.Params.Text("nic"), p.Below.Params.Text("nic"))
			}
		}
	}
}

// What lies between two networks costs something, measured or not.
func TestNetworksBetweenAreNamed(t *testing.T) {
	for _, step := range []struct{ upper, lower, path, between string }{
		{"vxlan", "route", catalog.CrossHost, ""}, {"route", "ptp", catalog.CrossHost, ""}, {"veth", catalog.Baseline, catalog.SameHost, ""},
		{"nat", "route", catalog.PublishedPort, ""}, {"vxlan", "ptp", catalog.CrossHost, "route"}, {"bridge", catalog.Baseline, catalog.SameHost, "veth"},
		{"docker-overlay", "docker-host", catalog.CrossHost, "docker-bridge"}, {"vxlan", catalog.Baseline, catalog.CrossHost, "route ptp"},
	} {
		got := strings.Join(skipped(step.upper, step.lower, step.path), " ")
		labtest.Equal(t, "between "+step.upper+" and "+step.lower+" on "+step.path, got, step.between)
	}
}

// A part that no cell shows is not made up.
func TestPartsNeedWhatTheyAreComparedWith(t *testing.T) {
	res := stepsRun()
	for n := range res.Cells {
		c := &res.Cells[n]
		if c.Network == "route" {
			c.Status = result.StatusFailed
		}
	}
	for n := range res.Cells {
		c := &res.Cells[n]
		if c.Network != "vxlan" {
			continue
		}
		for _, p := range Parts(Groups(res), c, "throughput") {
			if p.Cell.Network == "vxlan" && p.Own() {
				t.Errorf("what vxlan adds to %s is called its own, although its routes were not measured: %+v", p.Below.Network, p)
			}
		}
	}
	if parts := Parts(Groups(res), &res.Cells[0], "rtt_p50"); parts != nil {
		t.Errorf("a metric that was not measured has parts: %+v", parts)
	}
}

// A block counts if each network has a toll in it.
func TestWholeBlocksGiveEveryToll(t *testing.T) {
	res := stepsRun()
	whole := func() int { return WholeBlocks(Groups(res)) }
	labtest.Equal(t, "blocks with all tolls", whole(), 10)
	for _, c := range []struct {
		name, nic string
		block     int
	}{{"vxlan", "tso", 3}, {"ptp", "full", 3}, {catalog.Baseline, "full", 5}} {
		for n := range res.Cells {
			if cell := &res.Cells[n]; cell.Network == c.name && cell.Params.Text("nic") == c.nic {
				cell.Samples = slices.DeleteFunc(cell.Samples, func(s result.Sample) bool { return s.Block == c.block })
			}
		}
	}
	labtest.Equal(t, "blocks without two that lack one", whole(), 8)
	for n := range res.Cells {
		if cell := &res.Cells[n]; cell.Network == "route" && cell.Params.Text("nic") == "tso" {
			cell.Status, cell.Samples = result.StatusFailed, nil
		}
	}
	labtest.Equal(t, "blocks, one network having failed", whole(), 8)
}
