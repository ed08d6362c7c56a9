package catalog

import "tare/wire"

// adapterNetworks need an adapter, or a device upon one, that machines often lack.
func adapterNetworks() []Network {
	return []Network{
		{
			Name: "ipvlan", Parent: Baseline, Fidelity: SamePath, IPv6: true, Outside: true,
			Doc:     "ipvlan on the underlay, L2 mode",
			Facts:   Facts{NeedsL2: true, Kernel: "ipvlan"},
			Paths:   []string{SameHost, CrossHost},
			Missing: "ipvlan devices", Get: "modprobe ipvlan",
		},
		{
			Name: "sr-iov", Parent: Baseline, Fidelity: Product,
			Doc:     "a virtual function of a real adapter per container, taken from this machine by --vf",
			Facts:   Facts{NeedsL2: true},
			Paths:   []string{SameHost, CrossHost},
			Missing: "virtual functions of an SR-IOV adapter", Get: "echo 2 > /sys/class/net/NIC/device/sriov_numvfs",
			Params: []Param{{
				Name: VF, Doc: "PCI addresses of the virtual functions for the containers: h1/c1, h2/c1, h1/c2 and so on", Typed: true,
			}},
		},
		{
			Name: "havs", Published: []string{"havs-vlan"}, Parent: Baseline, Fidelity: Product,
			Doc:   "Huawei's HAVS with VLAN, closed source: published figures only",
			Facts: Facts{NeedsL2: true, Kernel: "8021q"}, Stack: wire.VLAN(),
			Paths:   []string{CrossHost},
			Missing: "HAVS", Get: "nothing to get: docs/networks/havs.md has its published figures",
		},
	}
}
