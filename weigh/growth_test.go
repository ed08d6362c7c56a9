package weigh

import (
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
)

// swept are the cells of a network with several numbers of Services, on which a transaction
// takes 300 us and so much more for each; block 3 lacks the last cell.
func swept(name string, perService float64) []result.Cell {
	var cells []result.Cell
	for _, services := range []float64{10_000, 1, 1000} {
		cell := result.Cell{
			Network: name, Path: catalog.ClusterIP, Workload: "tcp_crr", Status: result.StatusOK,
			Params:  result.Params{"nic": "full", "mtu": 1500.0, "flows": 1.0, "services": services, "service_at": "last"},
			Metrics: []result.Metric{{Name: "rate", Unit: "1/s", Better: "higher"}},
		}
		for block := range 8 {
			if block == 3 && services == 1000 {
				continue
			}
			took := 300e-6 + perService*services + float64(block)*1e-6
			cell.Samples = append(cell.Samples, result.Sample{Block: block, Metrics: map[string]float64{"rate": 1 / took}})
		}
		cells = append(cells, cell)
	}
	return cells
}

func TestGrowths(t *testing.T) {
	res := &result.Result{Cells: append(swept("service-iptables", 40e-9), swept("service-nftables", 0)...)}
	failed := swept("service-nftables", 1)[0]
	failed.Status, failed.Params["services"] = result.StatusFailed, 30_000.0
	res.Cells = append(res.Cells, failed)
	res.Plan.Sweep = "services" // it is a parameter of the networks: each grows once
	grown := Growths(res)
	if len(grown) != 2 {
		t.Fatalf("%d growths: %+v", len(grown), grown)
	}
	g := grown[0]
	labtest.Equal(t, "network", g.Network, "service-iptables")
	labtest.Equal(t, "axis", g.Axis, "services")
	labtest.Equal(t, "other parameters", g.Settings.String(), "service_at=last")
	labtest.Equal(t, "metric", g.Metric+" "+g.Unit, "latency_mean s")
	labtest.Equal(t, "shape", g.Shape, "linear")
	labtest.Equal(t, "it bends", g.Beyond != nil, false)
	labtest.Equal(t, "blocks that have all points", g.Blocks, 7)
	labtest.Equal(t, "points", len(g.Points), 3)
	labtest.Equal(t, "first point", g.Points[0].At, 1.0)
	if g.Slope.Low > 40e-9 || g.Slope.High < 40e-9 || g.Slope.High > 41e-9 {
		t.Errorf("slope %+v, want 40 ns", g.Slope)
	}
	labtest.Equal(t, "shape without growth", grown[1].Shape, "constant")
}

// What the plan swept is of each network, the baseline too, over cells of several groups.
func TestGrowthsOfWhatWasSwept(t *testing.T) {
	res := &result.Result{Plan: result.Plan{Sweep: "flows"}}
	for _, name := range []string{catalog.Baseline, "bridge"} {
		for _, flows := range []float64{1, 2, 4, 8} {
			cell := result.Cell{
				Network: name, Path: catalog.CrossHost, Workload: "tcp_stream", Status: result.StatusOK,
				Params:  result.Params{"nic": "full", "flows": flows, "duration": 1 / flows},
				Metrics: []result.Metric{{Name: "throughput", Unit: "bit/s", Better: "higher"}},
			}
			for block := range 6 {
				cell.Samples = append(cell.Samples, result.Sample{Block: block, Metrics: map[string]float64{"throughput": 1e10 + 1e9*flows + 1e6*float64(block)}})
			}
			res.Cells = append(res.Cells, cell)
		}
	}
	grown := Growths(res)
	if len(grown) != 2 {
		t.Fatalf("%d growths: %+v", len(grown), grown)
	}
	for n, name := range []string{catalog.Baseline, "bridge"} {
		labtest.Equal(t, "network", grown[n].Network, name)
		labtest.Equal(t, "shape of "+name, grown[n].Shape, "linear")
		labtest.Equal(t, "points of "+name, len(grown[n].Points), 4)
		labtest.Equal(t, "metric of "+name, grown[n].Metric, "throughput")
	}
	if res.Plan.Sweep = ""; len(Growths(res)) != 0 {
		t.Error("what was not swept grows")
	}
}
