package cases

import (
	"tare/catalog"
	"tare/result"
)

// dockerBridgeOVSOverlay is Docker's bridge, Open vSwitch, Swarm's overlay and
// Open vSwitch's on two kinds of CPU, by iperf3.
func dockerBridgeOVSOverlay() Case {
	within := spot{experiment: "pinned", path: catalog.SameHost, workload: "tcp_stream", metric: "throughput"}
	across := spot{experiment: "overlay", network: "docker-overlay", path: catalog.CrossHost, workload: "tcp_stream", metric: "throughput"}
	swing := within.on("docker-bridge").of("throughput_cv")
	loose := swing
	loose.experiment = "unpinned"
	onOneHost := result.Plan{
		Networks: result.NetworksNamed(catalog.Baseline, "docker-bridge", "ovs"), Paths: []string{catalog.SameHost},
		Workloads: []result.WorkloadPlan{{Name: "tcp_stream"}}, Duration: 1,
		Design: result.DesignWindows, // slots are too short to swing
	}
	pinned, unpinned := onOneHost, onOneHost
	pinned.Axes, unpinned.Axes = result.PlanAxes{"pin": {catalog.PinApart}}, result.PlanAxes{"pin": {catalog.PinNone}}
	return Case{
		ID: "docker-bridge-ovs-overlay", Doc: "Docker's bridge, Open vSwitch and two overlays on Kunpeng 920 and Intel 6248",
		Experiments: []Experiment{
			{"pinned", "two containers of one host, their processes bound to CPUs", pinned},
			{"unpinned", "the same, free to move between CPUs", unpinned},
			{"overlay", "two hosts on a link of 1 Gbit/s", result.Plan{
				Networks: result.NetworksNamed(catalog.Baseline, "docker-overlay", "ovs-vxlan"), Paths: []string{catalog.CrossHost},
				Workloads: []result.WorkloadPlan{
					{Name: "tcp_stream"}, {Name: "udp_stream", Size: 8192, Rate: result.Rate{Value: 920 * mbit, Unit: catalog.PayloadBits}},
				},
				Axes: result.PlanAxes{"link": {gbit}}, Duration: 0.5,
			}},
		},
		Place: func(f figure, s *spot) {
			switch {
			case f.Path == catalog.CrossHost:
				s.experiment = "overlay"
			case f.Pinned != nil && !*f.Pinned:
				s.experiment = "unpinned"
			}
		},
		Claims: []claim{
			{
				text:  "unpinned, sender and receiver move between cores on Kunpeng and throughput swings between 13 and 35 Gbit/s; pinned it is steady",
				judge: only("Kunpeng", worse(loose, swing)),
			},
			{text: "Open vSwitch is faster than the Linux bridge on the same host", judge: worse(within.on("docker-bridge"), within.on("ovs"))},
			{text: "on Intel the processes stay where they are without pinning", judge: only("Intel", noBetter(swing, loose))},
			{text: "across hosts the overlay is held by the 1 Gbit/s link", judge: heldByLink(across)},
		},
		Candidates: []spot{across, across.on("ovs-vxlan")},
	}
}
