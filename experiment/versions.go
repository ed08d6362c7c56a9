package experiment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tare/catalog"
	"tare/network/kinds"
	"tare/result"
	"tare/wire"
)

// withVersions is a plan without the networks that lack each version of IP that it names;
// IPv4 alone is left out, since it is what a plan without versions has.
func withVersions(p result.Plan) result.Plan {
	if slices.Equal(p.IP, []int{int(wire.IPv4)}) {
		p.IP = nil
	}
	if len(p.IP) == 0 || slices.Contains(p.IP, int(wire.IPv4)) {
		return p
	}
	for _, name := range withoutIPv6(p) {
		p = Skip(p, name, "it has no IPv6 in a lab")
	}
	return p
}

// withoutIPv6 names the networks of a plan that have IPv4 alone.
func withoutIPv6(p result.Plan) (names []string) {
	for _, np := range p.Networks {
		if n, known := kinds.Find(np.Name); known && !n.IPv6 {
			names = result.AddOnce(names, n.Name)
		}
	}
	return names
}

// checkVersions refuses what only IPv4 has.
func checkVersions(p result.Plan) error {
	for _, ip := range p.IP {
		if ip != int(wire.IPv4) && ip != int(wire.IPv6) {
			return &InputError{fmt.Sprintf("version %d of IP: give 4, 6 or 4,6", ip)}
		}
	}
	if !slices.Contains(p.IP, int(wire.IPv6)) {
		return nil
	}
	if p.Site != "" {
		return &InputError{"ip: a site has the addresses that it has: leave --ip out"}
	}
	left := slices.ContainsFunc(p.Networks, func(n result.NetworkPlan) bool { return n.Name != catalog.Baseline })
	if len(p.Skipped) > 0 && !left {
		return &InputError{"ip: " + p.Skipped[0].Name + " has no IPv6 in a lab; these have: " + strings.Join(haveIPv6(), ", ")}
	}
	for _, n := range p.Networks {
		if count := n.Params.Map()[catalog.Rules]; count != "" && count != strconv.Itoa(0) {
			return &InputError{"rules: they are rules of IPv4, which no packet of IPv6 meets: leave --rules out, or use --ip 4"}
		}
	}
	return nil
}

// haveIPv6 names the networks of containers that have IPv6.
func haveIPv6() (names []string) {
	for _, n := range kinds.All() {
		if n.IPv6 && n.Name != catalog.Baseline {
			names = append(names, n.Name)
		}
	}
	return names
}

// onIPv4Alone is the warning on networks that a plan with both versions has over IPv4
// alone; empty: there is none.
func onIPv4Alone(p result.Plan) string {
	if names := withoutIPv6(p); slices.Contains(p.IP, int(wire.IPv6)) && len(names) > 0 {
		return "ip: measured over IPv4 alone, since they have no IPv6 in a lab: " + strings.Join(names, ", ")
	}
	return ""
}
