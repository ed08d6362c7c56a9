package experiment

import (
	"testing"

	"tare/catalog"
	"tare/network"
	"tare/site"
	"tare/test/labtest"
)

// TestPairsAvoidPublishedPorts: a host hands on what comes to a port that it publishes, and a doctor
// that was asked for the way to the host itself took that for a fault.
func TestPairsAvoidPublishedPorts(t *testing.T) {
	built := site.Built{Paths: map[string]network.Ends{
		catalog.CrossHost: {Client: "h1/c1", Server: "h2/c1"}, catalog.PublishedPort: {Client: "h1", Server: "h2/c1"},
	}}
	labtest.Equal(t, "port at the host", directPort(built, "h2"), uint16(network.OutsidePort))
	labtest.Equal(t, "port at its container", directPort(built, "h2/c1"), uint16(0))
	labtest.Equal(t, "port at another host", directPort(built, "h1"), uint16(0))
}
