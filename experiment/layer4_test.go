package experiment

import (
	"math"
	"slices"
	"testing"

	"tare/result"
)

// TestLayer4PredictsAnApplicationsToll weighs an application whose transactions
// wait one round trip and 1000 bytes each: what its toll is beyond that is the
// rest.
func TestLayer4PredictsAnApplicationsToll(t *testing.T) {
	plan := Complete(result.Plan{
		Networks: result.NetworksNamed("host", "vxlan"), Paths: []string{"cross-host"},
		Workloads: []result.WorkloadPlan{{Name: "http", Size: 1000, Flows: 4}}, Blocks: 6,
	})
	var names []string
	for _, w := range plan.Workloads {
		names = append(names, w.Name)
	}
	if !slices.Equal(names, []string{"http", "tcp_rr", "tcp_stream"}) {
		t.Fatalf("the plan measures %v: layer 4 must be measured with an application", names)
	}
	if w := plan.Workloads; w[0].Explains || !w[1].Explains || !w[2].Explains {
		t.Fatalf("the plan has %+v: what explains http was not asked for", w)
	}
	r := synthetic(t, plan)
	// The network adds 20 us to a round trip and 2 us to 1000 bytes; the
	// application's transactions take 100 us on the host and 130 us there, so 8 us
	// are its own.
	feed(r, plan.Blocks, func(_ int, g group, p place) (result.Sample, bool) {
		host := p.layout != ""
		m := map[string]map[bool]map[string]float64{
			"tcp_rr":     {true: {"rtt_p50": 30e-6}, false: {"rtt_p50": 50e-6}},
			"tcp_stream": {true: {"throughput": 4e9}, false: {"throughput": 2e9}},
			"http":       {true: {"rate": 4 / 100e-6, "latency_p50": 100e-6, "latency_p99": 1e-3}, false: {"rate": 4 / 130e-6, "latency_p50": 130e-6, "latency_p99": 2e-3}},
		}[g.workload.Name][host]
		return result.Sample{Metrics: m, Counters: map[string]float64{}}, true
	})
	r.weigh()
	seen := 0
	for _, cell := range r.res.Cells {
		for _, m := range cell.Metrics {
			want, has := map[string]result.Layer4{
				"rate":        {RoundTrip: 20e-6, Bytes: 2e-6, Predicted: 22.0 / 122, Rest: 30.0/130 - 22.0/122},
				"latency_p50": {RoundTrip: 20e-6, Bytes: 2e-6, Predicted: 0.22, Rest: 0.08},
			}[m.Name]
			if !has || cell.Workload != "http" || cell.Network != "vxlan" {
				if m.Layer4 != nil {
					t.Errorf("%s of %s under %s: layer 4 predicts %+v of a metric that it does not affect", m.Name, cell.Network, cell.Workload, *m.Layer4)
				}
				continue
			}
			seen++
			if m.Layer4 == nil {
				t.Errorf("%s: nothing is predicted", m.Name)
				continue
			}
			for what, pair := range map[string][2]float64{
				"round trip": {m.Layer4.RoundTrip, want.RoundTrip}, "bytes": {m.Layer4.Bytes, want.Bytes},
				"predicted": {m.Layer4.Predicted, want.Predicted}, "rest": {m.Layer4.Rest, want.Rest},
			} {
				if math.Abs(pair[0]-pair[1]) > 1e-9+1e-6*math.Abs(pair[1]) {
					t.Errorf("%s: %s is %v, want %v", m.Name, what, pair[0], pair[1])
				}
			}
		}
	}
	if seen < 2 {
		t.Errorf("%d metrics of the application were weighed, want two", seen)
	}
}

// TestLayer4PredictsTheTollOfDatagrams weighs an application over UDP, whose transactions
// wait one round trip of UDP.
func TestLayer4PredictsTheTollOfDatagrams(t *testing.T) {
	plan := Complete(result.Plan{
		Networks: result.NetworksNamed("host", "vxlan"), Paths: []string{"cross-host"},
		Workloads: []result.WorkloadPlan{{Name: "dns", Flows: 1}}, Blocks: 6,
	})
	if names := result.Names(plan.Workloads, func(w result.WorkloadPlan) string { return w.Name }); !slices.Equal(names, []string{"dns", "udp_rr"}) {
		t.Fatalf("the plan measures %v: its round trips must be measured with an application", names)
	}
	r := synthetic(t, plan)
	feed(r, plan.Blocks, func(_ int, g group, p place) (result.Sample, bool) {
		m := map[string]map[bool]map[string]float64{
			"udp_rr": {true: {"rtt_p50": 30e-6}, false: {"rtt_p50": 50e-6}},
			"dns":    {true: {"latency_p50": 100e-6}, false: {"latency_p50": 130e-6}},
		}[g.workload.Name][p.layout != ""]
		return result.Sample{Metrics: m, Counters: map[string]float64{}}, true
	})
	r.weigh()
	for _, cell := range r.res.Cells {
		if cell.Workload != "dns" || cell.Network != "vxlan" {
			continue
		}
		for _, m := range cell.Metrics {
			if m.Name == "latency_p50" && m.Layer4 != nil && m.Layer4.Bytes == 0 && math.Abs(m.Layer4.Predicted-0.2) < 1e-9 && math.Abs(m.Layer4.Rest-0.1) < 1e-9 {
				return
			}
		}
		t.Errorf("20 of 30 us are the round trip's: %+v", cell.Metrics)
	}
}
