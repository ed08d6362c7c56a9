package probe

import (
	"maps"
	"strings"
	"testing"
)

// The capture has rules of nft and of iptables, which refused 46 datagrams.
func TestParseRules(t *testing.T) {
	got := parseRules(netlink(t, "ruleset"))
	want := map[string]any{
		"inet t forward.rules": 3, "inet t forward.hook": "forward", "inet t forward.policy": "drop", "inet t forward.counts": false, "inet t mine.rules": 0,
		"ip filter FORWARD.rules": 1, "ip filter FORWARD.hook": "forward", "ip filter FORWARD.policy": "drop", "ip filter FORWARD.counts": true,
		"ip nat POSTROUTING.rules": 1, "ip nat POSTROUTING.hook": "postrouting", "ip nat POSTROUTING.policy": "accept", "ip nat POSTROUTING.counts": false,
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestParseRuleCounters(t *testing.T) {
	got := map[string]float64{}
	for name, packets := range parseRuleCounters(netlink(t, "ruleset")) {
		// Handles are the kernel's to choose.
		words := strings.Fields(name)
		got[strings.Join(append(words[:3:3], words[4:]...), " ")] = packets
	}
	want := map[string]float64{
		"inet t forward drop": 0, "inet t forward accept": 0,
		"ip filter FORWARD REJECT": 46, "ip nat POSTROUTING MASQUERADE": 301,
	}
	has(t, got, want)
}

func FuzzParseRules(f *testing.F) {
	f.Add(netlink(f, "ruleset"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, packets := range parseRuleCounters(data) {
			if name == "" || packets < 0 {
				t.Fatalf("%q counted %v", name, packets)
			}
		}
		for name := range parseRules(data) {
			if !strings.Contains(name, ".") {
				t.Fatalf("value %q", name)
			}
		}
	})
}
