package kinds

import (
	"tare/catalog"
	"tare/engine"
	"tare/lab"
	"tare/network"
)

// netkit is ebpfRedirect with netkit devices in place of veth, as in Cilium's mode of that
// name.
func netkit() network.Network {
	return network.Network{
		Needs: []engine.Need{engine.NeedRoot(), needNetkit()},
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			kind := lab.NetkitL3
			if setup.Params[catalog.NetkitMode] == catalog.NetkitL2 {
				kind = lab.NetkitL2
			}
			return pastStack(cluster, setup, kind)
		},
	}
}

func needNetkit() engine.Need {
	return network.KernelNeed("netkit devices", known("netkit").Get, func(ns *lab.Namespace) error {
		return lab.NetkitL3.Add(lab.End{In: ns, Name: "port"}, lab.End{In: ns, Name: lab.Device}, 1500)
	})
}
