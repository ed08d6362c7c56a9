package probe

import (
	"testing"
)

// The captured table has three flows of UDP to one address, one that is translated, one of IPv6 and
// one of TCP: a flow that no rule translates keeps a published port from its sender (moby#8795).
// The one that is translated goes on to where its rule led it once (moby#44742).
func TestFlowsByWhereTheyGo(t *testing.T) {
	got := parseFlows(netlink(t, "conntrack"))
	has(t, got, map[string]any{"192.0.2.7:53": 3, "[2001:db8::7]:53": 1, "192.0.2.7:53 led to 203.0.113.5:53": 1})
	if len(got) != 3 {
		t.Errorf("%v, want UDP alone", got)
	}
}

func FuzzParseFlows(f *testing.F) {
	f.Add(netlink(f, "conntrack"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := parseFlows(data); len(got) > mostFlows {
			t.Fatalf("%d destinations", len(got))
		}
	})
}
