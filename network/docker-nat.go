package network

import (
	"net/netip"

	"tare/lab"
)

// dockerNAT is a port that Docker publishes by DNAT.
func dockerNAT() Network {
	return Network{
		Name:            "docker-nat",
		Doc:             "a port published by Docker: DNAT in, masquerade out of docker0",
		Parent:          "docker-bridge",
		Fidelity:        Product,
		BridgeNetfilter: true,
		Paths:           []string{PublishedPort, ContainerToPublishedPort},
		Outside:         true,
		Needs:           dockerNeeds(),
		Missing:         "what dockerd takes of the kernel",
		Get:             "modprobe -a overlay bridge veth nft_compat",
		Engine:          dockerEngine(),
		Runtime:         dockerRuntime(),
		Lay:             layDockerNAT,
		Try:             tryDocker,
		Ends: func(u *lab.Underlay, path string) (Ends, error) {
			ends, err := Network{}.EndsOf(u, path)
			if err == nil {
				ends.Dial = publishedAddr(u.Hosts[1])
			}
			return ends, err
		},
		PublishedAt: publishedAddr,
	}
}

// layDockerNAT publishes at an address of its own: at the host's, containers on
// the host's network listen.
func layDockerNAT(u *lab.Underlay, l *Laying) error {
	err := eachHost(u, func(h *lab.Host) error {
		return h.AddAddress(lab.Device, netip.PrefixFrom(publishedAddr(h), 32))
	})
	if err != nil {
		return err
	}
	return runOn(u, l, func(c *lab.Container) dockerRun { return dockerRun{At: publishedAddr(c.Host), Ports: l.published(c)} })
}

// publishedAddr is a second address of a host, at which it publishes a port.
func publishedAddr(h *lab.Host) netip.Addr { return lab.UnderlayAddr(0, 512+h.Number) }
