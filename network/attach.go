package network

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"

	"tare/lab"
)

// bridgeName is the name of every network's bridge.
const bridgeName = "br0"

// bridged attaches containers to a Linux bridge on each host.
type bridged struct {
	gateway func(h *lab.Host) netip.Prefix      // the bridge's own address
	addr    func(h *lab.Host, n int) netip.Addr // of the n-th container, from 1
	mtu     int
}

// ownSubnet gives the containers addresses of their host's range.
func ownSubnet(mtu int) bridged {
	gateway := func(h *lab.Host) netip.Prefix { return netip.PrefixFrom(h.ContainerAddr(0), h.Subnet().Bits()) }
	return bridged{gateway: gateway, addr: (*lab.Host).ContainerAddr, mtu: mtu}
}

// setUp makes the bridge of a host.
func (b bridged) setUp(h *lab.Host) error {
	gateway := b.gateway(h)
	if err := h.AddBridge(bridgeName, b.mtu, lab.MAC(gateway.Addr())); err != nil {
		return err
	}
	return h.AddAddress(bridgeName, gateway)
}

// plug attaches a container to its host's bridge.
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
// container's end is up. port is the host's end, which is down and has the given
// MAC address; nil: one that the kernel chooses.
func pair(c *lab.Container, addr netip.Addr, mtu int, mac net.HardwareAddr) (port string, err error) {
	if err := c.Create(); err != nil {
		return "", err
	}
	return join(c, addr, mtu, mac)
}

// join makes the veth pair of pair for a container that has a namespace.
func join(c *lab.Container, addr netip.Addr, mtu int, mac net.HardwareAddr) (port string, err error) {
	return joinBy(lab.Veth, c, addr, mtu, mac)
}

// joinBy is join by a pair of any kind.
func joinBy(kind lab.Pair, c *lab.Container, addr netip.Addr, mtu int, mac net.HardwareAddr) (port string, err error) {
	c.Addr, port = addr, kind.String()+"-"+c.Short
	err = kind.Add(
		lab.End{In: c.Host.Namespace, Name: port, MAC: mac},
		lab.End{In: c.Namespace, Name: lab.Device, MAC: lab.MAC(addr)}, mtu)
	if err != nil {
		return "", err
	}
	c.Detach.Push(func() error { return c.Host.RemoveLink(port) })
	return port, c.SetUp(lab.Device)
}

// routeBetweenHosts adds to each host a route to every other host's range.
func routeBetweenHosts(cluster *lab.Cluster) error {
	return eachHost(cluster, func(h *lab.Host) error {
		return eachOther(cluster, h, func(other *lab.Host) error {
			return h.AddRoute(lab.Route{To: other.Subnet(), Via: other.Addr, Device: lab.Device})
		})
	})
}

// eachOther calls do for every host but one, in turn.
func eachOther(cluster *lab.Cluster, but *lab.Host, do func(other *lab.Host) error) error {
	for _, h := range others(cluster, but) {
		if err := do(h); err != nil {
			return err
		}
	}
	return nil
}

// others are the hosts but one.
func others(cluster *lab.Cluster, but *lab.Host) []*lab.Host {
	return slices.DeleteFunc(slices.Clone(cluster.Hosts), func(h *lab.Host) bool { return h == but })
}

// allHosts calls do for every host at once: daemons take long to start.
func allHosts(cluster *lab.Cluster, do func(h *lab.Host) error) error {
	errs := make([]error, len(cluster.Hosts))
	var wait sync.WaitGroup
	for n, h := range cluster.Hosts {
		wait.Go(func() { errs[n] = do(h) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// eachHost calls do for every host in turn.
func eachHost(cluster *lab.Cluster, do func(h *lab.Host) error) error {
	for _, h := range cluster.Hosts {
		if err := do(h); err != nil {
			return err
		}
	}
	return nil
}
