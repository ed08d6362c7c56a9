// Package network is what the ways to connect containers share: what a network is, how it is set
// up on a cluster and asked for its ends, and what several of them are made of. Each of them is a
// file of package kinds. Only a Setup depends on the machine.
package network

import (
	"errors"
	"fmt"
	"net/netip"

	"tare/catalog"
	"tare/engine"
	"tare/lab"
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
	StartEngine func(cluster *lab.Cluster, setup *Setup) error
	// Cycle creates and starts a container of its runtime without a network, under a name that is
	// free, on a host where the engine runs. remove deletes it. If Cycle fails, no
	// container is left. nil: its containers are mere namespaces.
	Cycle func(h *lab.Host, name string) (remove func() error, err error)
	// SetUp attaches containers to each host, by Populate. What it makes is removed
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
		ends, err = UsualEnds(cluster, path)
	}
	if cluster.Spec.IPv6 && err == nil {
		ends.Bind, ends.Dial = lab.IPv6Of(ends.Bind), lab.IPv6Of(ends.Dial)
	}
	return ends, err
}

// UsualEnds are the ends of a path at their IPv4 addresses, where the network has no others.
func UsualEnds(cluster *lab.Cluster, path string) (Ends, error) {
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

// Loopback is the loopback address.
func Loopback() netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 0, 1}) }

// HostEnds are the baseline's for every path: over the loopback for paths within a
// host, from h1 to h2 for all others.
func HostEnds(cluster *lab.Cluster, path string) (Ends, error) {
	if catalog.Within(path) {
		return Ends{Client: cluster.Hosts[0].Short, Server: cluster.Hosts[0].Short, Bind: Loopback(), Dial: Loopback()}, nil
	}
	if len(cluster.Hosts) < 2 {
		return Ends{}, fmt.Errorf("path %s needs two hosts: build the lab with --hosts 2", path)
	}
	return Ends{Client: cluster.Hosts[0].Short, Server: cluster.Hosts[1].Short, Bind: cluster.Hosts[1].Addr, Dial: cluster.Hosts[1].Addr}, nil
}
