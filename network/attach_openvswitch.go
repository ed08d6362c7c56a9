package network

import (
	"net/netip"

	"tare/engine/openvswitch"
	"tare/lab"
)

// datapath chooses the datapath of Open vSwitch on a host, and notes a stand-in.
func datapath(h *lab.Host, setup *Setup) (string, error) {
	chosen, err := openvswitch.Datapath(h)
	if chosen == openvswitch.Userspace {
		setup.standIn("userspace-datapath: this kernel has no datapath of Open vSwitch (modprobe openvswitch): " +
			"ovs-vswitchd itself forwards each frame, without segmentation and checksum offload, whatever the nic")
	}
	return chosen, err
}

// tryOpenVSwitch reports which datapath this machine has, without the daemons.
func tryOpenVSwitch(cluster *lab.Cluster, setup *Setup) error {
	_, err := datapath(cluster.Hosts[0], setup)
	return err
}

// setUpOpenVSwitch starts Open vSwitch on every host, configures each switch, and
// attaches containers.
func setUpOpenVSwitch(cluster *lab.Cluster, setup *Setup,
	configure func(s *openvswitch.Switch) error, attach func(s *openvswitch.Switch, c *lab.Container) error,
) error {
	all, err := startSwitches(cluster, setup, configure)
	if err != nil {
		return err
	}
	if err := setup.populate(cluster, func(c *lab.Container) error { return attach(all.of(c.Host), c) }); err != nil {
		return err
	}
	return allHosts(cluster, func(h *lab.Host) error { return all.of(h).Check() })
}

// startSwitches starts Open vSwitch on every host and configures each switch.
func startSwitches(cluster *lab.Cluster, setup *Setup, configure func(s *openvswitch.Switch) error) (switches, error) {
	path, err := datapath(cluster.Hosts[0], setup)
	if err != nil {
		return nil, err
	}
	all := make(switches, len(cluster.Hosts))
	return all, allHosts(cluster, func(h *lab.Host) error {
		s, err := openvswitch.Start(h, path)
		if err != nil {
			return err
		}
		all[h.Number-1] = s
		return configure(s)
	})
}

// switches are those of a cluster, by host.
type switches []*openvswitch.Switch

func (all switches) of(h *lab.Host) *openvswitch.Switch { return all[h.Number-1] }

// addUplink adds a bridge with the interface on the underlay in it.
func addUplink(s *openvswitch.Switch, bridge string, settings ...string) error {
	return s.AddUplink(bridge, underlayBits, settings...)
}

// plug creates a container and attaches it to the bridge.
func plug(s *openvswitch.Switch, c *lab.Container, mtu int, addr netip.Prefix, settings ...string) error {
	if err := c.Create(); err != nil {
		return err
	}
	return plugIn(s, c, mtu, addr, settings...)
}

// plugIn attaches a container that has a namespace to the bridge, at the port of its
// number. The container reaches only what is on its link.
func plugIn(s *openvswitch.Switch, c *lab.Container, mtu int, addr netip.Prefix, settings ...string) error {
	port, err := join(c, addr.Addr(), mtu, nil)
	if err != nil {
		return err
	}
	if err := c.AddAddress(lab.Device, addr); err != nil {
		return err
	}
	return s.Attach(bridgeName, c, port, settings...)
}
