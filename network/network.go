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
	"strings"
	"sync"

	"tare/engine"
	"tare/lab"
	"tare/result"
	"tare/wire"
)

// The fidelities, the truest first.
const (
	Product  = "product"   // the real daemon and data path
	SamePath = "same-path" // the same kernel path, configured by us
	StandIn  = "stand-in"  // another data path, since this machine lacks the real one
)

// The paths: which two ends talk.
const (
	SamePod                  = "same-pod"
	SameHost                 = "same-host"
	CrossHost                = "cross-host"
	HostToContainer          = "host-to-container"
	ContainerToHost          = "container-to-host"
	ContainerToOwnHost       = "container-to-own-host"
	PublishedPort            = "published-port"
	ContainerToPublishedPort = "container-to-published-port"

	// By a service of Kubernetes, whose server is on another node.
	ClusterIP           = "cluster-ip"         // from a container
	HostToClusterIP     = "host-to-cluster-ip" // from a node
	NodePort            = "node-port"          // from a node, to a port of the server's node
	ContainerToNodePort = "container-to-node-port"
	Hairpin             = "hairpin" // from a container to itself
)

// NoNetwork is the path of a workload that uses no network.
const NoNetwork = "no-network"

// Paths lists every path in the order of the tables.
func Paths() []string {
	return []string{
		SamePod, SameHost, ContainerToOwnHost, Hairpin, CrossHost, HostToContainer, ContainerToHost, PublishedPort, ContainerToPublishedPort,
		ClusterIP, HostToClusterIP, NodePort, ContainerToNodePort,
	}
}

// Within reports whether both ends of a path are on one host: no packet leaves the
// host, and the baseline is the host's loopback.
func Within(path string) bool {
	return path == SamePod || path == SameHost || path == ContainerToOwnHost || path == Hairpin
}

// Unpublished is the path between the same two ends as one to a published port or a service,
// without it; empty: the path leads to none.
func Unpublished(path string) string {
	switch path {
	case PublishedPort, HostToClusterIP, NodePort:
		return HostToContainer
	case ContainerToPublishedPort, ClusterIP, ContainerToNodePort:
		return CrossHost
	}
	return ""
}

// ByPublishedPort reports whether a path leads to a port that a host publishes for a container.
func ByPublishedPort(path string) bool {
	return path == PublishedPort || path == ContainerToPublishedPort
}

// ByService reports whether a path leads through a Service of Kubernetes.
func ByService(path string) bool {
	switch path {
	case ClusterIP, HostToClusterIP, NodePort, ContainerToNodePort, Hairpin:
		return true
	}
	return false
}

// Baseline is the network that all others are compared with.
const Baseline = result.BaselineName

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

// Network is one way to connect containers.
type Network struct {
	Name   string
	Doc    string
	Parent string // the network that it extends: the rung below
	// Across names the network that does the same on the paths between hosts, which
	// this one lacks; empty: none.
	Across          string
	Fidelity        string
	Facts           Facts
	Stack           wire.Stack // the headers between the underlay's frame and the container's packet
	BridgeNetfilter bool       // bridged packets pass the host's netfilter rules
	Paths           []string
	IPv6            bool          // containers and hosts reach each other by IPv6 too, on every path
	Sandboxed       bool          // its containers' connections and clock are those of a sandbox, not the kernel's
	Least           bool          // the least that any namespace costs: a second reference where the baseline is a loopback
	Outside         bool          // a container reaches addresses beyond its host, as the other host's own
	Needs           []engine.Need // in addition to the usual kernel
	Missing         string        // what a kernel lacks if SetUp fails
	Get             string        // how to get it
	Engine          Engine        // whose hosts it shares with the engine's other networks
	Runtime         Runtime
	Params          []Param

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
	return []Network{
		host(), veth(), bridge(), nat(), proxy(), macvlan(), route(), ptp(), ebpfRedirect(), netkit(), vxlan(), tunUDP(),
		vlan(), bridgeVLAN(), macnat(),
		serviceIptables(), serviceNftables(), serviceIPVS(),
		meshSidecar(), meshAmbient(),
		bgp(), bgpRR(), bgpIPIP(),
		dockerHost(), dockerBridge(), dockerNAT(), dockerMacvlan(), dockerProxy(), dockerOverlay(),
		containerdBridge(), cni(),
		flannelHostGW(), flannelVXLAN(), flannelUDP(),
		ovs(), ovsVLAN(), ovsVXLAN(), ovsMultitable(), ovn(), dockerOVS(),
		pasta(), slirp4netns(), gvisorTapVsock(),
		podmanBridge(), podmanRootless(), gvisor(),
		ipvlan(), srIOV(), gre(), geneve(), wireguard(), wireguardGo(), ipsec(), havs(),
	}
})

