package network

import (
	"errors"
	"fmt"
	"net/netip"

	"tare/engine"
	"tare/lab"
)

// RelayVerb is the hidden command by which the binary relays published ports:
// RelayVerb LISTEN/PROTOCOL=TO...
const RelayVerb = "relay"

// proxy is a bridge, and for each container with published ports a process that
// relays them, as docker-proxy does.
func proxy() Network {
	return Network{
		Name:     "proxy",
		Doc:      "bridge + a userspace relay of the published port (what docker-proxy does)",
		Parent:   "bridge",
		Facts:    Facts{Relays: true},
		Fidelity: SamePath,
		Paths:    []string{PublishedPort, ContainerToPublishedPort},
		Outside:  true,
		Missing:  "the kernel's bridge",
		Get:      "modprobe bridge",
		SetUp: func(cluster *lab.Cluster, setup *Setup) error {
			b := ownSubnet(cluster.Spec.MTU)
			// Containers reach the other host's published port unmasqueraded.
			if err := errors.Join(eachHost(cluster, b.setUp), routeBetweenHosts(cluster)); err != nil {
				return err
			}
			return setup.populate(cluster, func(c *lab.Container) error {
				if err := b.plug(c); err != nil {
					return err
				}
				return startRelay(c, setup.published(c))
			})
		},
	}
}

// startRelay starts a process that relays a container's published ports.
func startRelay(c *lab.Container, ports []engine.Port) error {
	if len(ports) == 0 {
		return nil
	}
	args := []string{RelayVerb}
	for _, port := range ports {
		args = append(args, fmt.Sprintf("%s/%s=%s",
			netip.AddrPortFrom(c.Host.Addr, port.Host), port.Protocol, netip.AddrPortFrom(c.Addr, port.Container)))
	}
	return c.Host.StartSelf(&c.Undo, args...)
}
