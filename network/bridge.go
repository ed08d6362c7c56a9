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
	b := ownSubnet(u.Spec.MTU)
	if err := eachHost(u, b.lay); err != nil {
		return err
	}
	return l.populate(u, b.plug)
}
