package network

import (
	"fmt"
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
		Lay:             layDockerNAT,
		Try:             tryDocker,
		Ends: func(u *lab.Underlay, path string) (Ends, error) {
			ends, err := Network{}.EndsOf(u, path)
			if err == nil {
				ends.Dial = publishedAddr(u.Hosts[1])
			}
			return ends, err
		},
	}
}

// layDockerNAT publishes the first container of each host. It is published at
// an address of its own: at the host's, containers on the host's network
// listen.
func layDockerNAT(u *lab.Underlay, l *Laying) error {
	err := eachHost(u, func(h *lab.Host) error {
		return h.AddAddress(lab.Device, netip.PrefixFrom(publishedAddr(h), 32))
	})
	if err != nil {
		return err
	}
	return runOn(u, l, func(h *lab.Host, n int) []string { return publishFirst(publishedAddr(h), n) })
}

// publishFirst publishes the first container's port, for TCP and UDP.
func publishFirst(at netip.Addr, n int) []string {
	if n != 1 {
		return nil
	}
	port := fmt.Sprintf("%s:%d:%d", at, Port, Port)
	return []string{"--publish", port + "/tcp", "--publish", port + "/udp"}
}

// publishedAddr is a second address of a host, at which it publishes a port.
func publishedAddr(h *lab.Host) netip.Addr { return lab.UnderlayAddr(0, 512+h.Number) }
