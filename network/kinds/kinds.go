// Package kinds is the ways to connect containers: one small file each, and one line in ways.
//
// A network is data and one function that sets it up on the hosts of a cluster.
package kinds

import (
	"slices"
	"sync"

	"tare/catalog"
	"tare/network"
	"tare/result"
)

// All lists the networks in the order of the tables, each after its parent.
func All() []network.Network { return slices.Clone(all()) }

// all is that list, made once, since networks are looked up in loops. Nothing changes it.
var all = sync.OnceValue(func() []network.Network {
	var list []network.Network
	how := ways()
	for _, facts := range catalog.Networks() {
		n := how[facts.Name]()
		n.Network = facts
		list = append(list, n)
	}
	return list
})

// Find returns a network by name. One that a site has and tare did not build can't be set up.
func Find(name string) (network.Network, bool) {
	if n, is := result.First(all(), func(n network.Network) bool { return n.Name == name }); is {
		return n, true
	}
	facts, is := catalog.FindNetwork(name)
	return network.Network{Network: facts}, is
}

// known is what is known of a network that tare builds.
func known(name string) catalog.Network {
	n, _ := catalog.FindNetwork(name)
	return n
}

// ways are how the networks are set up, by name.
func ways() map[string]func() network.Network {
	return map[string]func() network.Network{
		catalog.Baseline: host, "veth": veth, "bridge": bridge, "nat": nat, "proxy": proxy, "macvlan": macvlan, "route": route, "ptp": ptp,
		"ebpf-redirect": ebpfRedirect, "netkit": netkit, "vxlan": vxlan, "tun-udp": tunUDP,
		"vlan": vlan, "bridge-vlan": bridgeVLAN, "macnat": macnat,
		"service-iptables": serviceIptables, "service-nftables": serviceNftables, "service-ipvs": serviceIPVS,
		"bgp": bgp, "bgp-rr": bgpRR, "bgp-ipip": bgpIPIP,
		"docker-host": dockerHost, "docker-bridge": dockerBridge, "docker-nat": dockerNAT,
		"docker-macvlan": dockerMacvlan, "docker-proxy": dockerProxy, "docker-overlay": dockerOverlay,
		"containerd-bridge": containerdBridge, "cni": cni,
		"flannel-host-gw": flannelHostGW, "flannel-vxlan": flannelVXLAN, "flannel-udp": flannelUDP,
		"ovs": ovs, "ovs-vlan": ovsVLAN, "ovs-vxlan": ovsVXLAN, "ovs-multitable": ovsMultitable, "ovn": ovn, "docker-ovs": dockerOVS,
		"pasta": pasta, "slirp4netns": slirp4netns, "gvisor-tap-vsock": gvisorTapVsock,
		"podman-bridge": podmanBridge, "podman-rootless": podmanRootless, "gvisor": gvisor,
		"ipvlan": ipvlan, "sr-iov": srIOV, "gre": gre, "geneve": geneve, "wireguard": wireguard, "wireguard-go": wireguardGo, "ipsec": ipsec, "havs": havs,
	}
}
