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
	gateway netip.Prefix                   // the bridge's own address
	addr    func(container int) netip.Addr // of the n-th container, from 1
	mtu     int
}

// ownSubnet hangs the containers into their host's own range.
func ownSubnet(h *lab.Host, mtu int) bridged {
	gateway := netip.PrefixFrom(h.Subnet().Addr().Next(), h.Subnet().Bits())
	return bridged{gateway: gateway, addr: h.ContainerAddr, mtu: mtu}
}

// lay makes the bridge and count containers on it.
func (b bridged) lay(h *lab.Host, count int) error {
	if err := h.AddBridge(bridgeName, b.mtu, lab.MAC(b.gateway.Addr())); err != nil {
		return err
	}
	if err := h.AddAddress(bridgeName, b.gateway); err != nil {
		return err
	}
	for n := 1; n <= count; n++ {
		if err := b.plug(h, b.addr(n)); err != nil {
			return err
		}
	}
	return nil
}

// plug makes one container and hangs it on the bridge.
func (b bridged) plug(h *lab.Host, addr netip.Addr) error {
	c, port, err := pair(h, addr, b.mtu)
	if err != nil {
		return err
	}
	if err := h.SetMaster(port, bridgeName); err != nil {
		return err
	}
	if err := h.SetUp(port); err != nil {
		return err
	}
	if err := c.AddAddress(lab.Device, netip.PrefixFrom(addr, b.gateway.Bits())); err != nil {
		return err
	}
	return c.AddRoute(lab.Route{To: lab.Default(), Via: b.gateway.Addr(), Device: lab.Device})
}

// pair makes a container with a veth pair to its host. The container's end is
// up; port is the host's end, left down.
func pair(h *lab.Host, addr netip.Addr, mtu int) (c *lab.Container, port string, err error) {
	return pairWith(h, addr, mtu, nil)
}

// pairWith is pair with the MAC address of the host's end; nil: the kernel's
// choice.
func pairWith(h *lab.Host, addr netip.Addr, mtu int, mac net.HardwareAddr) (c *lab.Container, port string, err error) {
	c, err = h.AddContainer()
	if err != nil {
		return nil, "", err
	}
	port, err = join(c, addr, mtu, mac)
	return c, port, err
}

// join gives a container its address's veth pair to its host, as pairWith does.
func join(c *lab.Container, addr netip.Addr, mtu int, mac net.HardwareAddr) (port string, err error) {
	c.Addr, port = addr, "veth-"+c.Short
	err = lab.AddVeth(
		lab.End{In: c.Host.Namespace, Name: port, MAC: mac},
		lab.End{In: c.Namespace, Name: lab.Device, MAC: lab.MAC(addr)}, mtu)
	if err != nil {
		return "", err
	}
	return port, c.SetUp(lab.Device)
}

// routeBetweenHosts lays on each host a route to every other host's range.
func routeBetweenHosts(u *lab.Underlay) error {
	for _, h := range u.Hosts {
		for _, other := range u.Hosts {
			if other == h {
				continue
			}
			if err := h.AddRoute(lab.Route{To: other.Subnet(), Via: other.Addr, Device: lab.Device}); err != nil {
				return err
			}
		}
	}
	return nil
}

// allHosts runs lay on every host at once: daemons take long to start.
func allHosts(u *lab.Underlay, lay func(h *lab.Host) error) error {
	errs := make([]error, len(u.Hosts))
	var wait sync.WaitGroup
	for n, h := range u.Hosts {
		wait.Go(func() { errs[n] = lay(h) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// eachHost runs lay on every host in turn.
func eachHost(u *lab.Underlay, lay func(h *lab.Host) error) error {
	for _, h := range u.Hosts {
		if err := lay(h); err != nil {
			return err
		}
	}
	return nil
}
