package catalog

import (
	"slices"
	"strings"
	"sync"

	"tare/result"
	"tare/wire"
)

// Network is what is known of one way to connect containers.
type Network struct {
	Name      string
	Doc       string
	Published []string // names of the same data path in published measurements
	Called    []string // what else people ask for it by
	Parent    string   // the network that it extends: the rung below
	// Across names the network that does the same on the paths between hosts, which
	// this one lacks; empty: none.
	Across          string
	Fidelity        string
	Facts           Facts
	Stack           wire.Stack // the headers between the underlay's frame and the container's packet
	BridgeNetfilter bool       // bridged packets pass the host's netfilter rules
	Paths           []string
	IPv6            bool   // containers and hosts reach each other by IPv6 too, on every path
	Sandboxed       bool   // its containers' connections and clock are those of a sandbox, not the kernel's
	Least           bool   // the least that any namespace costs: a second reference where the baseline is a loopback
	Bare            bool   // the usual kernel has all that it needs
	Outside         bool   // a container reaches addresses beyond its host, as the other host's own
	Missing         string // what a kernel lacks if it can't be set up
	Get             string // how to get it
	Engine          string // the engine whose hosts it shares with the engine's other networks; empty: it has its own
	Runtime         string // the engine that runs its containers; empty: they are mere namespaces
	Params          []Param
}

// Docker is the engine that several networks share.
const Docker = "docker"

// Networks lists the networks in the order of the tables, each after its parent.
func Networks() []Network { return slices.Clone(networks()) }

// networks is that list, made once, since networks are looked up in loops. Nothing changes it.
var networks = sync.OnceValue(func() []Network {
	return slices.Concat(
		kernelNetworks(), routedNetworks(), vlanNetworks(), serviceNetworks(), bgpNetworks(), dockerNetworks(), containerdNetworks(), flannelNetworks(),
		switchNetworks(), rootlessNetworks(), sandboxNetworks(), adapterNetworks(), tunnelNetworks(),
	)
})

// FindNetwork returns a network by name, also one that a site has and tare did not build.
func FindNetwork(name string) (Network, bool) {
	if name == Endpoint || name == Pods || strings.HasPrefix(name, DockerPrefix) {
		return found(name), true
	}
	return result.First(networks(), func(n Network) bool { return n.Name == name })
}

// Builds reports whether a network is one that tare builds, and not one that it found at a site.
func Builds(name string) bool {
	return slices.ContainsFunc(networks(), func(n Network) bool { return n.Name == name })
}

// NetworkPublishedAs is the name here of a network in published measurements; a name that no network
// has there is itself.
func NetworkPublishedAs(name string) string {
	n, found := result.First(networks(), func(n Network) bool { return slices.Contains(n.Published, name) })
	if !found {
		return name
	}
	return n.Name
}

// NetworksCalled are the networks that people, or published measurements, call so.
func NetworksCalled(word string) []string {
	var names []string
	for _, n := range networks() {
		if slices.Contains(n.Called, word) || slices.Contains(n.Published, word) {
			names = append(names, n.Name)
		}
	}
	return names
}

// Order is a network's place in the tables; those that are not known come last.
func Order(name string) int {
	if at := slices.IndexFunc(networks(), func(n Network) bool { return n.Name == name }); at >= 0 {
		return at
	}
	return len(networks())
}

// Encapsulates reports whether packets travel inside other packets. A VLAN tag is
// no packet.
func (n Network) Encapsulates() bool { return wire.InnerMTU(0, n.Stack) < 0 }

// Serves reports whether the network has the path.
func (n Network) Serves(path string) bool { return slices.Contains(n.Paths, path) }

// Endpoint is the network of containers that commands of the user's reach: tare did not build
// it and does not know it.
const Endpoint = "endpoint"

// DockerPrefix begins what a network of Docker's is called that tare did not build, as in
// docker:bridge.
const DockerPrefix = "docker:"

// Pods is the network of a Kubernetes cluster's pods.
const Pods = "pods"

// found is a network that can't be set up, and is in no list of networks.
func found(name string) Network {
	n := Network{
		Name:     name,
		Doc:      "the network of the containers that --endpoint names",
		Parent:   Baseline,
		Fidelity: Product,
		Paths:    []string{SameHost, ContainerToOwnHost, CrossHost, HostToContainer},
	}
	if docker, is := strings.CutPrefix(name, DockerPrefix); is {
		n.Doc = "the network " + docker + " of these engines"
		n.Paths = append(n.Paths, PublishedPort, ContainerToPublishedPort)
	}
	if name == Pods {
		n.Doc = "the network of the cluster's pods"
		n.Paths = append(n.Paths, ContainerToHost, Hairpin, ClusterIP, HostToClusterIP, NodePort, ContainerToNodePort)
	}
	return n
}
