package network

import "slices"

// Facts are what a network is chosen by beside its toll, where they are more than
// the kernel's plain devices and bridges: those of the part that it stands for.
type Facts struct {
	Policy   bool   // it can hold containers to policies of its own
	Encrypts bool   // what passes between hosts is encrypted
	NeedsL2  bool   // the hosts must be neighbours on one link, or their routers take its routes
	NAT      bool   // addresses are rewritten on some of its paths
	Relays   bool   // a process relays what comes to its published ports
	Kernel   string // the module of the kernel that it takes beside veth and bridge; empty: none
}

// Demand is what somebody may ask of a network: `tare run --need`.
type Demand struct {
	Name string
	Doc  string
	Met  func(n Network) bool
}

// Demands lists all.
func Demands() []Demand {
	return []Demand{
		{"policy", "it can hold containers to policies of its own", func(n Network) bool { return n.Facts.Policy }},
		{"encryption", "what passes between hosts is encrypted", func(n Network) bool { return n.Facts.Encrypts }},
		{"no-l2", "hosts need not be neighbours on one link", func(n Network) bool { return !n.Facts.NeedsL2 }},
		{"no-encapsulation", "packets do not travel inside others", func(n Network) bool { return !n.Encapsulates() }},
		{"no-module", "it takes no module of the kernel beside veth and bridge", func(n Network) bool { return n.Facts.Kernel == "" }},
		{"cross-host", "containers of different hosts reach each other by their own addresses", func(n Network) bool { return n.Serves(CrossHost) }},
		{"published-port", "it publishes ports of containers at their host", func(n Network) bool { return n.Serves(PublishedPort) }},
	}
}

// FindDemand gives a demand by name.
func FindDemand(name string) (Demand, bool) {
	at := slices.IndexFunc(Demands(), func(d Demand) bool { return d.Name == name })
	if at < 0 {
		return Demand{}, false
	}
	return Demands()[at], true
}

// Meets tells whether a network meets demands, by name, and names the first
// that it does not.
func (n Network) Meets(names []string) (lacks string, meets bool) {
	for _, name := range names {
		if d, known := FindDemand(name); !known || !d.Met(n) {
			return name, false
		}
	}
	return "", true
}
