package cases

import (
	"tare/catalog"
	"tare/result"
)

// openshiftCalicoOVS is Calico's BGP compared with OpenShift's switch on virtual
// machines, by iperf3 and qperf, without a host as baseline.
func openshiftCalicoOVS() Case {
	const small, ovs = 64, "ovs-multitable"
	// calledLossless is by which share the article's own figure is below what the wire
	// carries.
	const calledLossless = 0.11
	bulk := spot{experiment: "cloud", network: "bgp", path: catalog.CrossHost, workload: "tcp_stream", metric: "throughput"}
	messages := spot{experiment: "cloud", network: "bgp", path: catalog.CrossHost, workload: sweep, metric: "throughput", size: small}
	return Case{
		ID: "openshift-calico-bgp-ovs", Doc: "Calico's BGP against OpenShift's Open vSwitch, by message size",
		Experiments: []Experiment{
			{"cloud", "two hosts on a link that bulk data fills, messages sent as by qperf", result.Plan{
				Networks: result.NetworksNamed(catalog.Baseline, "bgp", ovs), Paths: []string{catalog.CrossHost},
				Workloads: []result.WorkloadPlan{
					{Name: "tcp_stream"}, {Name: sweep, Mode: "nagle", Sizes: "8:256K:*2"},
				},
				Axes: result.PlanAxes{"link": {fast}}, Duration: 1.2,
			}},
		},
		Claims: []claim{
			{text: "for small messages Calico BGP has no bandwidth advantage and a higher latency", judge: every(
				noBetter(messages, messages.on(ovs)), worse(messages.of("rtt_p50"), messages.on(ovs).of("rtt_p50")),
			)},
			{text: "for large messages Calico BGP is clearly better than OVS", judge: every(
				worse(bulk.on(ovs), bulk), worse(messages.on(ovs).at(64<<10), messages.at(64<<10)),
			)},
			{text: "OVS loses nearly half of a 10 Gbit/s link", toll: &span{bulk.on(ovs), 0.4, 0.5}, ofLink: 10 * gbit},
			{text: "Calico BGP is almost lossless", judge: atMost(bulk, calledLossless)},
		},
		Candidates: []spot{bulk, bulk.on(ovs)},
	}
}
