package main

import (
	"tare/catalog"
	"tare/network/kinds"
)

// cause is one that a finding can name, and the ways in which it is brought
// about.
type cause struct {
	id       string
	wordings []wording
	bites    []step     // of the wordings without their own
	ask      []question // likewise
	notHere  string     // why it can't be brought about on this machine
}

// wording is one way to bring a cause about.
//
// Its scripts are typed at a place of the lab by sh -e, with the words of
// prelude. A place is a role on the path: client and server are its ends, near
// and far their hosts, which are one host where the path stays within.
type wording struct {
	name   string
	does   string // in a sentence
	on     []spot // where it is injected
	inject []step // none: the lab as it was set up is the cause

	// bites reports whether the symptom is there, by what tare has no part in: its
	// last step ends well if it is, and badly if not. It is asked before the
	// injection too, where there must be none.
	bites []step

	ask []question
}

// spot is a path of a network.
type spot struct{ network, path string }

// step is a script and where it is typed.
type step struct{ at, script string }

// The places.
const (
	client = "client"
	server = "server"
	near   = "near" // the client's host
	far    = "far"  // the server's host
)

// question is how the verdict is asked for: tare doctor, or tare run with these
// flags.
type question struct {
	verb  string
	flags []string
}

// The verbs that are asked.
const (
	doctorVerb = "doctor"
	runVerb    = "run"
)

// doctor asks for the faults of the path.
func doctor() question { return question{verb: doctorVerb} }

// run asks for the causes of what a workload costs.
func run(workload string, flags ...string) question {
	return question{runVerb, append([]string{"--workloads", workload}, flags...)}
}

// all lists the causes: those of published measurements, then the catalogue's.
func all() []cause {
	list := []cause{
		coreMigration(), softirqOneCore(), softirqCollapse(), mtuBlackHole(), dockerChainMissing(),
		overlayStaleVXLAN(), userlandProxy(), encapsulationCost(), sizeRank(), lockContention(),
		forwardReject(), portClosed(), bgpWrongInterface(), lifecycleDiskLimited(),

		noisyNeighbour(), cfsThrottled(), steeredOntoApplication(), offloadOff(), mtuMismatch(),
		forwardingOff(), forwardDrop(), rpFilter(), neighbourFailed(), wrongMAC(), manyRules(),
		conntrackFull(), natCost(), udpReceiveBuffer(), tcpReceiveWindow(), sendBuffer(),
		applicationLimited(), listenOverflow(), reordering(), congestionControl(), shaperDrop(),
		randomLoss(), labChanged(),
	}
	for _, c := range list {
		for n := range c.wordings {
			w := &c.wordings[n]
			if w.bites == nil {
				w.bites = c.bites
			}
			if w.ask == nil {
				w.ask = c.ask
			}
		}
	}
	return list
}

// ownCosts are the causes that a network of itself gives rise to: tare run
// names them on a clean lab too.
func ownCosts(networkName string) []string {
	n, known := kinds.Find(networkName)
	costs := []string{"rung-cost"}
	if known && n.Encapsulates() {
		costs = append(costs, "encapsulation-cost", "tunnel-segmentation", "size-rank")
	}
	if n.Facts.NAT {
		costs = append(costs, "nat-cost")
	}
	if n.Facts.Relays {
		costs = append(costs, "userland-proxy")
	}
	return costs
}

// The spots on which an injection of a kind bites alike.
func routed() []spot    { return spots(catalog.CrossHost, "route", "ptp") }
func across() []spot    { return spots(catalog.CrossHost, "route", "vxlan") }
func within() []spot    { return spots(catalog.SameHost, "bridge", "veth") }
func published() []spot { return spots(catalog.PublishedPort, "nat", "docker-nat") }

func spots(path string, networks ...string) []spot {
	var all []spot
	for _, name := range networks {
		all = append(all, spot{name, path})
	}
	return all
}
