package lab

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
)

// LegacyLargest is the largest packet of segments that devices pass unless they are asked for
// more, in bytes (GSO_LEGACY_MAX_SIZE in include/linux/netdevice.h).
const LegacyLargest = 65536

// SetLargest lets every device of the cluster, its containers' included, send and merge
// packets of segments of up to so many bytes (BIG TCP; for IPv4 Linux 6.3). It returns the
// devices that refuse, by namespace.
func (cluster *Cluster) SetLargest(bytes int) (refused []string, err error) {
	var errs []error
	for _, ns := range cluster.namespaces() {
		names, err := ns.setLargest(bytes)
		refused, errs = append(refused, names...), append(errs, err)
	}
	return refused, errors.Join(errs...)
}

// namespaces are those of the hosts, of their containers and of the switch.
func (cluster *Cluster) namespaces() []*Namespace {
	var all []*Namespace
	for _, h := range cluster.Hosts {
		all = append(all, h.Namespace)
		for _, c := range h.Containers() {
			all = append(all, c.Namespace)
		}
	}
	if cluster.fabric != nil {
		all = append(all, cluster.fabric)
	}
	return all
}

func (ns *Namespace) setLargest(bytes int) (refused []string, err error) {
	links, err := retry(ns.links.LinkList)
	if err != nil {
		return nil, fmt.Errorf("list devices in %s: %w", ns.Name, err)
	}
	for _, link := range links {
		for _, set := range []func(netlink.Link, int) error{
			ns.links.LinkSetGSOMaxSize, ns.links.LinkSetGROMaxSize, ns.links.LinkSetGSOIPv4MaxSize, ns.links.LinkSetGROIPv4MaxSize,
		} {
			if set(link, bytes) != nil { // a device that can't, or a kernel that knows no such size
				refused = append(refused, link.Attrs().Name+" in "+ns.Name)
				break
			}
		}
	}
	return refused, nil
}
