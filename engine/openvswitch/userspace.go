package openvswitch

import (
	"fmt"

	"github.com/google/nftables"

	"tare/lab"
)

// The userspace datapath reads and writes devices by packet sockets: frame by
// frame, as on a wire. Nothing completes a checksum or a segmentation that a veth
// has deferred.

// sendWhole makes a container send what a wire carries: frames of its MTU, with
// their checksums.
func (s *Switch) sendWhole(c *lab.Container) error {
	if s.Datapath != Userspace {
		return nil
	}
	return c.SetFeatures(lab.Device, map[string]bool{
		"tx-checksum-ip-generic": false, "tx-tcp-segmentation": false, "tx-udp-segmentation": false,
	})
}

// takeFrom reserves what arrives on a device of the host for the switch. GRO does
// not merge frames, and the host's own stack, which would answer them too, does
// not get them (Open vSwitch's INSTALL.userspace). The hook comes after the packet
// sockets.
func (s *Switch) takeFrom(device string) error {
	if s.Datapath != Userspace {
		return nil
	}
	if err := s.Host.SetFeatures(device, map[string]bool{"rx-gro": false}); err != nil {
		return err
	}
	drop := ingressOf(device)
	err := s.Host.Nftables(func(conn *nftables.Conn) {
		conn.AddTable(drop.Table)
		conn.AddChain(drop)
	})
	if err != nil {
		return fmt.Errorf("reserve %s for Open vSwitch: %w", device, err)
	}
	return nil
}

// leave removes the chain that takeFrom added: from Linux 6.16 on, it would apply
// to the next device of that name.
func (s *Switch) leave(device string) error {
	if s.Datapath != Userspace {
		return nil
	}
	return s.Host.Nftables(func(conn *nftables.Conn) { conn.DelChain(ingressOf(device)) })
}

// ingressOf is the chain that drops what arrives on a device.
func ingressOf(device string) *nftables.Chain {
	drop := nftables.ChainPolicyDrop
	return &nftables.Chain{
		Name: device, Table: &nftables.Table{Family: nftables.TableFamilyNetdev, Name: "openvswitch"},
		Type: nftables.ChainTypeFilter, Device: device,
		Hooknum: nftables.ChainHookIngress, Priority: nftables.ChainPriorityFilter, Policy: &drop,
	}
}

// AddNeighbour sets the MAC address of another host for the tunnels of the
// userspace datapath, which drops packets while it resolves an address. The
// kernel's datapath needs none.
func (s *Switch) AddNeighbour(bridge string, host *lab.Host) error {
	if s.Datapath != Userspace {
		return nil
	}
	_, err := s.Host.Run("ovs-appctl", "-t", s.control, "tnl/neigh/set", bridge, host.Addr.String(), lab.MAC(host.Addr).String())
	return err
}
