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
		relay := func(at, to netip.Addr) {
			args = append(args, fmt.Sprintf("%s/%s=%s", netip.AddrPortFrom(at, port.Host), port.Protocol, netip.AddrPortFrom(to, port.Container)))
		}
		relay(c.Host.Addr, c.Addr)
		if at := c.Host.At(); at.Is6() {
			relay(at, lab.IPv6Of(c.Addr))
		}
	}
	return c.Host.StartSelf(&c.Undo, args...)
}
