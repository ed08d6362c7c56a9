package experiment

import (
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
)

func TestCeilingsAndTollParts(t *testing.T) {
	const link = 1e9
	host, vxlan := 1448.0/1538, 1398.0/1538 // see package wire
	plan := vxlanPlan("tcp_stream")
	plan.Axes = plan.Axes.With("link", float64(link))
	plan.Paths = []string{catalog.SameHost, catalog.CrossHost}
	r := synthetic(t, Complete(plan))
	feed(r, 8, exactly(map[string]map[string]float64{
		"host a": {"throughput": 0.94 * link, "retransmits": 1}, "host b": {"throughput": 0.94 * link}, "vxlan": {"throughput": 0.752 * link, "retransmits": 2},
	}))
	r.weigh()
	for _, c := range r.res.Cells {
		for _, m := range c.Metrics {
			if (m.Ceiling != nil) != (m.Name == "throughput" && c.Path == catalog.CrossHost) {
				t.Errorf("%s of %s on %s: ceiling %+v", m.Name, c.Network, c.Path, m.Ceiling)
			}
			if (m.TollParts != nil) != (m.Ceiling != nil && c.Network == "vxlan") {
				t.Errorf("%s of %s on %s: parts %+v", m.Name, c.Network, c.Path, m.TollParts)
			}
			if m.Ceiling == nil {
				continue
			}
			want := map[string]float64{"host": host, "vxlan": vxlan}[c.Network] * link
			if !near(m.Ceiling.Value, want, 1) || !near(m.Ceiling.Ratio, m.Value/want, 1e-9) {
				t.Errorf("ceiling of %s: %+v, want %v", c.Network, m.Ceiling, want)
			}
			if p := m.TollParts; p != nil && (!near(p.Framing, 1-vxlan/host, 1e-9) || !near(p.Framing+p.Processing, 0.2, 1e-9)) {
				t.Errorf("parts of %v: %+v", m.Toll.Value, p)
			}
		}
	}
}

func TestCeilingOfDatagrams(t *testing.T) {
	plan := vxlanPlan("udp_stream")
	plan.Axes = plan.Axes.With("link", 1e9)
	r := synthetic(t, Complete(plan))
	feed(r, 8, exactly(map[string]map[string]float64{
		"host a": {"throughput": 1e8}, "host b": {"throughput": 1e8}, "vxlan": {"throughput": 1e8},
	}))
	r.weigh()
	for net, want := range map[string]float64{"host": 1400.0 / (1400 + 28 + 38), "vxlan": 1400.0 / (1400 + 28 + 38 + 50)} {
		if m := weighed(t, r, net, "throughput"); m.Ceiling == nil || !near(m.Ceiling.Value, want*1e9, 1) {
			t.Errorf("ceiling of %s: %+v, want %v", net, m.Ceiling, want*1e9)
		}
	}
}

func TestNoCeilingWithoutALink(t *testing.T) {
	r := synthetic(t, vxlanPlan("tcp_stream"))
	feed(r, 8, noisy(1, "throughput", 1e10, 0.01, 0.9))
	r.weigh()
	if m := weighed(t, r, "vxlan", "throughput"); m.Ceiling != nil || m.TollParts != nil {
		t.Errorf("as fast as the CPU: %+v", m)
	}
}

// cpu makes samples of one window each, with CPU time and work.
func cpu(window, work float64, busy func(place) float64) func(int, group, place) (result.Sample, bool) {
	return func(_ int, _ group, p place) (result.Sample, bool) {
		return result.Sample{
			Metrics:  map[string]float64{"throughput": 1e9, "rate": 1e3},
			Counters: map[string]float64{"window": window, "work": work, "cpu_busy": busy(p)},
		}, true
	}
}

func TestCPUCost(t *testing.T) {
	dearer := func(p place) float64 {
		if p.layout == "" {
			return 0.06
		}
		return 0.04
	}
	for workload, name := range map[string]string{"tcp_stream": "cpu_per_gbit", "tcp_crr": "cpu_per_transaction"} {
		r := synthetic(t, vxlanPlan(workload))
		feed(r, 10, cpu(0.06, 0.5, dearer))
		r.weigh()
		m, toll := tolled(t, r, "vxlan", name)
		labtest.Near(t, name, m.Value, 0.12, 1e-9)
		labtest.Near(t, name+" of the baseline", m.Baseline.Value, 0.08, 1e-9)
		labtest.Equal(t, "unit of "+name, m.Unit, "s")
		labtest.NotEqual(t, "low end of "+name, m.Low, nil)
		labtest.Near(t, "toll of "+name, toll.Value, 0.5, 1e-9)
	}
}

// TestCPUCostIsARatioOfSums weighs a block by its work.
func TestCPUCostIsARatioOfSums(t *testing.T) {
	r := synthetic(t, vxlanPlan("tcp_stream"))
	feed(r, 10, func(block int, g group, p place) (result.Sample, bool) {
		work := 1.0
		if block == 0 {
			work = 91
		}
		s, ok := cpu(0.06, work, func(place) float64 { return 0.01 })(block, g, p)
		return s, ok
	})
	r.weigh()
	if m := weighed(t, r, "vxlan", "cpu_per_gbit"); !near(m.Value, 0.1/100, 1e-9) {
		t.Errorf("cost %v, want %v", m.Value, 0.1/100)
	}
}

func TestCPUCostNeedsHalfASecond(t *testing.T) {
	for _, test := range []struct {
		window float64
		want   bool
	}{{0.049, false}, {0.051, true}} {
		r := synthetic(t, vxlanPlan("tcp_stream"))
		feed(r, 10, cpu(test.window, 0.5, func(place) float64 { return 0.02 }))
		r.weigh()
		if _, ok := find(r, "vxlan", "cpu_per_gbit"); ok != test.want {
			t.Errorf("ten windows of %v s: has a cost: %t", test.window, ok)
		}
	}
}
