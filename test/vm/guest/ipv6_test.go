package guest

import (
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
)

// overIPv6 are the networks with IPv6 whose parts a kernel may lack.
var overIPv6 = []string{"vlan", "bridge-vlan", "ipvlan", "gre", "geneve", "wireguard", "ovs", "ovs-vlan", "ovs-vxlan", "ebpf-redirect", "netkit"}

// areWeighedOverIPv6 measures each of them over IPv6 between hosts.
func areWeighedOverIPv6(t *testing.T) {
	labtest.NoLeaks(t)
	networks := slices.DeleteFunc(slices.Clone(overIPv6), func(name string) bool { return lacks(t, name) })
	res := decode[result.Result](t, run(t, "run", "--ip", "6", "--networks", strings.Join(networks, ","), "--load-modules",
		"--paths", catalog.CrossHost, "--workloads", "tcp_rr", "--blocks", "1", "--duration", "20ms", "--design", "windows", "--nic", "full", "--json"))
	measured := map[string]int{}
	for _, c := range res.Cells {
		if c.Status != result.StatusOK || c.Params.Number("ip") != 6 {
			t.Errorf("%s on %s: %s, %v: %s", c.Network, c.Path, c.Status, c.Params, c.Reason)
		}
		measured[c.Network]++
	}
	for _, name := range networks {
		labtest.AtLeast(t, "cells of "+name, measured[name], 1)
	}
}
