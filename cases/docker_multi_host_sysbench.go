package cases

import (
	"tare/catalog"
	"tare/result"
)

// dockerSysbench is Docker's multi-host networks under selects of one row by its
// key, by sysbench.
func dockerSysbench() Case {
	selects := spot{experiment: "selects", path: catalog.CrossHost, workload: "mysql", metric: "rate"}
	published := selects.on("docker-nat").along(catalog.PublishedPort)
	bridged := selects.on("docker-nat").along(catalog.ContainerToPublishedPort)
	return Case{
		ID: "docker-multi-host-sysbench", Doc: "Docker's bridge, overlay, weave and Calico under MySQL selects",
		Experiments: []Experiment{
			{"selects", "MariaDB on one host, sixteen connections from the other", result.Plan{
				Networks: result.NetworksNamed(catalog.Baseline, "nat", "docker-nat", "docker-overlay", "bgp", "tun-udp"),
				Paths:    []string{catalog.CrossHost, catalog.PublishedPort, catalog.ContainerToPublishedPort},
				Workloads: []result.WorkloadPlan{
					{Name: "mysql", Flows: 16},
				},
				Axes: result.PlanAxes{"link": {10 * gbit}}, Blocks: 20, Duration: 0.5,
			}},
		},
		Place: func(f figure, s *spot) {
			if f.Network == "docker-nat" {
				s.path = catalog.PublishedPort
			}
		},
		Claims: []claim{
			{text: "bridge with a forwarded port costs about 12 %", toll: &span{published, 0.12, 0.12}},
			{text: "is that toll Docker's or the Linux bridge's", judge: whose(published, published.on("nat"),
				"it is the Linux bridge's and its NAT's", "a part of it is Docker's")},
			{text: "the native overlay pins one core at 100 % in ksoftirqd; host and bridge do not", judge: every(
				fillsCPU(selects.on("docker-overlay"), true), fillsCPU(selects.host(), false), fillsCPU(published, false),
			)},
			{text: "weave is very slow and its container uses many cores: it does not scale", judge: every(
				worse(selects.on("tun-udp"), selects.host()), worse(selects.on("tun-udp"), selects.on("docker-overlay")),
			)},
			{text: "the Calico plug-in is the fastest multi-host network, faster than bridge to bridge", judge: every(
				worse(selects.on("docker-overlay"), selects.on("bgp")), worse(bridged, selects.on("bgp")),
			)},
		},
		Candidates: []spot{selects.on("bgp"), selects.on("docker-overlay"), selects.on("tun-udp"), bridged},
	}
}
