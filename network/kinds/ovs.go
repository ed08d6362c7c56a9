package kinds

import (
	"net/netip"

	"tare/engine/openvswitch"
	"tare/lab"
	"tare/network"
)

// underlayBits is the length of the underlay's prefix, 10.0.0.0/16.
const underlayBits = 16

// ovs is a bridge of Open vSwitch on each host with the interface on the underlay
// in it, so that the containers of all hosts, and the hosts, are on one link. Its
// parent is veth, not bridge: the switch replaces the Linux bridge.
func ovs() network.Network {
	return network.Network{
		Needs: openvswitch.Needs(),
		Try:   tryOpenVSwitch,
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			return setUpOpenVSwitch(cluster, setup,
				func(s *openvswitch.Switch) error { return addUplink(s, network.BridgeName) },
				func(s *openvswitch.Switch, c *lab.Container) error {
					return plug(s, c, cluster.Spec.MTU, underlayContainer(c))
				})
		},
	}
}

// underlayContainer returns a container's address on the underlay.
func underlayContainer(c *lab.Container) netip.Prefix {
	return netip.PrefixFrom(lab.UnderlayAddr(c.Host.Number, c.Number), underlayBits)
}

// datapath chooses the datapath of Open vSwitch on a host, and notes a stand-in.
func datapath(h *lab.Host, setup *network.Setup) (string, error) {
	chosen, err := openvswitch.Datapath(h)
	if chosen == openvswitch.Userspace {
		setup.StandIn("userspace-datapath: this kernel has no datapath of Open vSwitch (modprobe openvswitch): " +
			"ovs-vswitchd itself forwards each frame, without segmentation and checksum offload, whatever the nic")
	}
	return chosen, err
}

// tryOpenVSwitch reports which datapath this machine has, without the daemons.
func tryOpenVSwitch(cluster *lab.Cluster, setup *network.Setup) error {
	_, err := datapath(cluster.Hosts[0], setup)
	return err
}

// setUpOpenVSwitch starts Open vSwitch on every host, configures each switch, and
// attaches containers.
func setUpOpenVSwitch(cluster *lab.Cluster, setup *network.Setup,
	configure func(s *openvswitch.Switch) error, attach func(s *openvswitch.Switch, c *lab.Container) error,
) error {
	all, err := startSwitches(cluster, setup, configure)
	if err != nil {
		return err
	}
	if err := setup.Populate(cluster, func(c *lab.Container) error { return attach(all.of(c.Host), c) }); err != nil {
		return err
	}
	return network.AllHosts(cluster, func(h *lab.Host) error { return all.of(h).Check() })
}

// startSwitches starts Open vSwitch on every host and configures each switch.
func startSwitches(cluster *lab.Cluster, setup *network.Setup, configure func(s *openvswitch.Switch) error) (switches, error) {
	path, err := datapath(cluster.Hosts[0], setup)
	if err != nil {
		return nil, err
	}
	all := make(switches, len(cluster.Hosts))
	return all, network.AllHosts(cluster, func(h *lab.Host) error {
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
	port, err := network.AddPair(c, addr.Addr(), mtu, nil)
	if err != nil {
		return err
	}
	if err := c.AddAddress(lab.Device, addr); err != nil {
		return err
	}
	return s.Attach(network.BridgeName, c, port, settings...)
}
