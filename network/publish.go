package network

import (
	"tare/engine"
	"tare/lab"
)

// attachedPorts is the first of a host's ports for containers that are attached
// after the network is set up: below the kernel's ephemeral ports, and otherwise
// unused in a lab.
const attachedPorts = 20000

// attachedPort is the published port of a container that was attached after the
// network was set up.
func attachedPort(c *lab.Container) uint16 { return attachedPorts + uint16(c.Number) }

// Published are the published ports of a container: the first container of a host
// has those of all servers, one that is attached later has one port, the others
// have none.
func (setup *Setup) Published(c *lab.Container) []engine.Port {
	switch {
	case c.Number > setup.Containers:
		return []engine.Port{{Protocol: "udp", Host: attachedPort(c), Container: Port}}
	case c.Number == 1:
		var all []engine.Port
		for _, port := range UDPServerPorts() {
			all = append(all, engine.Port{Protocol: "udp", Host: port, Container: port})
		}
		for _, port := range ServerPorts() {
			all = append(all, engine.Port{Protocol: "tcp", Host: port, Container: port})
		}
		return all
	}
	return nil
}
