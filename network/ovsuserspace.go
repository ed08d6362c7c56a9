package network

import (
	"fmt"

	"github.com/google/nftables"

	"tare/lab"
)

// The userspace datapath reads and writes devices by packet sockets: frame by
// frame, as they are on a wire. What a veth leaves for later, a checksum or a
// segmentation, nobody would do.

// sendWhole lets a container send what a wire carries: frames of its MTU, with
// their checksums.
func (s *openVSwitch) sendWhole(c *lab.Container) error {
	if s.datapath != ovsUserspace {
		return nil
	}
	return c.SetFeatures(lab.Device, map[string]bool{
		"tx-checksum-ip-generic": false, "tx-tcp-segmentation": false, "tx-udp-segmentation": false,
	})
}

// takeFrom leaves what arrives on a device of the host to the switch alone: not
// joined to more than a frame, and not passed to the host's own stack, which
// sees it too and would answer (Open vSwitch's INSTALL.userspace). The hook is
// after the packet sockets.
func (s *openVSwitch) takeFrom(device string) error {
	if s.datapath != ovsUserspace {
		return nil
	}
	if err := s.host.SetFeatures(device, map[string]bool{"rx-gro": false}); err != nil {
		return err
	}
	drop := ingressOf(device)
	err := s.host.Nftables(func(conn *nftables.Conn) {
		conn.AddTable(drop.Table)
		conn.AddChain(drop)
	})
	if err != nil {
		return fmt.Errorf("leave %s to Open vSwitch: %w", device, err)
	}
	return nil
}

// leave takes back what takeFrom laid: from Linux 6.16 on it would wait for the
// next device of the name.
func (s *openVSwitch) leave(device string) error {
	if s.datapath != ovsUserspace {
		return nil
	}
	return s.host.Nftables(func(conn *nftables.Conn) { conn.DelChain(ingressOf(device)) })
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

// knowHost tells the switch where another host's end of a tunnel is on the
// underlay: it drops what comes before the answer to its own question.
func (s *openVSwitch) knowHost(other *lab.Host) error {
	if s.datapath != ovsUserspace {
		return nil
	}
	_, err := s.host.Run("ovs-appctl", "-t", s.control, "tnl/neigh/set", physicalBridge, other.Addr.String(), lab.MAC(other.Addr).String())
	return err
}
