package catalog

import (
	"strconv"

	"tare/wire"
)

// switchNetworks have Open vSwitch on each host.
func switchNetworks() []Network {
	return []Network{
		{
			Name:     "ovs",
			Doc:      "Open vSwitch per host, with the underlay's interface in it",
			Parent:   "veth",
			Fidelity: Product,
			Facts:    Facts{NeedsL2: true, Kernel: "openvswitch"},
			Outside:  true,
			Paths:    []string{SameHost, ContainerToOwnHost, CrossHost, HostToContainer},
			IPv6:     true,
			Missing:  "Open vSwitch",
			Get:      "apt-get install openvswitch-switch",
		},
		{
			Name:     "ovs-vlan",
			Doc:      "Open vSwitch per host, VLAN " + strconv.Itoa(VLANID) + " on access ports and a trunk between hosts",
			Parent:   "ovs",
			Fidelity: Product,
			Facts:    Facts{NeedsL2: true, Kernel: "openvswitch"},
			Stack:    wire.VLAN(),
			Paths:    []string{SameHost, CrossHost},
			IPv6:     true,
			Missing:  "Open vSwitch",
			Get:      "apt-get install openvswitch-switch",
		},
		{
			Name:     "ovs-vxlan",
			Doc:      "Open vSwitch per host, VXLAN between them, container MTU = underlay - 50",
			Parent:   "ovs",
			Fidelity: Product,
			Facts:    Facts{Kernel: "openvswitch"},
			Stack:    wire.VXLAN(),
			Paths:    []string{SameHost, CrossHost},
			IPv6:     true,
			Missing:  "Open vSwitch",
			Get:      "apt-get install openvswitch-switch",
			Params: []Param{{
				Name: Openflow, Doc: "how Open vSwitch forwards: as a switch, or by a rule for each pair of addresses",
				Values: []string{OpenflowNormal, OpenflowExplicit}, List: true,
			}},
		},
		{
			Name:     "ovs-multitable",
			Doc:      "Open vSwitch and VXLAN, tables of OpenFlow rules in the shape of OpenShift's SDN",
			Parent:   "ovs-vxlan",
			Fidelity: Product,
			Facts:    Facts{Policy: true, Kernel: "openvswitch"},
			Stack:    wire.VXLAN(),
			Paths:    []string{SameHost, CrossHost},
			Missing:  "Open vSwitch",
			Get:      "apt-get install openvswitch-switch",
		},
		{
			Name:     "ovn",
			Doc:      "OVN's logical switch, Geneve between hosts, container MTU = underlay - 58",
			Parent:   "ovs-vxlan",
			Fidelity: Product,
			Facts:    Facts{Policy: true, Kernel: "openvswitch"},
			Stack:    wire.OVN(),
			Paths:    []string{SameHost, CrossHost},
			IPv6:     true,
			Missing:  "Open vSwitch and OVN",
			Get:      "apt-get install openvswitch-switch ovn-central ovn-host",
		},
		{
			Name:     "docker-ovs",
			Doc:      "Docker containers without a network, on ports of Open vSwitch as ovs-docker adds them",
			Parent:   "docker-host",
			Fidelity: Product,
			Facts:    Facts{NeedsL2: true, Kernel: "openvswitch"},
			Outside:  true,
			Paths:    []string{SameHost, ContainerToOwnHost, CrossHost, HostToContainer},
			Runtime:  Docker,
			Missing:  "what dockerd needs of the kernel",
			Get:      "modprobe -a overlay bridge veth nft_compat",
		},
	}
}
