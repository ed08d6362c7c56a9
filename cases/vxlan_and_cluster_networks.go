package cases

import (
	"strconv"

	"tare/catalog"
	"tare/result"
)

// The names of the articles' experiments.
const (
	overSlowLink = "vxlan"
	overLinks    = "links"
	dockerModes  = "docker-modes"
	plugIns      = "rama"
	packets      = "pps"
)

// slow is about the rate of the link between the article's virtual machines: its
// highest figures are 0.42 (iperf3) and 0.46 (qperf) Gbit/s.
const slow = 400 * mbit

// withinHost is the network that carries VXLAN's containers on one host.
const withinHost = "bridge"

// podsPerNode is as published: 50 pods on two nodes.
const podsPerNode = 25

// vxlanAndClusterNetworks is four experiments of one series: VXLAN by iperf3 and
// qperf, Docker's modes on two platforms, plug-ins of a cluster by message size,
// and packets per second.
func vxlanAndClusterNetworks() Case {
	return Case{
		ID: "vxlan-and-cluster-networks", Doc: "VXLAN, Docker's modes, rama, Calico and flannel, packets per second",
		Experiments: vxlanExperiments(),
		Place:       placeVXLAN,
		Claims:      vxlanClaims(),
		Candidates: []spot{
			plugIn("bgp"), plugIn("flannel-vxlan"), plugIn("bridge-vlan"), plugIn("macnat"),
		},
	}
}

func vxlanExperiments() []Experiment {
	vxlan, bridged := result.NetworksNamed(catalog.Baseline, "vxlan"), result.NetworksNamed(catalog.Baseline, withinHost, "vxlan")
	bulk := []result.WorkloadPlan{{Name: "tcp_stream"}}
	return []Experiment{
		{overSlowLink, "VXLAN on a slow link, by message size, sent as by qperf", result.Plan{
			Networks: bridged, Paths: []string{catalog.SameHost, catalog.ContainerToOwnHost, catalog.CrossHost, catalog.HostToContainer},
			Workloads: append(bulk, result.WorkloadPlan{Name: sweep, Mode: "nagle", Sizes: "1:4K:*2"}), Axes: result.PlanAxes{"link": {slow}}, Duration: 0.7,
		}},
		{overLinks, "VXLAN on three links, to see whether a faster link widens the gap", result.Plan{
			Networks: vxlan, Paths: []string{catalog.CrossHost}, Workloads: bulk, Axes: result.PlanAxes{"link": {slow, gbit, 10 * gbit}}, Duration: 0.3,
		}},
		{dockerModes, "Docker's modes, forty round trips at the same time", result.Plan{
			Networks: result.NetworksNamed(catalog.Baseline, "docker-host", "docker-nat", "docker-proxy", "bridge-vlan", "ovs-vlan", "havs"),
			Paths:    []string{catalog.CrossHost, catalog.PublishedPort}, Workloads: []result.WorkloadPlan{{Name: "tcp_rr", Flows: 40}}, Blocks: 20, Duration: 0.4,
		}},
		{plugIns, "plug-ins of a cluster by message size, fifty pods on two nodes", result.Plan{
			Networks: crowded("bridge-vlan", "macnat", "bgp", "flannel-vxlan"), Paths: []string{catalog.CrossHost},
			Workloads: []result.WorkloadPlan{{Name: sweep, Mode: "nagle", Sizes: "64,512,1024,2048,4096,16384,32678,64512,65507"}},
			Axes:      result.PlanAxes{"link": {fast}}, Blocks: 16, Duration: 0.9,
		}},
		{packets, "datagrams of the smallest size that tare sends", result.Plan{
			Networks: result.NetworksNamed(catalog.Baseline), Paths: []string{catalog.CrossHost},
			Workloads: []result.WorkloadPlan{{Name: "udp_pps", Size: leastDatagram, Flows: 16}, {Name: "udp_load", Size: leastDatagram}}, Duration: 0.5,
		}},
	}
}

// leastDatagram is the smallest datagram that tare sends, in bytes; the article's
// have 16.
const leastDatagram = 32

// crowded are the baseline and networks with as many containers as published, and
// macnat also with one container for each node.
func crowded(names ...string) []result.NetworkPlan {
	plans := result.NetworksNamed(append([]string{catalog.Baseline}, names...)...)
	for n := range plans[1:] {
		plans[n+1].Params = manyPods()
	}
	lonely := result.NetworkPlan{Name: "macnat", Params: onePod()}
	return append(plans, lonely)
}

func manyPods() result.Settings { return pods(podsPerNode) }

// onePod is the smallest number with a path between hosts.
func onePod() result.Settings { return pods(1) }

func pods(n int) result.Settings {
	return result.MakeSettings(map[string]string{catalog.Containers: strconv.Itoa(n)})
}

