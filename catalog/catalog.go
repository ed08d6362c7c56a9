// Package catalog holds what is known of the networks and workloads, without the machinery that
// builds them and sends: names, sentences, paths, headers, parameters, metrics. Who reads
// results needs no more.
//
// A network is one entry of the file of its family, networks_FAMILY.go, and a workload one of workloads_FAMILY.go.
// Packages network and workload add to each by its name how it is set up, and how it is served and sent.
package catalog

import "tare/result"

// Baseline is the network that all others are compared with.
const Baseline = result.BaselineName

// The fidelities, the truest first.
const (
	Product  = "product"   // the real daemon and data path
	SamePath = "same-path" // the same kernel path, configured by us
	StandIn  = "stand-in"  // another data path, since this machine lacks the real one
)
