package network

import (
	"errors"
	"net/netip"

	"tare/lab"
	"tare/wire"
)

// ipipDevice is the host's end of every tunnel. Calico takes the device tunl0
// that the kernel's module makes by itself.
const ipipDevice = "ipip0"

// bgpIPIP is bgp whose learned routes lead through IPIP, so that the network
// between the hosts need not know the containers' addresses.
func bgpIPIP() Network {
	return Network{
		Name:     "bgp-ipip",
		Doc:      "bgp with IPIP between hosts, container MTU = underlay - 20 (Calico's ipipMode Always)",
		Parent:   "bgp",
		Fidelity: SamePath,
		Facts:    Facts{NAT: true, Policy: true, Kernel: "ipip"},
		Stack:    wire.IPIP(),
		Paths:    []string{SameHost, CrossHost, HostToContainer},
		Outside:  true,
		Needs:    bgpNeeds(),
		Missing:  "IPIP devices, and tc-BPF to stand in",
		Get:      "modprobe ipip",
		Params:   []Param{policiesParam()}, // FRR gives a learned route no device
		SetUp: func(cluster *lab.Cluster, setup *Setup) error {
			if err := setUpIPIPMesh(cluster, setup); err != nil {
				return err
			}
			return fabric{peers: mesh, tunnel: ipipDevice, mtu: ipipMTU(cluster)}.setUp(cluster, setup)
		},
		Try: func(cluster *lab.Cluster, setup *Setup) error {
			return errors.Join(setUpIPIPMesh(cluster, setup), tryPool(cluster, setup))
		},
	}
}

func ipipMTU(cluster *lab.Cluster) int { return wire.InnerMTU(cluster.Spec.MTU, wire.IPIP()) }

// setUpIPIPMesh gives each host a device for IPIP, with the first address of its
// own range.
func setUpIPIPMesh(cluster *lab.Cluster, setup *Setup) error {
	return eachHost(cluster, func(h *lab.Host) error {
		var peers []netip.Addr
		for _, other := range cluster.Hosts {
			if other != h {
				peers = append(peers, other.Addr)
			}
		}
		kernel, err := h.AddIPIP(lab.IPIP{Name: ipipDevice, Local: h.Addr, Device: lab.Device, MTU: ipipMTU(cluster), Peers: peers})
		if err != nil {
			return err
		}
		if !kernel {
			setup.standIn("IPIP by tc-BPF: this kernel lacks IPIP devices")
		}
		return h.AddAddress(ipipDevice, netip.PrefixFrom(h.ContainerAddr(0), 32))
	})
}
