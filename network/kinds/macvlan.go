package kinds

import (
	"net/netip"

	"tare/lab"
	"tare/network"
)

// macvlan gives containers addresses on the underlay.
func macvlan() network.Network {
	return network.Network{
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			return setup.Populate(cluster, func(c *lab.Container) error {
				return addMacvlan(c, lab.Device, lab.UnderlayAddr(c.Host.Number, c.Number))
			})
		},
	}
}

// addMacvlan gives a container a macvlan on a device of its host.
func addMacvlan(c *lab.Container, device string, addr netip.Addr) error {
	return addSlave(c, addr, func() error {
		return c.Host.AddMacvlan(device, c.Namespace, lab.Device, lab.MAC(addr))
	})
}

// addSlave gives a container a device that add makes on a device of its host, and
// an address of a /16 that all hosts share.
func addSlave(c *lab.Container, addr netip.Addr, add func() error) error {
	if err := c.Create(); err != nil {
		return err
	}
	if err := add(); err != nil {
		return err
	}
	c.Addr = addr
	// The kernel would remove it some time after its namespace, and its MAC address
	// would be in use until then.
	c.Detach.Push(func() error { return c.RemoveLink(lab.Device) })
	if err := c.SetUp(lab.Device); err != nil {
		return err
	}
	return c.AddAddress(lab.Device, netip.PrefixFrom(addr, underlayBits))
}