// plugIn is the goodput of a plug-in with messages of 64 KiB.
func plugIn(name string) spot {
	return spot{experiment: plugIns, network: name, path: catalog.CrossHost, workload: sweep, metric: "throughput", size: 65507, params: manyPods()}
}

// mode is the rate of round trips of one of Docker's modes.
func mode(name, path string) spot {
	return spot{experiment: dockerModes, network: name, path: path, workload: "tcp_rr", metric: "rate"}
}

func placeVXLAN(f figure, s *spot) {
	switch f.Experiment {
	case overSlowLink:
		if s.path == catalog.ContainerToOwnHost {
			s.network = withinHost
		}
		if s.workload == "tcp_rr" { // qperf's default is a byte
			s.workload, s.metric, s.size = sweep, "rtt_p50", 1
		}
	case dockerModes:
		if f.Network == "docker-nat" || f.Network == "docker-proxy" {
			s.path = catalog.PublishedPort
		}
	case plugIns:
		if f.Network != catalog.Baseline {
			s.params = manyPods()
		}
	case packets:
		s.size = 0
	}
}

func vxlanClaims() []claim {
	bulk := spot{experiment: overSlowLink, network: "vxlan", path: catalog.CrossHost, workload: "tcp_stream", metric: "throughput"}
	messages := spot{experiment: overSlowLink, network: "vxlan", path: catalog.CrossHost, workload: sweep, metric: "throughput"}
	links := bulk
	links.experiment = overLinks
	knee := spot{experiment: packets, network: catalog.Baseline, path: catalog.CrossHost, workload: "udp_load", metric: "rate"}
	lonely := plugIn("macnat")
	lonely.params = onePod()
	bridged, switched, closed := mode("bridge-vlan", catalog.CrossHost), mode("ovs-vlan", catalog.CrossHost), mode("havs", catalog.CrossHost)
	return []claim{
		{text: "container to its own host is as fast as two containers of one host", judge: alike(bulk.on(withinHost).along(catalog.ContainerToOwnHost), bulk.on(withinHost).along(catalog.SameHost))},
		{text: "iperf3 bulk throughput over VXLAN is the host's, nearly without loss", judge: atMost(bulk, nearlyNothing)},
		{text: "qperf throughput over VXLAN is 60-80 % of the host's", judge: mostSizes(span{messages, 0.2, 0.4}, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)},
		{text: "for one-byte messages 60-65 %", toll: &span{messages.at(1), 0.35, 0.40}},
		{text: "the gap widens on a faster link", judge: widens(links, slow, gbit, 10*gbit)},
		{text: "docker-proxy costs 307.94 % (6U) and 237.69 % (7U)", toll: &span{mode("docker-proxy", catalog.PublishedPort), 0.704, 0.755}},
		{text: "NAT by iptables costs 42.56 % (6U) and 16.19 % (7U)", toll: &span{mode("docker-nat", catalog.PublishedPort), 0.139, 0.299}},
		{text: "VLAN under bridge, OVS or HAVS costs 107-117 % (6U) and 8-12 % (7U), the older kernel's part to a spin lock", toll: &span{bridged, 0.07, 0.54}},
		{text: "bridge, OVS and HAVS are about equal", judge: every(alike(bridged, switched), alike(bridged, closed))},
		{text: "docker-host costs 26 % and 1830 us", toll: &span{mode("docker-host", catalog.CrossHost), 0.26, 0.26}},
		{
			text: "above 4096 bytes each plug-in is at its maximum: host > rama without MAC NAT > rama with MAC NAT ~ calico-bgp > flannel-vxlan",
			judge: every(
				worse(plugIn("flannel-vxlan"), plugIn("bgp")), worse(plugIn("bridge-vlan"), plugIn("bridge-vlan").host()),
				worse(plugIn("macnat"), plugIn("bridge-vlan")), alike(plugIn("macnat"), plugIn("bgp")),
			),
		},
		{text: "latency of rama and calico is slightly above the host's, slightly below flannel's", judge: every(
			worse(roundTrip("bgp"), roundTrip("bgp").host()), worse(roundTrip("flannel-vxlan"), roundTrip("bgp")),
			worse(roundTrip("bridge-vlan"), roundTrip("bridge-vlan").host()),
		)},
		{text: "MAC NAT's cost depends on the number of pods per node", judge: worse(plugIn("macnat"), lonely)},
		{
			text:  "1.6 M packets/s leaves softirq almost idle, 3.2 M drives it to 100 % with heavy loss; so on every kernel tried",
			judge: never("one CPU for each host carries fewer packets, and the article's instance is rated at 6 M packets/s", knee, knee.with("udp_pps")),
		},
		{text: "SR-IOV is left for later", judge: never("it claims nothing: tare weighs sr-iov if an adapter has virtual functions (--vf)")},
	}
}

// roundTrip is that of a plug-in with messages of 64 bytes.
func roundTrip(name string) spot { return plugIn(name).of("rtt_p50").at(64) }
