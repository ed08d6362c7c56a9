package experiment

import (
	"fmt"
	"strings"
	"testing"

	"tare/network"
	"tare/result"
	"tare/test/labtest"
	"tare/workload"
)

// What can't pause is measured in windows, and keeps no other network from taking turns.
func TestNetworksThatDoNotPauseAreMeasuredApart(t *testing.T) {
	for _, c := range []struct{ path, workload, design, networks, want string }{
		{network.CrossHost, workload.RoundTrips, result.DesignSlots, "route gvisor", "turns true: hosta hostb route; turns false: hosta hostb gvisor"},
		{network.CrossHost, workload.RoundTrips, result.DesignSlots, "gvisor", "turns false: hosta hostb gvisor"},
		{network.CrossHost, workload.RoundTrips, result.DesignWindows, "route gvisor", "turns false: hosta hostb route gvisor"},
		{network.PublishedPort, workload.RoundTrips, result.DesignSlots, "nat pasta", "turns true: hosta hostb nat pasta"},
		{network.PublishedPort, workload.Bulk, result.DesignSlots, "nat pasta proxy", "turns true: hosta hostb nat; turns false: hosta hostb pasta proxy"},
		{network.PublishedPort, workload.Bulk, result.DesignSlots, "proxy", "turns false: hosta hostb proxy"},
	} {
		var all []string
		for _, g := range groupsOf(Complete(result.Plan{
			Networks: result.NetworksNamed(strings.Fields(c.networks)...), Paths: []string{c.path}, Workloads: []result.WorkloadPlan{{Name: c.workload}},
			NIC: []string{"full"}, Design: c.design,
		})) {
			of := fmt.Sprint("turns ", takesTurns(Complete(result.Plan{Design: c.design}), g), ":")
			for _, at := range g.places {
				of += " " + at.network.Name + at.layout
			}
			all = append(all, of)
		}
		labtest.Equal(t, c.networks+" "+c.workload+" "+c.design, strings.Join(all, "; "), c.want)
	}
}
