package weigh

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
)

// rankedRun is a result with networks of the given tolls and their host.
func rankedRun(tolls map[string]float64) *result.Result {
	res := measuredRun(9, 4e10, 0, nil)
	base := res.Cells[0]
	res.Cells = []result.Cell{base}
	for name, toll := range tolls {
		one := measuredRun(9, 4e10, toll, nil).Cells[1]
		one.Network = name
		res.Cells = append(res.Cells, one)
	}
	return res
}

func rankedNames(r result.Ranking) []string {
	var names []string
	for _, one := range r.Ranked {
		names = append(names, fmt.Sprintf("%d %s", one.Place, one.Network))
	}
	return names
}

// TestNetworksThatAreAlikeShareAPlace has two that cannot be distinguished, and one
// that is clearly worse.
func TestNetworksThatAreAlikeShareAPlace(t *testing.T) {
	rankings := Rank(rankedRun(map[string]float64{"route": 0.20, "ptp": 0.205, "vxlan": 0.40}))
	if len(rankings) != 1 {
		t.Fatalf("%d rankings, want that of one path under one workload", len(rankings))
	}
	if got, want := rankedNames(rankings[0]), []string{"1 route", "1 ptp", "2 vxlan"}; !slices.Equal(got, want) {
		t.Errorf("ranked %v, want %v", got, want)
	}
	last := rankings[0].Ranked[2]
	labtest.Equal(t, "what the last place is compared with", last.Than, "route")
	if last.Behind == nil || last.Behind.Low == nil {
		t.Fatalf("the last place has no interval: %+v", last.Behind)
	}
	labtest.AtLeast(t, "low end of how far the last is behind", *last.Behind.Low, 0.2)
}

func TestAHostAloneIsNotRanked(t *testing.T) {
	labtest.Equal(t, "rankings", len(Rank(rankedRun(nil))), 0)
}

func TestStandInsAndFailuresHaveNoPlace(t *testing.T) {
	res := rankedRun(map[string]float64{"route": 0.2, "vlan": 0.1, "vxlan": 0.3, "bgp-ipip": 0.4, "gre": 0.3})
	res.Plan.Needs = []string{"no-l2"}
	for n := range res.Cells {
		switch cell := &res.Cells[n]; cell.Network {
		case "bgp-ipip":
			cell.Fidelity = catalog.StandIn
		case "vxlan":
			cell.Status, cell.Reason, cell.Metrics = result.StatusFailed, "no route to host", nil
		case "gre":
			cell.Metrics[0].Warnings = append(cell.Metrics[0].Warnings, result.Emulated+": no time is a machine's")
		}
	}
	r := Rank(res)[0]
	reasons := map[string]string{}
	for _, u := range r.Unranked {
		reasons[u.Network] = u.Reason
	}
	for name, want := range map[string]string{"route": "no-l2", "vlan": "no-l2", "bgp-ipip": "stand-in", "vxlan": "no route to host", "gre": "emulated"} {
		if !strings.Contains(reasons[name], want) {
			t.Errorf("%s: %q, want %q", name, reasons[name], want)
		}
	}
	if len(r.Ranked) != 0 {
		t.Errorf("ranked %v, want none", rankedNames(r))
	}
}
