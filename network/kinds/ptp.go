package kinds

import (
	"errors"
	"net"
	"net/netip"
	"os"

	"tare/lab"
	"tare/network"
)

// ptp is a veth pair and a /32 route per container, no bridge.
func ptp() network.Network {
	return network.Network{
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			if err := errors.Join(network.EachHost(cluster, network.RouteElsewhere), network.RouteBetweenHosts(cluster)); err != nil {
				return err
			}
			return setup.Populate(cluster, func(c *lab.Container) error { return proxyARPPair(c, cluster.Spec.MTU) })
		},
	}
}

// linkLocalGateway is the next hop of every container: proxy ARP on the host
// answers for it, as for every address.
func linkLocalGateway() netip.Addr { return netip.AddrFrom4([4]byte{169, 254, 1, 1}) }

// hostMAC is the MAC address of every container's gateway.
func hostMAC() net.HardwareAddr { return net.HardwareAddr{0xee, 0xee, 0xee, 0xee, 0xee, 0xee} }

// proxyARPPair gives a container a veth pair on whose other end its host answers
// every ARP request.
func proxyARPPair(c *lab.Container, mtu int) error {
	_, err := pairByNextHop(lab.Veth, c, mtu)
	return err
}

// pairByNextHop gives a container a pair on whose other end, the port, its host answers
// every ARP request, if the pair has ARP.
func pairByNextHop(kind lab.Pair, c *lab.Container, mtu int) (port string, err error) {
	h, addr := c.Host, c.Host.ContainerAddr(c.Number)
	if err := c.Create(); err != nil {
		return "", err
	}
	if port, err = network.AddPairOf(kind, c, addr, mtu, hostMAC()); err != nil {
		return "", err
	}
	if err := h.SetUp(port); err != nil {
		return "", err
	}
	if kind.HasARP() {
		if err := answerARP(h, port); err != nil {
			return "", err
		}
	}
	if err := h.AddRoute(lab.Route{To: netip.PrefixFrom(addr, 32), Device: port}); err != nil {
		return "", err
	}
	if err := c.AddAddress(lab.Device, netip.PrefixFrom(addr, 32)); err != nil {
		return "", err
	}
	return port, c.AddRoute(lab.Route{To: lab.Default(), Via: linkLocalGateway(), Device: lab.Device, OnLink: true})
}

// answerARP lets a host answer every ARP request that arrives at a port, and over IPv6 those
// for the next hop.
func answerARP(h *lab.Host, port string) error {
	if err := h.Sysctl("net/ipv4/conf/"+port+"/proxy_arp", "1"); err != nil {
		return err
	}
	if err := h.Answer(port, linkLocalGateway()); err != nil {
		return err
	}
	// By default proxy ARP delays a reply by up to 0.8 s. User namespaces don't have
	// this sysctl: there the first packet waits.
	err := h.Sysctl("net/ipv4/neigh/"+port+"/proxy_delay", "0")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
