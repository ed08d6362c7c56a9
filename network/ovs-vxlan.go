package network

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"tare/lab"
	"tare/wire"
)

// Openflow is the parameter by which Open vSwitch learns addresses, or has a
// rule for each pair of them.
const Openflow = "openflow"

const (
	openflowNormal   = "normal"
	openflowExplicit = "explicit"
	// openflowMost bounds the rules of a bridge: they grow with the square of
	// the containers.
	openflowMost = 200_000
)

// physicalBridge holds the underlay's interface where the userspace datapath
// sends its tunnels.
const physicalBridge = "br-phys"

// ovsVXLAN is a bridge of Open vSwitch per host with a VXLAN port to every
// other.
func ovsVXLAN() Network {
	return Network{
		Name:     "ovs-vxlan",
		Doc:      "Open vSwitch per host, VXLAN between them, container MTU = underlay - 50",
		Parent:   "ovs",
		Fidelity: Product,
		Facts:    Facts{Kernel: "openvswitch"},
		Stack:    wire.VXLAN(),
		Paths:    []string{SameHost, CrossHost},
		Needs:    needsOpenVSwitch(),
		Missing:  "Open vSwitch",
		Get:      "apt-get install openvswitch-switch",
		Params: []Param{{
			Name: Openflow, Doc: "how Open vSwitch forwards: as a switch, or by a rule for each pair of addresses",
			Values: []string{openflowNormal, openflowExplicit}, List: true,
		}},
		Try:   tryOpenVSwitch,
		SetUp: setUpOVSVXLAN,
	}
}

func setUpOVSVXLAN(cluster *lab.Cluster, setup *Setup) error {
	if rules := pairRules(len(cluster.Hosts), setup.Containers); setup.Params[Openflow] == openflowExplicit && rules > openflowMost {
		return fmt.Errorf("%d containers on %d hosts take %d rules on each, the most is %d: use fewer --containers", setup.Containers, len(cluster.Hosts), rules, openflowMost)
	}
	lay := func(s *openVSwitch) error {
		if err := s.addOverlay(cluster); err != nil {
			return err
		}
		for _, other := range cluster.Hosts {
			if other == s.host {
				continue
			}
			err := s.addTunnel("vxlan-"+other.Short, tunnelPort+other.Number,
				"options:remote_ip="+other.Addr.String(), "options:key="+strconv.Itoa(vxlanVNI))
			if err != nil {
				return err
			}
		}
		return nil
	}
	mtu := wire.InnerMTU(cluster.Spec.MTU, wire.VXLAN())
	err := setUpOpenVSwitch(cluster, setup, lay, func(s *openVSwitch, c *lab.Container) error {
		return s.plug(bridgeName, c, mtu, overlayContainer(c.Host, c.Number))
	})
	if err != nil || setup.Params[Openflow] != openflowExplicit {
		return err
	}
	return pairUp(cluster, setup)
}

// pairUp lays the rules of all pairs, and again with each container that comes
// or goes.
func pairUp(cluster *lab.Cluster, setup *Setup) error {
	var one sync.Mutex // of two that read who is there, the later must lay later
	lay := func() error {
		one.Lock()
		defer one.Unlock()
		return allHosts(cluster, func(h *lab.Host) error {
			return (&openVSwitch{host: h}).setFlows(bridgeName, pairFlows(cluster, h))
		})
	}
	plug := setup.attach
	setup.attach = func(c *lab.Container) error {
		if err := plug(c); err != nil {
			return err
		}
		c.Detach.Push(lay) // it is no longer among the host's by then
		return lay()
	}
	return lay()
}

// overlayContainer gives the address of the host's n-th container, from 1, in
// the overlay.
func overlayContainer(h *lab.Host, n int) netip.Prefix {
	return netip.PrefixFrom(overlayAddr(h, n+1), underlayBits)
}

// addOverlay makes the bridge of the overlay. The userspace datapath sends what
// it encapsulates through a second bridge, which holds the host's address.
func (s *openVSwitch) addOverlay(cluster *lab.Cluster) error {
	if err := s.addBridge(bridgeName, lab.MAC(overlayAddr(s.host, 1))); err != nil {
		return err
	}
	if s.datapath != ovsUserspace {
		return nil
	}
	if err := s.addUplink(physicalBridge); err != nil {
		return err
	}
	for _, other := range cluster.Hosts {
		if other == s.host {
			continue
		}
		if err := s.knowHost(other); err != nil {
			return err
		}
	}
	return nil
}

// addTunnel adds a VXLAN port to the bridge of the overlay. No packet passes
// from one such port to another, so that a mesh of tunnels has no loop.
func (s *openVSwitch) addTunnel(name string, port int, options ...string) error {
	args := append(portOf(bridgeName, name, port, "protected=true"), "type=vxlan", "options:local_ip="+s.host.Addr.String())
	return s.vsctl(append(args, options...)...)
}

// pairRules is how many rules pairFlows gives a host.
func pairRules(hosts, containers int) int {
	remote := (hosts - 1) * containers
	return containers*(containers-1) + 2*containers*remote + containers + remote
}

// pairFlows are the rules of a host that name both addresses and the port of
// each pair that talks, and of each that asks for an address.
func pairFlows(cluster *lab.Cluster, h *lab.Host) []string {
	type end struct {
		mac  string
		port int
	}
	var local, remote []end
	for _, other := range cluster.Hosts {
		for _, c := range other.Containers() {
			mac := lab.MAC(overlayContainer(other, c.Number).Addr()).String()
			if other == h {
				local = append(local, end{mac, c.Number})
			} else {
				remote = append(remote, end{mac, tunnelPort + other.Number})
			}
		}
	}
	var flows []string
	rule := func(from end, to string, ports ...string) {
		flows = append(flows, fmt.Sprintf("in_port=%d,dl_src=%s,dl_dst=%s,actions=output:%s",
			from.port, from.mac, to, strings.Join(ports, ",output:")))
	}
	toAll := func(from end, all []end) {
		var ports []string
		for _, to := range all {
			if port := strconv.Itoa(to.port); to.port != from.port && (len(ports) == 0 || ports[len(ports)-1] != port) {
				ports = append(ports, port)
			}
		}
		if len(ports) > 0 {
			rule(from, "ff:ff:ff:ff:ff:ff", ports...)
		}
	}
	for _, from := range local {
		for _, to := range append(append([]end{}, local...), remote...) {
			if to != from {
				rule(from, to.mac, strconv.Itoa(to.port))
			}
		}
		toAll(from, append(append([]end{}, local...), remote...))
	}
	for _, from := range remote {
		for _, to := range local {
			rule(from, to.mac, strconv.Itoa(to.port))
		}
		toAll(from, local)
	}
	return flows
}
