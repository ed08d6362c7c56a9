package weigh

import (
	"maps"
	"math"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/test/labtest"
)

// TestPassengers holds a network with a passenger against itself, and against nothing else.
func TestPassengers(t *testing.T) {
	res := &result.Result{Plan: result.Plan{Margin: 0.02}}
	add := func(name string, settings result.Params, layouts []string, rtt float64) {
		c := result.Cell{Network: name, Path: catalog.SameHost, Workload: "tcp_rr", Mode: "nodelay", Status: result.StatusOK, Params: result.Params{"mtu": 1500}}
		maps.Copy(c.Params, settings)
		for block := range 8 {
			for n, layout := range layouts {
				noise := 1 + 0.002*math.Sin(float64(7*block+3*n)+1e6*rtt)
				c.Samples = append(c.Samples, result.Sample{Block: block, Layout: layout, Metrics: map[string]float64{"rtt_p50": rtt * noise}})
			}
		}
		res.Cells = append(res.Cells, c)
	}
	both, one, passenger := []string{LayoutA, LayoutB}, []string{""}, result.Params{catalog.With: "conntrack -E"}
	add(catalog.Baseline, nil, both, 10e-6)
	add("bridge", nil, one, 12e-6)
	add("bridge", result.Params{catalog.Rules: 9.0}, one, 13e-6)
	labtest.Equal(t, "compared without a passenger", len(Comparisons(res)), 0)
	add("bridge", passenger, one, 15e-6)
	add("route", passenger, one, 15e-6)
	add("bridge", result.Params{catalog.Neighbour: "tcp_stream"}, one, 18e-6)
	weighed(res)
	all := Comparisons(res)
	if len(all) != 2 || len(all[0].Cells) != 1 || all[0].Cells[0].Network != "bridge" {
		t.Fatalf("compared: %+v", all)
	}
	c, n := all[0], all[1]
	labtest.Equal(t, "along", c.Along, catalog.With)
	labtest.Equal(t, "title", c.Title, "with: conntrack -E against without")
	m := c.Cells[0].Metrics[0]
	labtest.Near(t, "what it costs", m.Change.Value, 0.25, 0.01)
	labtest.Equal(t, "verdict", m.Change.Verdict, string(stats.Slower))
	labtest.Near(t, "toll without", m.OldToll.Value, 0.2, 0.01)
	labtest.Near(t, "toll with", m.NewToll.Value, 0.5, 0.01)

	if n.Along != catalog.Neighbour || len(n.Cells) != 1 {
		t.Fatalf("beside a neighbour: %+v", n)
	}
	labtest.Near(t, "what a neighbour costs", n.Cells[0].Metrics[0].Change.Value, 0.5, 0.01)
	parts := Parts(Groups(res), &res.Cells[len(res.Cells)-1], "rtt_p50")
	if len(parts) == 0 || parts[0].Axis != catalog.Neighbour {
		t.Fatalf("parts of the toll: %+v", parts)
	}
	labtest.Near(t, "its share of the toll", parts[0].Share.Value, 0.75, 0.01)
}

// weighed gives the cells of a result their metrics and tolls.
func weighed(res *result.Result) {
	res.SetGroups()
	var cells []*result.Cell
	for n := range res.Cells {
		cells = append(cells, &res.Cells[n])
	}
	Result(cells, Options{Margin: res.Plan.Margin, Warnings: func(*result.Cell) []string { return nil }})
}

