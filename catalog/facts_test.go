package catalog_test

import (
	"testing"

	"tare/catalog"
	"tare/test/labtest"
)

// Whoever changes a network for a cheaper one wants to keep what it has.
func TestOneNetworkKeepsWhatAnotherHas(t *testing.T) {
	for _, c := range []struct {
		one, other string
		want       bool
	}{
		{"gre", "vxlan", true}, {"wireguard", "vxlan", true}, {"ptp", "route", true}, {"nat", "docker-proxy", true},
		{"route", "vxlan", false},               // its hosts must be neighbours
		{"vxlan", "route", false},               // it encapsulates
		{"vxlan", "wireguard", false},           // it does not encrypt
		{"route", "bgp", false},                 // it enforces no policies
		{"route", "service-ipvs", false},        // it has no Services
		{"route", "gvisor", false},              // no sandbox
		{"podman-bridge", "pasta", false},       // it needs root
		{"docker-host", "docker-bridge", false}, // containers have no network of theirs
		{catalog.Baseline, "route", false},
		{"docker:bridge", "docker-bridge", false}, // nobody knows what it has
		{"docker-bridge", "docker:bridge", false},
	} {
		one, _ := catalog.FindNetwork(c.one)
		other, _ := catalog.FindNetwork(c.other)
		labtest.Equal(t, c.one+" keeps what "+c.other+" has", one.Keeps(other), c.want)
	}
}
