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
		Missing:  "the kernel's bridge",
		Get:      "modprobe bridge",
		Lay:      layBridge,
	}
}

func layBridge(u *lab.Underlay, l *Laying) error {
	return eachHost(u, func(h *lab.Host) error {
		return ownSubnet(h, u.Spec.MTU).lay(h, l.Containers)
	})
}