// TestVersions holds IPv6 against IPv4 of the same network, block by block, and its toll too.
func TestVersions(t *testing.T) {
	res := &result.Result{Plan: result.Plan{Margin: 0.02}}
	add := func(name string, ip int, layouts []string, rtt float64) {
		c := result.Cell{Network: name, Path: catalog.CrossHost, Workload: "tcp_rr", Mode: "nodelay", Status: result.StatusOK, Params: result.Params{"mtu": 1500}}
		if ip == 6 {
			c.Params["ip"] = 6.0
		}
		for block := range 8 {
			slow := 1 + float64(block) // what all have in common does not count
			for n, layout := range layouts {
				noise := 1 + 0.002*math.Sin(float64(7*block+3*n+ip)) // so that no interval is empty
				c.Samples = append(c.Samples, result.Sample{Block: block, Layout: layout, Metrics: map[string]float64{"rtt_p50": rtt * slow * noise}})
			}
		}
		res.Cells = append(res.Cells, c)
	}
	both, one := []string{LayoutA, LayoutB}, []string{""}
	add(catalog.Baseline, 4, both, 10e-6)
	add("vxlan", 4, one, 20e-6)
	add("nat", 4, one, 20e-6)
	labtest.Equal(t, "one version compared with itself", len(Comparisons(res)), 0)
	add(catalog.Baseline, 6, both, 10e-6)
	add("vxlan", 6, one, 22e-6)
	add("route", 6, one, 22e-6)
	weighed(res)
	all := Comparisons(res)
	if len(all) != 1 || all[0].Of != "IPv6" || all[0].Than != "IPv4" {
		t.Fatalf("the versions are compared as %+v", all)
	}
	c := all[0]
	labtest.Equal(t, "networks with both", len(c.Cells), 2)
	labtest.Equal(t, "first", c.Cells[0].Network, catalog.Baseline)
	host, vxlan := c.Cells[0].Metrics[0], c.Cells[1].Metrics[0]
	labtest.Equal(t, "verdict on host", host.Change.Verdict, string(stats.Equal))
	labtest.Near(t, "vxlan", vxlan.Change.Value, 0.1, 0.01)
	labtest.Equal(t, "verdict on vxlan", vxlan.Change.Verdict, string(stats.Slower))
	labtest.Near(t, "its toll", vxlan.TollChange.Value, 0.1, 0.01)
	labtest.Equal(t, "version named in the parameters", c.Cells[1].Params.Has("ip"), false)

	res.Environment.CPUModel = "QEMU TCG CPU version 2.5+"
	labtest.Equal(t, "verdict on an emulated CPU", Comparisons(res)[0].Cells[1].Metrics[0].Change.Verdict, string(stats.Inconclusive))
}

// TestReferences holds a path against another of the same network, block by block, without a verdict.
func TestReferences(t *testing.T) {
	cell := func(path string, rtt float64) result.Cell {
		c := result.Cell{Network: catalog.Endpoint, Path: path, Workload: "tcp_rr", Mode: "nodelay", Status: result.StatusOK, Params: result.Params{"mtu": 1500}}
		for block := range 8 {
			slow := 1 + float64(block) // what both have in common does not count
			c.Samples = append(c.Samples, result.Sample{Block: block, Metrics: map[string]float64{"rtt_p50": rtt * slow}})
		}
		return c
	}
	res := &result.Result{Plan: result.Plan{Reference: catalog.SameHost}, Cells: []result.Cell{cell(catalog.SameHost, 20e-6), cell(catalog.CrossHost, 50e-6)}}
	weighed(res)
	all := Comparisons(res)
	if len(all) != 1 || len(all[0].Cells) != 1 || all[0].Cells[0].Metrics[0].Change.Low == nil {
		t.Fatalf("references %+v, want one with an interval", all)
	}
	change := all[0].Cells[0].Metrics[0].Change
	labtest.Equal(t, "path", all[0].Cells[0].Path, catalog.CrossHost)
	labtest.Near(t, "how much worse", change.Value, 1.5, 1e-9)
	labtest.Near(t, "low", *change.Low, 1.5, 1e-9)
	labtest.Equal(t, "verdict", change.Verdict, "")
	res.Plan.Reference = catalog.HostToContainer
	labtest.Equal(t, "held against a path that is not there", len(Comparisons(res)), 0)
}

