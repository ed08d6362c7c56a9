package lab

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Self is how a command line names this binary; inside a container that a real
// engine made the binary has another path.
const (
	Self        = "/proc/self/exe"
	SelfInImage = "/tare"
)

// Cgroup is the host's control group, by its path below the root of every
// hierarchy. The host's engines make theirs below it.
func (h *Host) Cgroup() string { return cmp.Or(h.cluster.lab.cgroupOf(h.CPUs), "/") }

// command is how a command line starts in the namespace, and in which namespace
// that happens: the engine itself starts processes in its containers.
func (ns *Namespace) command(argv []string) (*Namespace, []string) {
	if len(ns.via) == 0 {
		return ns, argv
	}
	inside := slices.Clone(argv)
	if inside[0] == Self {
		inside[0] = SelfInImage
	}
	return ns.from, slices.Concat(ns.via, inside)
}

// Share gives the hosts of a cluster under a second name and with separate
// containers, for the networks of one engine. The lab owns the new cluster, which
// must end before the one whose hosts it shares.
func (l *Lab) Share(of *Cluster, name string) (*Cluster, error) {
	cluster := &Cluster{Spec: of.Spec, Warnings: slices.Clone(of.Warnings), RPS: of.RPS, lab: l}
	cluster.Spec.Name = name
	for _, h := range of.Hosts {
		// Mounts are made now, so that both names have the same.
		if err := onThread(h.enter); err != nil {
			return nil, fmt.Errorf("share hosts of %s: %w", of.Spec.Name, err)
		}
		cluster.hold(&Host{
			Namespace: &Namespace{
				Name: name + "." + h.Short, CPUs: h.CPUs, cgroup: h.cgroup, CC: h.CC,
				net: h.net, nft: h.nft, mount: h.mount, links: h.links, devices: h.devices, ipv6: h.ipv6,
			},
			Short: h.Short, Number: h.Number, Addr: h.Addr, shared: true,
		})
	}
	l.add(cluster)
	return cluster, nil
}

// SettleCC sets the lab's congestion control on every route that a real part
// added without it.
func (ns *Namespace) SettleCC() error {
	if ns.CC == "" {
		return nil
	}
	if err := ns.chooseLocalCC(); err != nil {
		return err
	}
	var routes []netlink.Route
	for _, family := range ns.families() {
		some, err := retry(func() ([]netlink.Route, error) { return ns.links.RouteList(nil, family) })
		if err != nil {
			return fmt.Errorf("list routes in %s: %w", ns.Name, err)
		}
		routes = append(routes, some...)
	}
	for _, route := range routes {
		if route.Congctl == ns.CC || route.Type != unix.RTN_UNICAST {
			continue
		}
		route.Congctl = ns.CC
		route.Flags &= int(netlink.FLAG_ONLINK) // the kernel sets the others itself and refuses them
		if err := ns.links.RouteReplace(&route); err != nil && !withItsDevice(err) {
			return fmt.Errorf("set congestion control %s on route %s in %s: %w", ns.CC, route.Dst, ns.Name, err)
		}
	}
	return nil
}
