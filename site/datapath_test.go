package site

import (
	"net/netip"
	"testing"

	"tare/catalog"
	"tare/network"
	"tare/probe"
	"tare/result"
	"tare/test/labtest"
)

func TestDatapathIsTheMostSpecificRoute(t *testing.T) {
	host := probe.Inventory{
		Links: []probe.Link{{Name: "eth0", Kind: "device", MTU: 1500}, {Name: "flannel.1", Kind: "vxlan", MTU: 1450}},
		Routes: []result.Route{
			{To: netip.MustParsePrefix("0.0.0.0/0"), Device: "eth0"}, {To: netip.MustParsePrefix("10.244.2.0/24"), Device: "flannel.1"},
			{To: netip.MustParsePrefix("10.244.2.0/24"), Device: "other"},
		},
	}
	for dial, want := range map[string]string{
		"10.244.2.7": "by the routes of h1, packets to h2/c1 leave it through flannel.1 inside other packets (vxlan), with an MTU of 1450",
		"10.102.0.2": "by the routes of h1, packets to h2/c1 leave it through eth0 as they are, with an MTU of 1500",
	} {
		paths := map[string]network.Ends{catalog.CrossHost: {Server: "h2/c1", Dial: netip.MustParseAddr(dial)}}
		labtest.Equal(t, "data path to "+dial, datapath(paths, map[string]probe.Inventory{"h1": host}), want)
		labtest.Equal(t, "data path where no host is seen", datapath(paths, nil), "")
	}
}
