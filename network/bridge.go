package network

import "tare/lab"

// bridge is a Linux bridge per host with a veth pair per container.
func bridge() Network {
	return Network{
		Name:     "bridge",
		Doc:      "Linux bridge per host, a veth pair per container",
		Parent:   "veth",
		Across:   "route",
		Fidelity: SamePath,
		Paths:    []string{SameHost, ContainerToOwnHost},
		IPv6:     true,
		Missing:  "the kernel's bridge",
		Get:      "modprobe bridge",
		SetUp:    setUpBridge,
	}
}

func setUpBridge(cluster *lab.Cluster, setup *Setup) error {
	b := ownSubnet(cluster.Spec.MTU)
	if err := eachHost(cluster, b.setUp); err != nil {
		return err
	}
	return setup.populate(cluster, b.plug)
}
