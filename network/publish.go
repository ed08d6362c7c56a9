package network

import "tare/lab"

// attachedPorts is the first of a host's ports for containers that join a
// network once it is built: below those that a kernel takes for clients, and
// unused by all else in a lab.
const attachedPorts = 20000

// attachedPort is the port of its host at which a container is published that
// joined the network once it was built.
func attachedPort(c *lab.Container) uint16 { return attachedPorts + uint16(c.Number) }

// portMap is a port of a host that leads to one of a container's.
type portMap struct {
	protocol        string // "tcp" or "udp"
	host, container uint16
}

// published are the ports at which a container is: the first has those of all
// servers, one that joins later has one of its own, the others have none.
func (setup *Setup) published(c *lab.Container) []portMap {
	switch {
	case c.Number > setup.Containers:
		return []portMap{{"udp", attachedPort(c), Port}}
	case c.Number == 1:
		all := []portMap{{"udp", Port, Port}}
		for _, port := range ServerPorts() {
			all = append(all, portMap{"tcp", port, port})
		}
		return all
	}
	return nil
}
