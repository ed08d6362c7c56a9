package network

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"tare/lab"
)

// BridgeName is the name of every network's bridge.
const BridgeName = "br0"

// Bridge attaches containers to a Linux bridge on each host.
type Bridge struct {
	Gateway func(h *lab.Host) netip.Prefix      // the bridge's own address
	Addr    func(h *lab.Host, n int) netip.Addr // of the n-th container, from 1
	MTU     int
}

// OwnSubnet gives the containers addresses of their host's range.
func OwnSubnet(mtu int) Bridge {
	gateway := func(h *lab.Host) netip.Prefix { return netip.PrefixFrom(h.ContainerAddr(0), h.Subnet().Bits()) }
	return Bridge{Gateway: gateway, Addr: (*lab.Host).ContainerAddr, MTU: mtu}
}

// SetUp makes the bridge of a host.
func (b Bridge) SetUp(h *lab.Host) error {
	gateway := b.Gateway(h)
	if err := h.AddBridge(BridgeName, b.MTU, lab.MAC(gateway.Addr())); err != nil {
		return err
	}
	return h.AddAddress(BridgeName, gateway)
}

// Plug attaches a container to its host's bridge.
func (b Bridge) Plug(c *lab.Container) error {
	h, addr, gateway := c.Host, b.Addr(c.Host, c.Number), b.Gateway(c.Host)
	port, err := CreateWithPair(c, addr, b.MTU, nil)
	if err != nil {
		return err
	}
	if err := h.SetMaster(port, BridgeName); err != nil {
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

// CreateWithPair makes the container's namespace and a veth pair from it to its host. The
// container's end is up. port is the host's end, which is down and has the given
// MAC address; nil: one that the kernel chooses.
func CreateWithPair(c *lab.Container, addr netip.Addr, mtu int, mac net.HardwareAddr) (port string, err error) {
	if err := c.Create(); err != nil {
		return "", err
	}
	return AddPair(c, addr, mtu, mac)
}

// AddPair makes the veth pair of CreateWithPair for a container that has a namespace.
func AddPair(c *lab.Container, addr netip.Addr, mtu int, mac net.HardwareAddr) (port string, err error) {
	return AddPairOf(lab.Veth, c, addr, mtu, mac)
}

// AddPairOf is AddPair by a pair of any kind.
func AddPairOf(kind lab.Pair, c *lab.Container, addr netip.Addr, mtu int, mac net.HardwareAddr) (port string, err error) {
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

// RouteBetweenHosts adds to each host a route to every other host's range.
func RouteBetweenHosts(cluster *lab.Cluster) error {
	return EachHost(cluster, func(h *lab.Host) error {
		return EachOther(cluster, h, func(other *lab.Host) error {
			return h.AddRoute(lab.Route{To: other.Subnet(), Via: other.Addr, Device: lab.Device})
		})
	})
}

// EachOther calls do for every host but one, in turn.
func EachOther(cluster *lab.Cluster, but *lab.Host, do func(other *lab.Host) error) error {
	for _, h := range Others(cluster, but) {
		if err := do(h); err != nil {
			return err
		}
	}
	return nil
}

// Others are the hosts but one.
func Others(cluster *lab.Cluster, but *lab.Host) []*lab.Host {
	return slices.DeleteFunc(slices.Clone(cluster.Hosts), func(h *lab.Host) bool { return h == but })
}

// AllHosts calls do for every host at once: daemons take long to start.
func AllHosts(cluster *lab.Cluster, do func(h *lab.Host) error) error {
	errs := make([]error, len(cluster.Hosts))
	var wait sync.WaitGroup
	for n, h := range cluster.Hosts {
		wait.Go(func() { errs[n] = do(h) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// EachHost calls do for every host in turn.
func EachHost(cluster *lab.Cluster, do func(h *lab.Host) error) error {
	for _, h := range cluster.Hosts {
		if err := do(h); err != nil {
			return err
		}
	}
	return nil
}

// InterfaceName is a device's name in the form that the kernel compares: 16 bytes.
func InterfaceName(name string) []byte {
	padded := make([]byte, unix.IFNAMSIZ)
	copy(padded, name)
	return padded
}

// RouteElsewhere gives a host a default route: proxy ARP answers only for addresses
// that the host would route to another device.
func RouteElsewhere(h *lab.Host) error {
	return h.AddRoute(lab.Route{To: lab.Default(), Device: lab.Device})
}
