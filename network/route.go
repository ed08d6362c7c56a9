package network

import "tare/lab"

// route is a bridge per host, and static routes between hosts: what
// containerd with the CNI bridge does, and flannel's host-gw.
func route() Network {
	return Network{
		Name:     "route",
		Doc:      "bridge per host, static routes between hosts (CNI bridge, flannel host-gw)",
		Parent:   "bridge",
		Fidelity: SamePath,
		Facts:    Facts{NeedsL2: true},
		Paths:    []string{SameHost, CrossHost, HostToContainer},
		IPv6:     true,
		Outside:  true,
		Missing:  "the kernel's bridge",
		Get:      "modprobe bridge",
		SetUp: func(cluster *lab.Cluster, setup *Setup) error {
			if err := setUpBridge(cluster, setup); err != nil {
				return err
			}
			return routeBetweenHosts(cluster)
		},
	}
}
