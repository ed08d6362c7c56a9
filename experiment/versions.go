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
	versions := p.Axes.Numbers("ip")
	if slices.Equal(versions, []float64{float64(wire.IPv4)}) {
		p.Axes = p.Axes.With("ip")
	}
	if len(versions) == 0 || slices.Contains(versions, float64(wire.IPv4)) {
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
	for _, ip := range p.Axes.Numbers("ip") {
		if ip != float64(wire.IPv4) && ip != float64(wire.IPv6) {
			return &InputError{fmt.Sprintf("version %v of IP: give 4, 6 or 4,6", ip)}
		}
	}
	if !hasIPv6(p) {
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

// hasIPv6 reports whether a plan has IPv6, alone or besides IPv4.
func hasIPv6(p result.Plan) bool { return slices.Contains(p.Axes.Numbers("ip"), float64(wire.IPv6)) }

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
	if names := withoutIPv6(p); hasIPv6(p) && len(names) > 0 {
		return "ip: measured over IPv4 alone, since they have no IPv6 in a lab: " + strings.Join(names, ", ")
	}
	return ""
}
