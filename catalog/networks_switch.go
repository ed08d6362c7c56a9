package catalog

import (
	"strconv"

	"tare/wire"
)

// switchNetworks have Open vSwitch on each host.
func switchNetworks() []Network {
	return []Network{
		{
			Name: "ovs", Called: []string{"openvswitch", "open-vswitch"}, Parent: "veth", Fidelity: Product, IPv6: true, Outside: true,
			Doc:     "Open vSwitch per host, with the underlay's interface in it",
			Facts:   Facts{NeedsL2: true, Kernel: "openvswitch"},
			Paths:   []string{SameHost, ContainerToOwnHost, CrossHost, HostToContainer},
			Missing: "Open vSwitch", Get: "apt-get install openvswitch-switch",
		},
		{
			Name: "ovs-vlan", Parent: "ovs", Fidelity: Product, IPv6: true,
			Doc:   "Open vSwitch per host, VLAN " + strconv.Itoa(VLANID) + " on access ports and a trunk between hosts",
			Facts: Facts{NeedsL2: true, Kernel: "openvswitch"}, Stack: wire.VLAN(),
			Paths:   []string{SameHost, CrossHost},
			Missing: "Open vSwitch", Get: "apt-get install openvswitch-switch",
		},
		{
			Name: "ovs-vxlan", Parent: "ovs", Fidelity: Product, IPv6: true,
			Doc:   "Open vSwitch per host, VXLAN between them, container MTU = underlay - 50",
			Facts: Facts{Kernel: "openvswitch"}, Stack: wire.VXLAN(),
			Paths:   []string{SameHost, CrossHost},
			Missing: "Open vSwitch", Get: "apt-get install openvswitch-switch",
			Params: []Param{{
				Name: Openflow, Doc: "how Open vSwitch forwards: as a switch, or by a rule for each pair of addresses",
				Values: []string{OpenflowNormal, OpenflowExplicit}, List: true,
			}},
		},
		{
			Name: "ovs-multitable", Published: []string{"openshift-ovs"}, Parent: "ovs-vxlan", Fidelity: Product,
			Doc:   "Open vSwitch and VXLAN, tables of OpenFlow rules in the shape of OpenShift's SDN",
			Facts: Facts{Policy: true, Kernel: "openvswitch"}, Stack: wire.VXLAN(),
			Paths:   []string{SameHost, CrossHost},
			Missing: "Open vSwitch", Get: "apt-get install openvswitch-switch",
		},
		{
			Name: "ovn", Parent: "ovs-vxlan", Fidelity: Product, IPv6: true,
			Doc:   "OVN's logical switch, Geneve between hosts, container MTU = underlay - 58",
			Facts: Facts{Policy: true, Kernel: "openvswitch"}, Stack: wire.OVN(),
			Paths:   []string{SameHost, CrossHost},
			Missing: "Open vSwitch and OVN", Get: "apt-get install openvswitch-switch ovn-central ovn-host",
		},
		{
			Name: "docker-ovs", Parent: "docker-host", Fidelity: Product, Outside: true, Runtime: Docker,
			Doc:     "Docker containers without a network, on ports of Open vSwitch as ovs-docker adds them",
			Facts:   Facts{NeedsL2: true, Kernel: "openvswitch"},
			Paths:   []string{SameHost, ContainerToOwnHost, CrossHost, HostToContainer},
			Missing: "what dockerd needs of the kernel", Get: "modprobe -a overlay bridge veth nft_compat",
			Params: []Param{dockerVersion()},
		},
	}
}
