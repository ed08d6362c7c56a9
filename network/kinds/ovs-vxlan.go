package kinds

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"tare/catalog"
	"tare/engine/openvswitch"
	"tare/lab"
	"tare/network"
	"tare/wire"
)

const (
	// openflowMost limits the rules of a bridge, whose number grows with the square
	// of the containers.
	openflowMost = 200_000
)

// physicalBridge holds the interface on the underlay if the datapath is in user
// space. The tunnels use it.
const physicalBridge = "br-phys"

// ovsVXLAN is a bridge of Open vSwitch per host with a VXLAN port to every
// other.
func ovsVXLAN() network.Network {
	return network.Network{
		Needs: openvswitch.Needs(),
		Try:   tryOpenVSwitch,
		SetUp: setUpOVSVXLAN,
	}
}

func setUpOVSVXLAN(cluster *lab.Cluster, setup *network.Setup) error {
	if rules := pairRules(len(cluster.Hosts), setup.Containers); setup.Params[catalog.Openflow] == catalog.OpenflowExplicit && rules > openflowMost {
		return fmt.Errorf("%d containers on %d hosts need %d rules on each, the limit is %d: use fewer --containers", setup.Containers, len(cluster.Hosts), rules, openflowMost)
	}
	all := make(switches, len(cluster.Hosts))
	configure := func(s *openvswitch.Switch) error {
		all[s.Host.Number-1] = s
		if err := addOverlay(s, network.BridgeName, cluster); err != nil {
			return err
		}
		return network.EachOther(cluster, s.Host, func(other *lab.Host) error {
			return s.AddVXLAN(network.BridgeName, "vxlan-"+other.Short, openvswitch.TunnelPort+other.Number,
				"options:remote_ip="+other.Addr.String(), "options:key="+strconv.Itoa(vxlanVNI))
		})
	}
	mtu := wire.InnerMTU(cluster.Spec.MTU, wire.VXLAN())
	err := setUpOpenVSwitch(cluster, setup, configure, func(s *openvswitch.Switch, c *lab.Container) error {
		return plug(s, c, mtu, overlayContainer(c.Host, c.Number))
	})
	if err != nil || setup.Params[catalog.Openflow] != catalog.OpenflowExplicit {
		return err
	}
	return pairUp(cluster, setup, all)
}

// pairUp sets the flows of all pairs, and again each time that a container is
// attached or removed.
func pairUp(cluster *lab.Cluster, setup *network.Setup, all switches) error {
	var one sync.Mutex // else flows of an earlier state could be set last
	update := func() error {
		one.Lock()
		defer one.Unlock()
		return network.AllHosts(cluster, func(h *lab.Host) error { return all.of(h).SetFlows(network.BridgeName, pairFlows(cluster, h)) })
	}
	attach := setup.Attach
	setup.Attach = func(c *lab.Container) error {
		if err := attach(c); err != nil {
			return err
		}
		c.Detach.Push(update) // by then the container is no longer one of its host
		return update()
	}
	return update()
}

// overlayContainer returns the address of the host's n-th container, from 1, in
// the overlay.
func overlayContainer(h *lab.Host, n int) netip.Prefix {
	return netip.PrefixFrom(overlayAddr(h, n+1), underlayBits)
}

// addOverlay makes the bridge of the overlay. The userspace datapath sends
// encapsulated packets through a second bridge, which has the host's address.
func addOverlay(s *openvswitch.Switch, bridge string, cluster *lab.Cluster) error {
	if err := s.AddBridge(bridge, lab.MAC(overlayAddr(s.Host, 1))); err != nil {
		return err
	}
	if s.Datapath != openvswitch.Userspace {
		return nil
	}
	if err := addUplink(s, physicalBridge); err != nil {
		return err
	}
	return network.EachOther(cluster, s.Host, func(other *lab.Host) error { return s.AddNeighbour(physicalBridge, other) })
}

// pairRules is the number of flows that pairFlows returns for a host.
func pairRules(hosts, containers int) int {
	remote := (hosts - 1) * containers
	return containers*(containers-1) + 2*containers*remote + containers + remote
}

// pairFlows are the flows of a host: one for each direction of each pair of
// containers, by their MAC addresses and ports, and one for the broadcasts (ARP) of
// each container.
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
				remote = append(remote, end{mac, openvswitch.TunnelPort + other.Number})
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
