package experiment

import (
	"slices"
	"strings"
	"testing"

	"tare/result"
)

func TestMeetingLeavesWhatMeets(t *testing.T) {
	var plan result.Plan
	for _, name := range Everything() {
		plan.Networks = append(plan.Networks, result.NetworkPlan{Name: name})
	}
	meeting := func(needs ...string) (result.Plan, error) {
		asks := plan
		asks.Needs = needs
		return Meeting(asks)
	}
	met, err := meeting("encryption", "no-l2")
	var names []string
	for _, n := range met.Networks {
		names = append(names, n.Name)
	}
	if err != nil || !slices.Equal(names, []string{"host", "wireguard", "wireguard-go", "ipsec"}) || len(met.Skipped) != len(plan.Networks)-4 {
		t.Errorf("left %v, skipped %d, error %v", names, len(met.Skipped), err)
	}
	if _, err := meeting("encryption", "policy"); err == nil || !strings.Contains(err.Error(), "policy is met by bgp, bgp-rr, bgp-ipip") {
		t.Errorf("nothing meets both: the error is %v", err)
	}
	if _, err := meeting("encrypted"); err == nil || !strings.Contains(err.Error(), `did you mean "encryption"`) {
		t.Errorf("a word that is none: %v", err)
	}
}
