package network

import (
	"errors"
	"net"
	"net/netip"
	"sync"

	"tare/lab"
)

// bridgeName is the bridge of every network that has one.
const bridgeName = "br0"

// bridged is a network whose containers hang on a Linux bridge per host.
type bridged struct {
	gateway func(h *lab.Host) netip.Prefix      // the bridge's own address
	addr    func(h *lab.Host, n int) netip.Addr // of the n-th container, from 1
	mtu     int
}

// ownSubnet hangs the containers into their host's own range.
func ownSubnet(mtu int) bridged {
	gateway := func(h *lab.Host) netip.Prefix { return netip.PrefixFrom(h.ContainerAddr(0), h.Subnet().Bits()) }
	return bridged{gateway: gateway, addr: (*lab.Host).ContainerAddr, mtu: mtu}
}

// lay makes the bridge of a host.
func (b bridged) setUp(h *lab.Host) error {
	gateway := b.gateway(h)
	if err := h.AddBridge(bridgeName, b.mtu, lab.MAC(gateway.Addr())); err != nil {
		return err
	}
	return h.AddAddress(bridgeName, gateway)
}

// plug hangs a container on its host's bridge.
func (b bridged) plug(c *lab.Container) error {
	h, addr, gateway := c.Host, b.addr(c.Host, c.Number), b.gateway(c.Host)
	port, err := pair(c, addr, b.mtu, nil)
	if err != nil {
		return err
	}
	if err := h.SetMaster(port, bridgeName); err != nil {
		return err
	}
	if err := h.SetUp(port); err != nil {
		return err
	}
	if err := c.AddAddress(lab.Device, netip.PrefixFrom(addr, gateway.Bits())); err != nil {
		return err
	}
	return c.AddRoute(lab.Route{To: lab.Default(), Via: gateway.Addr(), Device: lab.Device})
}

// pair makes the container's namespace and a veth pair from it to its host. The
// container's end is up; port is the host's end, left down, with the MAC address
// given; nil: the kernel's choice.
func pair(c *lab.Container, addr netip.Addr, mtu int, mac net.HardwareAddr) (port string, err error) {
	if err := c.Create(); err != nil {
		return "", err
	}
	return join(c, addr, mtu, mac)
}

// join gives a container that has a namespace its address's veth pair to its
// host, as pair does.
func join(c *lab.Container, addr netip.Addr, mtu int, mac net.HardwareAddr) (port string, err error) {
	c.Addr, port = addr, "veth-"+c.Short
	err = lab.AddVeth(
		lab.End{In: c.Host.Namespace, Name: port, MAC: mac},
		lab.End{In: c.Namespace, Name: lab.Device, MAC: lab.MAC(addr)}, mtu)
	if err != nil {
		return "", err
	}
	c.Detach.Push(func() error { return c.Host.RemoveLink(port) })
	return port, c.SetUp(lab.Device)
}

// routeBetweenHosts lays on each host a route to every other host's range.
func routeBetweenHosts(cluster *lab.Cluster) error {
	return eachHost(cluster, func(h *lab.Host) error {
		return eachOther(cluster, h, func(other *lab.Host) error {
			return h.AddRoute(lab.Route{To: other.Subnet(), Via: other.Addr, Device: lab.Device})
		})
	})
}

// eachOther runs lay for every host but one, in turn.
func eachOther(cluster *lab.Cluster, but *lab.Host, lay func(other *lab.Host) error) error {
	return eachHost(cluster, func(h *lab.Host) error {
		if h == but {
			return nil
		}
		return lay(h)
	})
}

// allHosts runs lay on every host at once: daemons take long to start.
func allHosts(cluster *lab.Cluster, lay func(h *lab.Host) error) error {
	errs := make([]error, len(cluster.Hosts))
	var wait sync.WaitGroup
	for n, h := range cluster.Hosts {
		wait.Go(func() { errs[n] = lay(h) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// eachHost runs lay on every host in turn.
func eachHost(cluster *lab.Cluster, lay func(h *lab.Host) error) error {
	for _, h := range cluster.Hosts {
		if err := lay(h); err != nil {
			return err
		}
	}
	return nil
}
