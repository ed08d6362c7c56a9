package network

import (
	"encoding/json"
	"fmt"
	"net/netip"

	"tare/engine"
	"tare/lab"
	"tare/wire"
)

// TunnelVerb is the hidden command that runs a Tunnel: TunnelVerb SPEC, a JSON
// object.
const TunnelVerb = "tunnel"

const (
	tunnelDevice = "tun0"
	tunUDPPort   = 8285 // as flannel's udp backend
)

// tunUDP is a bridge on each host, and between hosts a process that sends each
// packet in a UDP datagram.
func tunUDP() Network {
	return Network{
		Needs: []engine.Need{tunNeed()},
		SetUp: setUpTunnel,
	}
}

func setUpTunnel(cluster *lab.Cluster, setup *Setup) error {
	mtu := wire.InnerMTU(cluster.Spec.MTU, wire.UDP())
	b := ownSubnet(mtu)
	err := eachHost(cluster, func(h *lab.Host) error {
		if err := b.setUp(h); err != nil {
			return err
		}
		t := Tunnel{Device: tunnelDevice, MTU: mtu, Listen: netip.AddrPortFrom(h.Addr, tunUDPPort)}
		for _, other := range others(cluster, h) {
			t.Peers = append(t.Peers, TunnelPeer{Subnet: other.Subnet(), Host: netip.AddrPortFrom(other.Addr, tunUDPPort)})
		}
		if err := startTunnel(cluster, h, t); err != nil {
			return err
		}
		for _, peer := range t.Peers {
			// From the bridge's address: replies to the host's first address would not
			// come back through the tunnel.
			if err := h.AddRoute(lab.Route{To: peer.Subnet, Device: tunnelDevice, From: b.gateway(h).Addr()}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return setup.populate(cluster, b.plug)
}

// startTunnel starts the process and brings its device up.
func startTunnel(cluster *lab.Cluster, h *lab.Host, t Tunnel) error {
	spec, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("describe tunnel: %w", err)
	}
	if err := h.StartSelf(&cluster.Undo, TunnelVerb, string(spec)); err != nil {
		return err
	}
	return h.SetUp(t.Device)
}
