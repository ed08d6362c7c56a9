package network

import (
	"tare/engine/runsc"
	"tare/lab"
)

// gvisor is route with containers of gVisor: their processes run in a sandbox with its own
// TCP/IP stack, behind the veth pair.
func gvisor() Network {
	return Network{
		Name:     "gvisor",
		Doc:      "route, its containers in gVisor's sandbox (runsc), which has a TCP/IP stack in user space (GKE Sandbox)",
		Parent:   "route",
		Fidelity: Product,
		Facts:    Facts{NeedsL2: true},
		Paths:    []string{SameHost, CrossHost, HostToContainer},
		IPv6:     true,
		Outside:  true, Sandboxed: true,
		Needs:   runsc.Needs(),
		Missing: "the kernel's bridge, or what runsc needs of it (seccomp, ptrace, packet sockets)",
		Get:     "modprobe bridge",
		Runtime: Runtime{Name: "runsc", Cycle: runsc.Cycle},
		SetUp:   setUpGvisor,
	}
}

func setUpGvisor(cluster *lab.Cluster, setup *Setup) error {
	b := ownSubnet(cluster.Spec.MTU)
	err := allHosts(cluster, func(h *lab.Host) error {
		if err := b.setUp(h); err != nil {
			return err
		}
		return runsc.Start(h)
	})
	if err != nil {
		return err
	}
	err = setup.populate(cluster, func(c *lab.Container) error {
		if err := b.plug(c); err != nil {
			return err
		}
		return runsc.Run(c)
	})
	if err != nil {
		return err
	}
	return routeBetweenHosts(cluster)
}
