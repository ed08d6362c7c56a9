package kinds

import (
	"errors"
	"net/netip"

	"tare/lab"
	"tare/network"
	"tare/wire"
)

// ipipDevice is the host's end of every tunnel. Calico uses the device tunl0, which
// the kernel's module makes when it is loaded.
const ipipDevice = "ipip0"

// bgpIPIP is bgp whose learned routes go through IPIP, so that the network between
// the hosts need not route the containers' addresses.
func bgpIPIP() network.Network {
	return network.Network{
		Needs: bgpNeeds(),
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			if err := setUpIPIPMesh(cluster, setup); err != nil {
				return err
			}
			return fabric{peers: mesh, tunnel: ipipDevice, mtu: ipipMTU(cluster)}.setUp(cluster, setup)
		},
		Try: func(cluster *lab.Cluster, setup *network.Setup) error {
			return errors.Join(setUpIPIPMesh(cluster, setup), tryPool(cluster, setup))
		},
	}
}

func ipipMTU(cluster *lab.Cluster) int { return wire.InnerMTU(cluster.Spec.MTU, wire.IPIP()) }

// setUpIPIPMesh gives each host an IPIP device with the first address of the host's
// range.
func setUpIPIPMesh(cluster *lab.Cluster, setup *network.Setup) error {
	return network.EachHost(cluster, func(h *lab.Host) error {
		var peers []netip.Addr
		for _, other := range network.Others(cluster, h) {
			peers = append(peers, other.Addr)
		}
		kernel, err := h.AddIPIP(lab.IPIP{Name: ipipDevice, Local: h.Addr, Device: lab.Device, MTU: ipipMTU(cluster), Peers: peers})
		if err != nil {
			return err
		}
		if !kernel {
			setup.StandIn("IPIP by tc-BPF: this kernel lacks IPIP devices, or would load their module: --load-modules")
		}
		return h.AddAddress(ipipDevice, netip.PrefixFrom(h.ContainerAddr(0), 32))
	})
}
