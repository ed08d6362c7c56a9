package kinds

import (
	"tare/engine"
	"tare/lab"
	"tare/network"
	"tare/wire"
)

// ipsec is route with an ESP tunnel between each two hosts, by static keys.
func ipsec() network.Network {
	return network.Network{
		Needs: []engine.Need{network.KernelNeed("ESP", "modprobe esp4", tryESP)},
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			return setUpTunnels(cluster, setup, espMTU(cluster.Spec.MTU), func(h, other *lab.Host) (lab.Route, error) {
				return lab.Route{Via: other.Addr, Device: lab.Device}, addESP(h, other)
			})
		},
	}
}

// espMTU leaves space for the padding of a full packet.
func espMTU(underlay int) int {
	mtu := wire.InnerMTU(underlay, wire.ESP())
	return mtu - underlay%wire.ESPAlignment
}

func tryESP(ns *lab.Namespace) error {
	key, err := lab.NewESPKey()
	if err != nil {
		return err
	}
	a, b := &lab.Host{Number: 1, Addr: lab.UnderlayAddr(0, 1)}, &lab.Host{Number: 2, Addr: lab.UnderlayAddr(0, 2)}
	return ns.AddESP(espFrom(a, b, key), true)
}

// addESP adds one direction to both of its hosts.
func addESP(from, to *lab.Host) error {
	key, err := lab.NewESPKey()
	if err != nil {
		return err
	}
	e := espFrom(from, to, key)
	if err := from.AddESP(e, true); err != nil {
		return err
	}
	return to.AddESP(e, false)
}

// espFrom is the direction from one host's containers to another's.
func espFrom(from, to *lab.Host, key []byte) lab.ESP {
	return lab.ESP{
		SPI: from.Number<<16 | to.Number, From: from.Addr, To: to.Addr, Key: key,
		Source: from.Subnet(), Destination: to.Subnet(),
	}
}
