package kinds

import (
	"net/netip"

	"tare/lab"
	"tare/network"
)

// veth is the cheapest network of a container: a namespace on one veth pair, routed
// by its host.
func veth() network.Network {
	return network.Network{
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			return setup.Populate(cluster, func(c *lab.Container) error { return routedPair(c, cluster.Spec.MTU) })
		},
	}
}

// routedPair gives a container its host's own address as its next hop, on the
// other end of a veth pair.
func routedPair(c *lab.Container, mtu int) error {
	h, addr := c.Host, c.Host.ContainerAddr(c.Number)
	port, err := network.CreateWithPair(c, addr, mtu, nil)
	if err != nil {
		return err
	}
	if err := h.SetUp(port); err != nil {
		return err
	}
	if err := h.Answer(port, h.Addr); err != nil {
		return err
	}
	if err := h.AddRoute(lab.Route{To: netip.PrefixFrom(addr, 32), Device: port}); err != nil {
		return err
	}
	if err := c.AddAddress(lab.Device, netip.PrefixFrom(addr, 32)); err != nil {
		return err
	}
	return c.AddRoute(lab.Route{To: lab.Default(), Via: h.Addr, Device: lab.Device, OnLink: true})
}