// Find returns a network by name.
func Find(name string) (Network, bool) {
	if name == Endpoint || name == Pods || strings.HasPrefix(name, DockerPrefix) {
		return found(name), true
	}
	return result.First(all(), func(n Network) bool { return n.Name == name })
}

// Builds reports whether a network is one that tare builds, and not one that it found at a site.
func Builds(name string) bool {
	return slices.ContainsFunc(all(), func(n Network) bool { return n.Name == name })
}

// Order is a network's place in the tables; those that are not known come last.
func Order(name string) int {
	if at := slices.IndexFunc(all(), func(n Network) bool { return n.Name == name }); at >= 0 {
		return at
	}
	return len(all())
}

// Encapsulates reports whether packets travel inside other packets. A VLAN tag is
// no packet.
func (n Network) Encapsulates() bool { return wire.InnerMTU(0, n.Stack) < 0 }

// Serves reports whether the network has the path.
func (n Network) Serves(path string) bool { return slices.Contains(n.Paths, path) }

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
func (e Ends) Places() []string {
	var places []string
	for _, at := range []string{e.Client, HostOf(e.Client), HostOf(e.Server), e.Server} {
		places = result.AddOnce(places, at)
	}
	return places
}

// HostOf is the host of a place: "h1" of "h1/c1".
func HostOf(place string) string {
	host, _, _ := strings.Cut(place, "/")
	return host
}

// SplitPlace divides a place as a site calls it: "vxlan.h1/c1". A cluster's name may have dots.
func SplitPlace(at string) (cluster, place string) {
	dot := strings.LastIndexByte(at, '.')
	return at[:max(0, dot)], at[dot+1:]
}

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
	case SameHost:
		return Ends{Client: c1, Server: c2, Bind: addr2, Dial: addr2}, errors.Join(err1, err2)
	case ContainerToOwnHost:
		return Ends{Client: c1, Server: own.Short, Bind: own.Addr, Dial: own.Addr}, err1
	case CrossHost:
		return Ends{Client: c1, Server: far, Bind: farAddr, Dial: farAddr}, errors.Join(err1, errFar)
	case HostToContainer:
		return Ends{Client: own.Short, Server: far, Bind: farAddr, Dial: farAddr}, errFar
	}
	if errFar != nil {
		return Ends{}, errFar
	}
	published := cluster.Hosts[1].Addr
	switch path {
	case PublishedPort:
		return Ends{Client: own.Short, Server: far, Bind: farAddr, Dial: published}, nil
	case ContainerToPublishedPort:
		return Ends{Client: c1, Server: far, Bind: farAddr, Dial: published}, err1
	}
	return Ends{}, fmt.Errorf("path %q: unknown", path)
}

// loopback is the loopback address.
func loopback() netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 0, 1}) }

// hostEnds are the baseline's for every path: over the loopback for paths within a
// host, from h1 to h2 for all others.
func hostEnds(cluster *lab.Cluster, path string) (Ends, error) {
	if Within(path) {
		return Ends{Client: cluster.Hosts[0].Short, Server: cluster.Hosts[0].Short, Bind: loopback(), Dial: loopback()}, nil
	}
	if len(cluster.Hosts) < 2 {
		return Ends{}, fmt.Errorf("path %s needs two hosts: build the lab with --hosts 2", path)
	}
	return Ends{Client: cluster.Hosts[0].Short, Server: cluster.Hosts[1].Short, Bind: cluster.Hosts[1].Addr, Dial: cluster.Hosts[1].Addr}, nil
}
