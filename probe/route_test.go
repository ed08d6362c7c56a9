package probe

import (
	"fmt"
	"slices"
	"testing"
)

// The capture is of a namespace whose lo is 1 and eth0 is 3; eth0 has a second
// address that belongs to a pair, and there is a route in a table other than the
// main one.
func TestParseAddresses(t *testing.T) {
	got, err := parseAddresses(netlink(t, "addresses"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "map[1:[127.0.0.1/8] 3:[10.0.0.1/16 10.9.0.1/32]]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestParseRoutes(t *testing.T) {
	got, err := parseRoutes(netlink(t, "routes"), map[uint32]string{1: "lo", 3: "eth0"})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, r := range ofMain(got) {
		texts = append(texts, r.String())
	}
	want := []string{
		"default via 10.0.0.2 dev eth0 congctl cubic", "10.0.0.0/16 dev eth0 src 10.0.0.1", "10.8.0.0/16 nexthop via 10.0.0.3 dev eth0 nexthop via 10.0.0.4 dev eth0", "10.9.0.0/24 dev eth0 src 10.9.0.1",
		"blackhole 10.101.0.0/26 proto bird", "10.102.0.0/26 via 10.0.0.2 dev eth0 proto bird congctl cubic",
	}
	if !slices.Equal(texts, want) {
		t.Errorf("%q, want %q", texts, want)
	}
}

func FuzzParseRoutes(f *testing.F) {
	f.Add(netlink(f, "routes"))
	f.Add(netlink(f, "addresses"))
	f.Fuzz(func(t *testing.T, data []byte) {
		routes, err := parseRoutes(data, nil)
		if err == nil && routes == nil {
			t.Fatal("no list")
		}
		for _, r := range routes {
			_ = r.String()
		}
		if _, err := parseAddresses(data); err != nil {
			t.Log(err)
		}
	})
}
