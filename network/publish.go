package network

import (
	"tare/engine"
	"tare/lab"
)

// attachedPorts is the first of a host's ports for containers that join a
// network once it is built: below those that a kernel takes for clients, and
// unused by all else in a lab.
const attachedPorts = 20000

// attachedPort is the port of its host at which a container is published that
// joined the network once it was built.
func attachedPort(c *lab.Container) uint16 { return attachedPorts + uint16(c.Number) }

// published are the ports at which a container is: the first has those of all
// servers, one that joins later has one of its own, the others have none.
func (setup *Setup) published(c *lab.Container) []engine.Port {
	switch {
	case c.Number > setup.Containers:
		return []engine.Port{{Protocol: "udp", Host: attachedPort(c), Container: Port}}
	case c.Number == 1:
		all := []engine.Port{{Protocol: "udp", Host: Port, Container: Port}}
		for _, port := range ServerPorts() {
			all = append(all, engine.Port{Protocol: "tcp", Host: port, Container: port})
		}
		return all
	}
	return nil
}
