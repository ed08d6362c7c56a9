package kinds

import (
	"slices"

	"tare/engine/openvswitch"
	"tare/engine/ovncontrol"
	"tare/lab"
	"tare/network"
	"tare/wire"
)

// logicalSwitch is the name of the one that all containers are on.
const logicalSwitch = "containers"

// ovn is a logical switch of OVN over all hosts: OVN writes the flows of each
// host's Open vSwitch, and Geneve carries what crosses hosts.
func ovn() network.Network {
	return network.Network{
		Needs: slices.Concat(openvswitch.Needs(), ovncontrol.Needs()),
		Try:   tryOpenVSwitch,
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			all, err := startSwitches(cluster, setup, func(s *openvswitch.Switch) error { return addIntegration(s, cluster) })
			if err != nil {
				return err
			}
			f := logical{cluster: cluster, switches: all}
			if f.central, err = ovncontrol.StartCentral(cluster.Hosts[0]); err != nil {
				return err
			}
			if err := f.central.AddSwitch(logicalSwitch); err != nil {
				return err
			}
			if err := network.AllHosts(cluster, f.control); err != nil {
				return err
			}
			if err := setup.Populate(cluster, f.plug); err != nil {
				return err
			}
			setup.Attach = f.join
			return f.settle()
		},
	}
}

// logical is a logical switch and the switches of the hosts that carry it.
type logical struct {
	cluster  *lab.Cluster
	central  *ovncontrol.Central
	switches switches
}

// addIntegration makes the bridge that ovn-controller programs. Without its flows it
// drops everything, as ovn-controller itself would make it.
func addIntegration(s *openvswitch.Switch, cluster *lab.Cluster) error {
	if err := addOverlay(s, ovncontrol.Bridge, cluster); err != nil {
		return err
	}
	return s.Configure("set-fail-mode", ovncontrol.Bridge, "secure")
}

// control starts ovn-controller on a host.
func (f logical) control(h *lab.Host) error {
	settings := append([]string{"set", "Open_vSwitch", "."}, f.central.Settings(h)...)
	if err := f.switches.of(h).Configure(settings...); err != nil {
		return err
	}
	return ovncontrol.StartController(h)
}

// plug attaches a container's device to its host, for its port of the logical switch.
func (f logical) plug(c *lab.Container) error {
	addr := overlayContainer(c.Host, c.Number)
	device, err := network.CreateWithPair(c, addr.Addr(), wire.InnerMTU(f.cluster.Spec.MTU, wire.OVN()), nil)
	if err != nil {
		return err
	}
	if err := c.AddAddress(lab.Device, addr); err != nil {
		return err
	}
	port := f.portOf(c)
	c.Detach.Push(func() error { return f.central.RemovePort(port) })
	return f.switches.of(c.Host).AttachAs(ovncontrol.Bridge, c, device, port.Name)
}

// join attaches one more container, and waits until all hosts know it.
func (f logical) join(c *lab.Container) error {
	if err := f.plug(c); err != nil {
		return err
	}
	return f.central.AddPorts(logicalSwitch, []ovncontrol.Port{f.portOf(c)})
}

// settle adds the ports of the first containers, all at once, since OVN computes its
// flows anew after each change, and waits until every host has its tunnels and flows.
func (f logical) settle() error {
	err := network.AllHosts(f.cluster, func(h *lab.Host) error {
		s := f.switches.of(h)
		err := network.EachOther(f.cluster, h, func(other *lab.Host) error {
			return s.Configure("wait-until", "Interface", "ovn-"+other.Short+"-0", "ofport>0")
		})
		if err != nil {
			return err
		}
		return s.Check()
	})
	if err != nil {
		return err
	}
	var ports []ovncontrol.Port
	for _, h := range f.cluster.Hosts {
		for _, c := range h.Containers() {
			ports = append(ports, f.portOf(c))
		}
	}
	return f.central.AddPorts(logicalSwitch, ports)
}

// portOf is a container's port of the logical switch, with its addresses.
func (f logical) portOf(c *lab.Container) ovncontrol.Port {
	addresses := []string{lab.MAC(c.Addr).String(), c.Addr.String()}
	if f.cluster.Spec.IPv6 {
		addresses = append(addresses, lab.IPv6Of(c.Addr).String())
	}
	return ovncontrol.Port{Name: c.Host.Short + "-" + c.Short, Host: c.Host, Addresses: addresses}
}
