package catalog

import (
	"slices"

	"tare/result"
)

// Facts are the properties, in addition to its toll, that a network is chosen by.
// Those of a network that imitates a product are the product's.
type Facts struct {
	Policy   bool   // it can enforce network policies
	Encrypts bool   // traffic between hosts is encrypted
	NeedsL2  bool   // the hosts must be neighbours on one link, or their routers must know its routes
	NAT      bool   // addresses are rewritten on some of its paths
	Relays   bool   // a process relays traffic to its published ports
	Nearby   bool   // containers of a host reach the ports that it publishes for each other
	OnHost   bool   // its containers are on their host's network: they have no address that is theirs alone
	Kernel   string // the kernel module that it needs in addition to veth and bridge; empty: none
}

// RelaysTAP reports whether the relay takes packets from a TAP device, as that of a rootless
// container does.
func (f Facts) RelaysTAP() bool { return f.Relays && f.Kernel == "tun" }

// Demand is a property that a user can require of a network: `tare run --need`.
type Demand struct {
	Name string
	Doc  string
	Met  func(n Network) bool
}

// Demands lists all.
func Demands() []Demand {
	return []Demand{
		{"policy", "it can enforce network policies on containers", func(n Network) bool { return n.Facts.Policy }},
		{"encryption", "traffic between hosts is encrypted", func(n Network) bool { return n.Facts.Encrypts }},
		{"no-l2", "hosts need not be neighbours on one link", func(n Network) bool { return !n.Facts.NeedsL2 }},
		{"no-encapsulation", "packets do not travel inside others", func(n Network) bool { return !n.Encapsulates() }},
		{"no-module", "it needs no kernel module besides veth and bridge", func(n Network) bool { return n.Facts.Kernel == "" }},
		{"cross-host", "containers of different hosts reach each other by their own addresses", func(n Network) bool { return n.Serves(CrossHost) }},
		{"published-port", "it publishes ports of containers at their host", func(n Network) bool { return n.Serves(PublishedPort) }},
	}
}

// Keeps reports whether containers of another network could be on this one and lose nothing
// that they have: each property that a user can require, each path, a network that is not the
// host's, a sandbox, or that root is not needed. It knows nothing of networks that tare does not
// build.
func (n Network) Keeps(other Network) bool {
	if n.Name == Baseline || n.Facts.OnHost || !Builds(n.Name) || !Builds(other.Name) {
		return false
	}
	if other.Sandboxed && !n.Sandboxed || other.Facts.RelaysTAP() && !n.Facts.RelaysTAP() {
		return false
	}
	if slices.ContainsFunc(other.Paths, func(path string) bool { return !n.Serves(path) }) {
		return false
	}
	_, keeps := n.Meets(other.Properties())
	return keeps
}

// Properties names the demands that the network meets.
func (n Network) Properties() []string {
	var names []string
	for _, d := range Demands() {
		if d.Met(n) {
			names = append(names, d.Name)
		}
	}
	return names
}

// FindDemand gives a demand by name.
func FindDemand(name string) (Demand, bool) {
	return result.First(Demands(), func(d Demand) bool { return d.Name == name })
}

// Meets reports whether a network meets all demands, given by name, and the first
// that it does not meet.
func (n Network) Meets(names []string) (lacks string, meets bool) {
	for _, name := range names {
		if d, known := FindDemand(name); !known || !d.Met(n) {
			return name, false
		}
	}
	return "", true
}
