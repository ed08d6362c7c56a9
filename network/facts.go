package network

import "tare/result"

// Facts are the properties, in addition to its toll, that a network is chosen by.
// Those of a network that imitates a product are the product's.
type Facts struct {
	Policy   bool   // it can enforce network policies
	Encrypts bool   // traffic between hosts is encrypted
	NeedsL2  bool   // the hosts must be neighbours on one link, or their routers must know its routes
	NAT      bool   // addresses are rewritten on some of its paths
	Relays   bool   // a process relays traffic to its published ports, or its TCP connections
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
