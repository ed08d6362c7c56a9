package network

import (
	"cmp"
	"fmt"
	"net/netip"
	"syscall"

	"tare/catalog"
	"tare/engine"
	"tare/lab"
)

// rootless completes a network whose containers have no device of the host's: each has a
// process that takes its packets from a TAP device and sends their content by sockets of the
// host, and listens there for its published ports, as for containers of a user without root.
// start starts it for a container.
func rootless(n Network, start func(c *lab.Container, with tap) error) Network {
	n.SetUp = func(cluster *lab.Cluster, setup *Setup) error {
		return setup.populate(cluster, func(c *lab.Container) error {
			if err := checkRootless(c); err != nil {
				return err
			}
			if err := c.Create(); err != nil {
				return err
			}
			path, err := c.BindNamespace()
			if err != nil {
				return err
			}
			c.Addr = rootlessAddr(c, 100)
			return start(c, tap{path: path, mtu: setup.tapMTU(), ports: setup.published(c)})
		})
	}
	return n
}

// tap is the only device of a rootless container.
type tap struct {
	path  string // of the container's namespace, in its host
	mtu   string
	ports []engine.Port
}

func (setup *Setup) tapMTU() string {
	return cmp.Or(setup.Params[catalog.TapMTU], catalog.DefaultTapMTU)
}

// mostRootless bounds the containers of a host: each has its own subnet.
const mostRootless = 250

func checkRootless(c *lab.Container) error {
	if c.Number > mostRootless {
		return fmt.Errorf("%s is container %d of its host: these networks have addresses for %d", c.Name, c.Number, mostRootless)
	}
	return nil
}

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
