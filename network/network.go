// Package network describes the ways to connect containers: one small file each,
// and one line in All.
//
// A network is data and one function that sets it up on the hosts of a cluster.
// Only a Setup depends on the machine.
package network

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"tare/catalog"
	"tare/engine"
	"tare/lab"
	"tare/result"
)

// Servers listen on Port, real ones on HTTPPort, MySQLPort, RedisPort and DNSPort.
// Nothing publishes OutsidePort.
const (
	Port        = 5210
	OutsidePort = 5211
	HTTPPort    = 5212
	MySQLPort   = 5213
	RedisPort   = 5214
	DNSPort     = 5215 // UDP
)

// ServerPorts are the TCP ports that a network with published ports publishes.
func ServerPorts() []uint16 { return []uint16{Port, HTTPPort, MySQLPort, RedisPort} }

// UDPServerPorts are the UDP ports that such a network publishes.
func UDPServerPorts() []uint16 { return []uint16{Port, DNSPort} }

// Network is one way to connect containers: what is known of it, and how it is set up.
type Network struct {
	catalog.Network
	Needs []engine.Need // in addition to the usual kernel

	// StartEngine starts the daemons of its engine on a cluster, which the engine's networks share; nil: it
	// has no engine.
	StartEngine func(cluster *lab.Cluster) error
	// Cycle creates and starts a container of its runtime without a network, under a name that is
	// free, on a host where the engine runs. remove deletes it. If Cycle fails, no
	// container is left. nil: its containers are mere namespaces.
	Cycle func(h *lab.Host, name string) (remove func() error, err error)
	// SetUp attaches containers to each host, by populate. What it makes is removed
	// with the cluster.
	SetUp func(cluster *lab.Cluster, setup *Setup) error
	// Try reports, on a cluster that is removed afterwards, whether SetUp would
	// succeed. It is for networks that take long to set up; nil: SetUp itself.
	Try func(cluster *lab.Cluster, setup *Setup) error
	// Ends returns the ends of a path if they are not the containers that EndsOf
	// chooses; nil: they are.
	Ends func(cluster *lab.Cluster, path string) (Ends, error)
	// PublishedAt is the address at which a host publishes ports; nil: the host's
	// first.
	PublishedAt func(h *lab.Host) netip.Addr
}

// All lists the networks in the order of the tables, each after its parent.
func All() []Network { return slices.Clone(all()) }

// all is that list, made once, since networks are looked up in loops. Nothing changes it.
var all = sync.OnceValue(func() []Network {
	var list []Network
	how := ways()
	for _, facts := range catalog.Networks() {
		n := how[facts.Name]()
		n.Network = facts
		list = append(list, n)
	}
	return list
})

// Find returns a network by name. One that a site has and tare did not build can't be set up.
func Find(name string) (Network, bool) {
	if n, is := result.First(all(), func(n Network) bool { return n.Name == name }); is {
		return n, true
	}
	facts, is := catalog.FindNetwork(name)
	return Network{Network: facts}, is
}

// known is what is known of a network that tare builds.
func known(name string) catalog.Network {
	n, _ := catalog.FindNetwork(name)
	return n
}

// ways are how the networks are set up, by name.
func ways() map[string]func() Network {
	return map[string]func() Network{
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

// Ends are the two places that talk on a path, and how the client reaches the
// server.
type Ends struct {
	Client string     // "h1/c1"
	Server string     // "h2/c1"
	Bind   netip.Addr // where the server listens
	Dial   netip.Addr // where the client connects to
	Port   uint16     // of the server, where its host publishes it at a site; 0: the cluster's
}

// Places are the ends and their hosts, each once, the client's first.
func (e Ends) Places() []string { return catalog.PlacesOf(e.Client, e.Server) }

// EndsOf returns the ends of a path on a cluster that has been set up, at their IPv6
// addresses where it has those.
func (n Network) EndsOf(cluster *lab.Cluster, path string) (ends Ends, err error) {
	if n.Ends != nil {
		ends, err = n.Ends(cluster, path)
	} else {
		ends, err = usualEnds(cluster, path)
	}
	if cluster.Spec.IPv6 && err == nil {
		ends.Bind, ends.Dial = lab.IPv6Of(ends.Bind), lab.IPv6Of(ends.Dial)
	}
	return ends, err
}

// usualEnds are the ends of a path at their IPv4 addresses, where the network has no others.
func usualEnds(cluster *lab.Cluster, path string) (Ends, error) {
	place := func(host, container int) (string, netip.Addr, error) {
		if host > len(cluster.Hosts) || container > len(cluster.Hosts[host-1].Containers()) {
			return "", netip.Addr{}, fmt.Errorf("path %s needs container c%d on h%d: the lab is smaller: build it with more --hosts or --containers", path, container, host)
		}
		c := cluster.Hosts[host-1].Containers()[container-1]
		return c.Host.Short + "/" + c.Short, c.Addr, nil
	}
	c1, _, err1 := place(1, 1)
	c2, addr2, err2 := place(1, 2)
	far, farAddr, errFar := place(2, 1)
	own := cluster.Hosts[0]
	switch path {
	case catalog.SameHost:
		return Ends{Client: c1, Server: c2, Bind: addr2, Dial: addr2}, errors.Join(err1, err2)
	case catalog.ContainerToOwnHost:
		return Ends{Client: c1, Server: own.Short, Bind: own.Addr, Dial: own.Addr}, err1
	case catalog.CrossHost:
		return Ends{Client: c1, Server: far, Bind: farAddr, Dial: farAddr}, errors.Join(err1, errFar)
	case catalog.HostToContainer:
		return Ends{Client: own.Short, Server: far, Bind: farAddr, Dial: farAddr}, errFar
	}
	if errFar != nil {
		return Ends{}, errFar
	}
	published := cluster.Hosts[1].Addr
	switch path {
	case catalog.PublishedPort:
		return Ends{Client: own.Short, Server: far, Bind: farAddr, Dial: published}, nil
	case catalog.ContainerToPublishedPort:
		return Ends{Client: c1, Server: far, Bind: farAddr, Dial: published}, err1
	}
	return Ends{}, fmt.Errorf("path %q: unknown", path)
}

// loopback is the loopback address.
func loopback() netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 0, 1}) }

// hostEnds are the baseline's for every path: over the loopback for paths within a
// host, from h1 to h2 for all others.
func hostEnds(cluster *lab.Cluster, path string) (Ends, error) {
	if catalog.Within(path) {
		return Ends{Client: cluster.Hosts[0].Short, Server: cluster.Hosts[0].Short, Bind: loopback(), Dial: loopback()}, nil
	}
	if len(cluster.Hosts) < 2 {
		return Ends{}, fmt.Errorf("path %s needs two hosts: build the lab with --hosts 2", path)
	}
	return Ends{Client: cluster.Hosts[0].Short, Server: cluster.Hosts[1].Short, Bind: cluster.Hosts[1].Addr, Dial: cluster.Hosts[1].Addr}, nil
}
