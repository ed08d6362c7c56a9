package catalog

import (
	"strconv"

	"tare/wire"
)

// vlanNetworks carry VLAN 701 on the underlay.
func vlanNetworks() []Network {
	return []Network{
		{
			Name:     "vlan",
			Doc:      "macvlan on VLAN " + strconv.Itoa(VLANID) + " of the underlay",
			Parent:   "macvlan",
			Fidelity: SamePath,
			Facts:    Facts{NeedsL2: true, Kernel: "8021q"},
			Stack:    wire.VLAN(),
			Paths:    []string{SameHost, CrossHost},
			IPv6:     true,
			Missing:  "VLAN devices",
			Get:      "modprobe 8021q",
		},
		{
			Name:     "bridge-vlan",
			Doc:      "bridge per host with VLAN " + strconv.Itoa(VLANID) + " of the underlay as its uplink",
			Parent:   "bridge",
			Fidelity: SamePath,
			Facts:    Facts{NeedsL2: true, Kernel: "8021q"},
			Stack:    wire.VLAN(),
			Paths:    []string{SameHost, CrossHost, HostToContainer},
			IPv6:     true,
			Missing:  "VLAN devices",
			Get:      "modprobe 8021q",
		},
		{
			Name:     "macnat",
			Doc:      "bridge-vlan, one MAC address per host: a rewriting rule per container, measured on the last (rama with MAC NAT)",
			Parent:   "bridge-vlan",
			Fidelity: SamePath,
			Facts:    Facts{NeedsL2: true, Kernel: "8021q"},
			Stack:    wire.VLAN(),
			Paths:    []string{SameHost, CrossHost, HostToContainer},
			Missing:  "nftables rules of bridges",
			Get:      "modprobe nf_tables_bridge",
		},
	}
}
