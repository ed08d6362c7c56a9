package network

import (
	"fmt"
	"net/netip"
	"syscall"

	"tare/engine"
	"tare/lab"
)

// rootless completes a network whose containers have no device of the host's: each has a
// process that takes its packets from a TAP device and sends their content by sockets of the
// host, and listens there for its published ports, as for containers of a user without root.
// start starts it for a container whose namespace has a path in its host.
func rootless(n Network, start func(c *lab.Container, path string, ports []engine.Port) error) Network {
	n.Parent, n.Fidelity, n.Outside = Baseline, Product, true
	n.Facts = Facts{Relays: true, Kernel: "tun"}
	n.Paths = []string{PublishedPort, ContainerToPublishedPort}
	n.Missing, n.Get = "TUN devices", "modprobe tun"
	n.SetUp = func(cluster *lab.Cluster, setup *Setup) error {
		return setup.populate(cluster, func(c *lab.Container) error {
			if c.Number > mostRootless {
				return fmt.Errorf("%s is container %d of its host: these networks have addresses for %d", c.Name, c.Number, mostRootless)
			}
			err := c.Create()
			if err != nil {
				return err
			}
			path, err := c.BindNamespace()
			if err != nil {
				return err
			}
			c.Addr = rootlessAddr(c, 100)
			return start(c, path, setup.published(c))
		})
	}
	return n
}

// mostRootless bounds the containers of a host: each has its own subnet.
const mostRootless = 250

// rootlessAddr is an address of the container's own subnet, a /24 of its host's.
func rootlessAddr(c *lab.Container, n byte) netip.Addr {
	b := c.Host.Subnet().Addr().As4()
	return netip.AddrFrom4([4]byte{b[0], b[1], byte(c.Number), n})
}

// startFor starts a daemon that ends with a container.
func startFor(c *lab.Container, d lab.Daemon) error {
	process, err := c.Host.StartDaemon(d)
	if err != nil {
		return err
	}
	c.Detach.Push(func() error {
		err := process.Signal(syscall.SIGKILL)
		<-process.Done
		return err
	})
	return nil
}
