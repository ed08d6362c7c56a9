package main

import (
	"fmt"
	"net/netip"
)

// settings are what a cluster can be asked to be.
type settings struct {
	Name     string // of the lab
	Nodes    int
	Datapath string
	Proxy    string // the mode of kube-proxy
}

const (
	usual   = "kubernetes"        // the name of the lab, unless another is asked for
	network = "containerd-bridge" // the network of the lab
	first   = "h1"                // the host of the API server
	apiPort = 6443                // of the API server on it

	serviceRange = "10.96.0.0/16" // of ClusterIPs, as kubeadm's
	serviceAPI   = "10.96.0.1"    // the first of them, of the service "kubernetes"
)

func (s settings) check() error {
	switch {
	case s.Nodes < 2 || s.Nodes > 10:
		return fmt.Errorf("read --nodes: it is %d: give 2 to 10", s.Nodes)
	case s.Datapath == bridge && s.Nodes > 3: // whose range of pods has no room for more
		return fmt.Errorf("read --nodes: it is %d: give 2 or 3, or --datapath %s", s.Nodes, flannel)
	case s.Datapath != bridge && s.Datapath != flannel:
		return fmt.Errorf("read --datapath: it is %q: give %s or %s", s.Datapath, bridge, flannel)
	case s.Proxy != "iptables" && s.Proxy != "nftables":
		return fmt.Errorf("read --proxy: it is %q: give iptables or nftables", s.Proxy)
	}
	return nil
}

func (s settings) String() string {
	return fmt.Sprintf("NODES=%d DATAPATH=%s PROXY=%s", s.Nodes, s.Datapath, s.Proxy)
}

// nodeName is the name of a node, which is that of its host.
func nodeName(number int) string { return fmt.Sprintf("h%d", number) }

// nodeAddr is the address of a node, as labs number their hosts.
func nodeAddr(number int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(number)}) }

// apiAddr is where the API server listens in the lab.
func apiAddr() string { return netip.AddrPortFrom(nodeAddr(1), apiPort).String() }
