package lab

import (
	"errors"
	"fmt"
)

// TakeFrames lets every veth of the cluster take what a BPF program sends by its other end
// (ndo_xdp_xmit): GRO turns its NAPI on, which that needs (Linux 5.13, veth_xdp_xmit in
// drivers/net/veth.c). A veth comes with GRO off.
func (cluster *Cluster) TakeFrames() error {
	var errs []error
	for _, ns := range cluster.namespaces() {
		links, err := retry(ns.links.LinkList)
		if err != nil {
			errs = append(errs, fmt.Errorf("list devices in %s: %w", ns.Name, err))
		}
		for _, link := range links {
			if link.Type() == "veth" {
				errs = append(errs, ns.SetFeatures(link.Attrs().Name, map[string]bool{"rx-gro": true}))
			}
		}
	}
	return errors.Join(errs...)
}
