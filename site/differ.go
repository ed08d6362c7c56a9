package site

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"tare/network"
	"tare/probe"
	"tare/result"
)

// differences are what the two hosts of a site do not have in common: a figure between them is
// of both.
func differences(places []result.Place, between network.Ends, seen map[string]probe.Inventory) (all []string) {
	is := func(name string) func(result.Place) bool {
		return func(p result.Place) bool { return p.Name == name }
	}
	one, there := result.First(places, is("h1"))
	other, both := result.First(places, is("h2"))
	if !there || !both || one.Boot == other.Boot {
		return nil
	}
	a, b := one.Environment, other.Environment
	for _, what := range []struct{ name, one, other string }{
		{"kernel", a.Kernel, b.Kernel},
		{"CPU", a.CPUModel, b.CPUModel},
		{"CPUs", strconv.Itoa(a.CPUs), strconv.Itoa(b.CPUs)},
		{"hypervisor", a.Virtualisation, b.Virtualisation},
		{"clock source", a.Clocksource, b.Clocksource},
		{"MTU of the way to the other", mtuToward(between.Dial, seen["h1"]), mtuToward(between.Dial, seen["h2"])},
	} {
		if what.one != what.other && what.one != "" && what.other != "" {
			all = append(all, fmt.Sprintf("h1 and h2 differ: %s %s and %s", what.name, what.one, what.other))
		}
	}
	return all
}

// mtuToward is the MTU of the interface in whose subnet an address is, in bytes; empty: a
// gateway is on the way.
func mtuToward(addr netip.Addr, seen probe.Inventory) string {
	at := slices.IndexFunc(seen.Links, func(l probe.Link) bool {
		return slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Contains(addr) })
	})
	if at < 0 {
		return ""
	}
	return strconv.Itoa(seen.Links[at].MTU)
}
