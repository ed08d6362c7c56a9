package experiment

import (
	"fmt"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
)

// What can't pause is measured in windows, and keeps no other network from taking turns.
func TestNetworksThatDoNotPauseAreMeasuredApart(t *testing.T) {
	for _, c := range []struct {
		path, workload         string
		flows                  int
		design, networks, want string
	}{
		{catalog.CrossHost, catalog.RoundTrips, 1, result.DesignSlots, "route gvisor", "turns true: hosta hostb route; turns false: hosta hostb gvisor"},
		{catalog.CrossHost, catalog.RoundTrips, 1, result.DesignSlots, "gvisor", "turns false: hosta hostb gvisor"},
		{catalog.CrossHost, catalog.RoundTrips, 1, result.DesignWindows, "route gvisor", "turns false: hosta hostb route gvisor"},
		{catalog.PublishedPort, catalog.RoundTrips, 1, result.DesignSlots, "nat pasta", "turns true: hosta hostb nat pasta"},
		{catalog.PublishedPort, catalog.Bulk, 1, result.DesignSlots, "nat pasta proxy", "turns true: hosta hostb nat proxy; turns false: hosta hostb pasta"},
		{catalog.PublishedPort, catalog.Bulk, 2, result.DesignSlots, "nat pasta proxy", "turns true: hosta hostb nat; turns false: hosta hostb pasta proxy"},
		{catalog.PublishedPort, catalog.Bulk, 2, result.DesignSlots, "proxy", "turns false: hosta hostb proxy"},
	} {
		var all []string
		for _, g := range groupsOf(Complete(result.Plan{
			Networks: result.NetworksNamed(strings.Fields(c.networks)...), Paths: []string{c.path}, Workloads: []result.WorkloadPlan{{Name: c.workload, Flows: c.flows}},
			Axes: result.PlanAxes{"nic": {"full"}}, Design: c.design,
		})) {
			of := fmt.Sprint("turns ", takesTurns(Complete(result.Plan{Design: c.design}), g), ":")
			for _, at := range g.places {
				of += " " + at.network.Name + at.layout
			}
			all = append(all, of)
		}
		labtest.Equal(t, fmt.Sprint(c.networks, " ", c.workload, " ", c.flows, " ", c.design), strings.Join(all, "; "), c.want)
	}
}
