package catalog

import (
	"strconv"

	"tare/wire"
)

// vlanNetworks carry VLAN 701 on the underlay.
func vlanNetworks() []Network {
	return []Network{
		{
			Name: "vlan", Parent: "macvlan", Fidelity: SamePath, IPv6: true,
			Doc:   "macvlan on VLAN " + strconv.Itoa(VLANID) + " of the underlay",
			Facts: Facts{NeedsL2: true, Kernel: "8021q"}, Stack: wire.VLAN(),
			Paths:   []string{SameHost, CrossHost},
			Missing: "VLAN devices", Get: "modprobe 8021q",
		},
		{
			Name: "bridge-vlan", Published: []string{"rama"}, Parent: "bridge", Fidelity: SamePath, IPv6: true,
			Doc:   "bridge per host with VLAN " + strconv.Itoa(VLANID) + " of the underlay as its uplink",
			Facts: Facts{NeedsL2: true, Kernel: "8021q"}, Stack: wire.VLAN(),
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "VLAN devices", Get: "modprobe 8021q",
		},
		{
			Name: "macnat", Published: []string{"rama-macnat"}, Parent: "bridge-vlan", Fidelity: SamePath,
			Doc:   "bridge-vlan, one MAC address per host: a rewriting rule per container, measured on the last (rama with MAC NAT)",
			Facts: Facts{NeedsL2: true, Kernel: "8021q"}, Stack: wire.VLAN(),
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "nftables rules of bridges", Get: "modprobe nf_tables_bridge",
		},
	}
}
