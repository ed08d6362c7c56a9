package probe

import (
	"maps"
	"strings"
	"testing"

	"tare/firewall"
)

// The capture has rules of nft and of iptables, which refused 46 datagrams.
func TestParseRules(t *testing.T) {
	got := map[string]any{}
	for _, l := range parseRules(netlink(t, "ruleset"), nil, nil) {
		l.state(got)
	}
	for name, value := range got {
		words := strings.Fields(name)
		if text, is := value.(string); is && len(words) == 4 { // handles are the kernel's to choose
			delete(got, name)
			got[words[2]+": "+text] = true
		}
		if strings.HasSuffix(name, ".handles") {
			delete(got, name)
		}
	}
	want := map[string]any{
		"inet t forward.rules": 3, "inet t forward.hook": "forward", "inet t forward.policy": "drop", "inet t forward.counts": false, "inet t mine.rules": 0, "inet t forward.priority": 0,
		"forward: -> jump mine": true, "forward: meta l4proto = tcp; th dport = 80 -> counter; accept": true, "forward: meta nfproto = ipv4; ip saddr = 10.0.0.9 -> counter; drop": true,
		"FORWARD: meta l4proto = udp -> counter; reject": true, "POSTROUTING: ip saddr = 10.0.0.0/24 -> counter; masquerade": true,
		"ip filter FORWARD.priority": 0, "ip nat POSTROUTING.priority": 100,
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
		for _, l := range parseRules(data, nil, nil) {
			for _, one := range l.Listed {
				if text := one.Rule.String(); firewall.Parse(text).String() != text {
					t.Fatalf("rule %q is read as %q", text, firewall.Parse(text))
				}
			}
		}
	})
}

func TestParseQueues(t *testing.T) {
	got := parseQueues([]byte("    7  12345     0 2 65531     0     0        0  1\n  300  99     0 2 65531     0     0        0  1\n"))
	if len(got) != 2 || got["7"] != "12345" || got["300"] != "99" {
		t.Errorf("%v", got)
	}
}
