package network

import (
	"tare/engine"
	"tare/lab"
)

// The parameter for the layer of netkit devices, and its values.
const (
	netkitMode = "netkit_mode"
	netkitL3   = "l3"
	netkitL2   = "l2"
)

// getNetkit says how to get netkit devices.
const getNetkit = "Linux 6.7 or later with CONFIG_NETKIT"

// netkit is ebpfRedirect with netkit devices in place of veth, as in Cilium's mode of that
// name.
func netkit() Network {
	return Network{
		Name:     "netkit",
		Doc:      "ebpf-redirect with netkit devices in place of veth: a program decides while the container sends (Cilium's netkit mode)",
		Parent:   "ebpf-redirect",
		Fidelity: SamePath,
		Facts:    Facts{NeedsL2: true},
		Paths:    []string{SameHost, CrossHost, HostToContainer},
		IPv6:     true,
		Outside:  true,
		Needs:    []engine.Need{engine.NeedRoot(), needNetkit()},
		Missing:  "netkit devices",
		Get:      getNetkit,
		Params: []Param{{
			Name: netkitMode, Doc: "layer of netkit devices: l3 has no MAC addresses and no ARP",
			Values: []string{netkitL3, netkitL2}, List: true,
		}},
		SetUp: func(cluster *lab.Cluster, setup *Setup) error {
			kind := lab.NetkitL3
			if setup.Params[netkitMode] == netkitL2 {
				kind = lab.NetkitL2
			}
			return pastStack(cluster, setup, kind)
		},
	}
}

func needNetkit() engine.Need {
	return kernel("netkit devices", getNetkit, func(ns *lab.Namespace) error {
		return lab.NetkitL3.Add(lab.End{In: ns, Name: "port"}, lab.End{In: ns, Name: lab.Device}, 1500)
	})
}