// TestAlongWhatThePlanSays compares the values of an axis with the first, each network with the plan's
// baseline, and nothing that differs in more.
func TestAlongWhatThePlanSays(t *testing.T) {
	res := &result.Result{Plan: result.Plan{Margin: 0.02, By: []string{"mtu"}, Baseline: "docker-host"}}
	add := func(name string, mtu float64, layouts []string, rtt float64) {
		c := result.Cell{Network: name, Path: catalog.SameHost, Workload: "tcp_rr", Mode: "nodelay", Status: result.StatusOK, Params: result.Params{"mtu": mtu}}
		for block := range 8 {
			for n, layout := range layouts {
				noise := 1 + 0.002*math.Sin(float64(7*block+3*n)+1e6*rtt)
				c.Samples = append(c.Samples, result.Sample{Block: block, Layout: layout, Metrics: map[string]float64{"rtt_p50": rtt * noise}})
			}
		}
		res.Cells = append(res.Cells, c)
	}
	both, one := []string{LayoutA, LayoutB}, []string{""}
	for _, mtu := range []float64{1500, 9000} {
		add(catalog.Baseline, mtu, both, 10e-6)
		add("docker-host", mtu, one, 11e-6)
		add("docker-bridge", mtu, one, 11e-6*(1+mtu/15000))
	}
	add("docker-macvlan", 9000, one, 11e-6)
	weighed(res)
	all := Comparisons(res)
	if len(all) != 2 {
		t.Fatalf("compared: %+v", all)
	}
	mtu, network := all[0], all[1]
	labtest.Equal(t, "title", mtu.Title, "mtu: 9000 against 1500")
	labtest.Equal(t, "cells that have both", len(mtu.Cells), 3)
	labtest.Near(t, "what an MTU of 9000 takes", mtu.Cells[2].Metrics[0].Change.Value, 1.6/1.1-1, 0.01)
	labtest.Equal(t, "title", network.Title, "network: each against docker-host")
	labtest.Equal(t, "networks compared with docker-host", len(network.Cells), 3)
	labtest.Equal(t, "mtu among what both share", mtu.Cells[0].Params.Has("mtu"), false)
	bridge := network.Cells[1]
	labtest.Equal(t, "network", bridge.Network+" "+bridge.Params.Text("mtu"), "docker-bridge 9000")
	labtest.Near(t, "what the bridge adds", bridge.Metrics[0].Change.Value, 0.6, 0.01)
	labtest.Equal(t, "verdict", bridge.Metrics[0].Change.Verdict, string(stats.Slower))
	labtest.Near(t, "the toll of docker-host", bridge.Metrics[0].OldToll.Value, 0.1, 0.01)
}

// TestAlongAParameter: the host, which has no parameter, is not what networks with several values are
// compared with.
func TestAlongAParameter(t *testing.T) {
	res := &result.Result{Plan: result.Plan{Margin: 0.02, By: []string{catalog.Rules}}}
	add := func(name string, params result.Params, layouts []string, rtt float64) {
		c := result.Cell{Network: name, Path: catalog.SameHost, Workload: "tcp_rr", Mode: "nodelay", Status: result.StatusOK, Params: result.Params{"mtu": 1500.0}}
		maps.Copy(c.Params, params)
		for block := range 8 {
			for n, layout := range layouts {
				noise := 1 + 0.002*math.Sin(float64(7*block+3*n)+1e6*rtt)
				c.Samples = append(c.Samples, result.Sample{Block: block, Layout: layout, Metrics: map[string]float64{"rtt_p50": rtt * noise}})
			}
		}
		res.Cells = append(res.Cells, c)
	}
	add(catalog.Baseline, nil, []string{LayoutA, LayoutB}, 10e-6)
	add("bridge", nil, []string{""}, 12e-6)
	for _, rules := range []float64{0, 1000} {
		add("ptp", result.Params{catalog.Rules: rules}, []string{""}, 12e-6*(1+rules/10000))
	}
	weighed(res)
	all := Comparisons(res)
	if len(all) != 1 || len(all[0].Cells) != 1 {
		t.Fatalf("compared: %+v", all)
	}
	labtest.Equal(t, "title", all[0].Title, "rules: 1000 against 0")
	labtest.Near(t, "what 1000 rules cost", all[0].Cells[0].Metrics[0].Change.Value, 0.1, 0.01)
}
