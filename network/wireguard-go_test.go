package network_test

import (
	"testing"

	"tare/network"
	"tare/wire"
)

// Every path carries full packets, and what goes between hosts goes through the tunnel.
func TestRealWireguardGoEncapsulates(t *testing.T) {
	l := build(t, on("wireguard-go"))
	n, _ := network.Find("wireguard-go")
	b := built(t, l, n.Name)
	for _, path := range n.Paths {
		carries(t, l, b, path, wire.InnerMTU(1500, n.Stack))
	}
	encapsulates(t, l, b, "wg0", wire.Wireguard())
}
