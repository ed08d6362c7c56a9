package cases

import (
	"tare/catalog"
	"tare/result"
)

// containerdBridge is containerd with CNI's bridge between two nodes, by iperf3,
// autocannon and containerd-stress, one run each.
func containerdBridge() Case {
	const name = "containerd-bridge"
	bulk := spot{experiment: "nodes", network: name, path: catalog.CrossHost, workload: "tcp_stream", metric: "throughput"}
	web := spot{experiment: "nodes", network: name, path: catalog.CrossHost, workload: "http", metric: "rate"}
	return Case{
		ID: "containerd-linux-bridge", Doc: "containerd and CNI's bridge against the host: TCP, HTTP, containers per second",
		Experiments: []Experiment{
			{"nodes", "two nodes, TCP and ten HTTP connections", result.Plan{
				Networks: result.NetworksNamed(catalog.Baseline, name), Paths: []string{catalog.CrossHost},
				Workloads: []result.WorkloadPlan{{Name: "tcp_stream"}, {Name: "http", Flows: 10}}, Blocks: 30, Duration: 0.5,
			}},
			{"stress", "ten workers that make containers without a network", result.Plan{
				Networks: result.NetworksNamed(catalog.Baseline, name), Paths: []string{catalog.SameHost},
				Workloads: []result.WorkloadPlan{{Name: "lifecycle", Flows: 10}}, Blocks: 6, Duration: 2,
			}},
		},
		Place: func(f figure, s *spot) {
			if f.Workload == "lifecycle" {
				s.experiment, s.path = "stress", catalog.NoNetwork
			}
		},
		Claims: []claim{
			{text: "throughput toll 6.7 %", toll: &span{bulk, 0.067, 0.067}},
			{text: "HTTP mean latency toll 5.8 %", toll: &span{web.of("latency_mean"), 0.058, 0.058}},
			{text: "HTTP request-rate toll 8.5 %", toll: &span{web, 0.085, 0.085}},
		},
		Candidates: []spot{web},
	}
}
