package kinds

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"path/filepath"

	"tare/engine"
	"tare/lab"
	"tare/network"
	"tare/wire"
)

const (
	wireguardDevice = "wg0"
	wireguardPort   = "51820" // as in the project's examples
)

// wireguard is route with WireGuard between hosts: one device, on which every
// other host is a peer.
func wireguard() network.Network {
	return network.Network{
		Needs: []engine.Need{
			network.KernelNeed("WireGuard devices", "modprobe wireguard", func(ns *lab.Namespace) error { return ns.AddWireGuard("try", 1440) }),
			wg(),
		},
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			return setUpWireguard(cluster, setup, func(h *lab.Host, mtu int) error { return h.AddWireGuard(wireguardDevice, mtu) })
		},
	}
}

func wg() engine.Need { return engine.NeedProgram("wg", "wireguard-tools", "--version") }

// setUpWireguard sets WireGuard up on devices that add makes.
func setUpWireguard(cluster *lab.Cluster, setup *network.Setup, add func(h *lab.Host, mtu int) error) error {
	keys := map[*lab.Host]*ecdh.PrivateKey{}
	for _, h := range cluster.Hosts {
		key, err := ecdh.X25519().GenerateKey(rand.Reader)
		if err != nil {
			return fmt.Errorf("make key of %s: %w", h.Name, err)
		}
		keys[h] = key
	}
	mtu := wire.InnerMTU(cluster.Spec.MTU, wire.Wireguard())
	err := network.EachHost(cluster, func(h *lab.Host) error {
		if err := add(h, mtu); err != nil {
			return err
		}
		if err := setPeers(cluster, h, keys); err != nil {
			return err
		}
		return h.SetUp(wireguardDevice)
	})
	if err != nil {
		return err
	}
	return setUpTunnels(cluster, setup, mtu, func(*lab.Host, *lab.Host) (lab.Route, error) {
		return lab.Route{Device: wireguardDevice}, nil
	})
}

// setPeers gives a host's device its key, and every other host as a peer.
func setPeers(cluster *lab.Cluster, h *lab.Host, keys map[*lab.Host]*ecdh.PrivateKey) error {
	path, err := wg().Require()
	if err != nil {
		return err
	}
	key := filepath.Join(lab.Scratch, wireguardDevice+".key")
	if err := h.WriteFile(key, []byte(wireguardKey(keys[h].Bytes())), 0o600); err != nil {
		return err
	}
	command := []string{path, "set", wireguardDevice, "listen-port", wireguardPort, "private-key", key}
	for _, other := range network.Others(cluster, h) {
		allowed := other.Subnet().String()
		if cluster.Spec.IPv6 {
			allowed += "," + lab.IPv6PrefixOf(other.Subnet()).String()
		}
		command = append(command, "peer", wireguardKey(keys[other].PublicKey().Bytes()),
			"endpoint", other.Addr.String()+":"+wireguardPort, "allowed-ips", allowed)
	}
	_, err = h.Run(command...)
	return err
}

// wireguardKey is a key in the form that wg(8) reads.
func wireguardKey(key []byte) string { return base64.StdEncoding.EncodeToString(key) }
