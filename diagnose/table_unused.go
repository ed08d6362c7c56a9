package diagnose

import (
	"fmt"
	"net/netip"
	"slices"

	"tare/result"
)

// tableUnused finds a place whose rules of routing do not look into the table of its
// addresses or that of its routes, and an address without the route that makes it one's own.
func tableUnused() Rule {
	return Rule{
		ID: "table-unused", Grave: true, Dead: true,
		Match: atEach(func(e *Evidence, at string) (found []result.Finding) {
			to, err := netip.ParseAddr(e.Dial)
			if err != nil {
				return nil
			}
			for _, table := range []struct {
				number   uint32
				name     string
				priority int
			}{{localTable, "local", 0}, {0, "main", 32766}} {
				if !e.ruleLacks(at, table.number, to.Is6()) {
					continue
				}
				found = append(found, result.Finding{
					Cause:      fmt.Sprintf("no rule of %s looks into the table %s: nothing that is there counts", at, table.name),
					Evidence:   []result.Evidence{seen("rule for table "+table.name, "none", at, "ip rule"), e.trialFailed()},
					Remedy:     remedy(at, fmt.Sprintf("%s rule add lookup %s priority %d", ipOf(to), table.name, table.priority)),
					Confidence: 0.98,
				})
			}
			if f, lacks := e.notOwn(at); lacks {
				found = append(found, f)
			}
			return found
		}),
	}
}

// ruleLacks reports whether the rules of a place are known and none looks into a table.
func (e *Evidence) ruleLacks(at string, table uint32, six bool) bool {
	known := false
	for _, p := range e.Policies {
		if p.At != at {
			continue
		}
		known = true
		if p.Six == six && p.Table == table && p.Kind == "" {
			return false
		}
	}
	return known
}

// notOwn is the finding of an end that has its address on a device and does not take packets for
// it, as the route for that is gone.
func (e *Evidence) notOwn(at string) (f result.Finding, lacks bool) {
	local := func(r result.Route) bool { return r.At == at && r.Table == localTable }
	for _, a := range e.Addresses {
		own := a.At == at && (at == e.Client || at == e.Server) && a.Device == "eth0" && !a.Refused
		if !own || !slices.ContainsFunc(e.Routes, local) || slices.ContainsFunc(e.Routes, func(r result.Route) bool { return local(r) && r.To.Contains(a.Prefix.Addr()) }) {
			continue
		}
		return result.Finding{
			Cause:      fmt.Sprintf("%s has the address %s and no route by which it takes packets for it", at, a.Prefix.Addr()),
			Evidence:   []result.Evidence{seen("local route to "+a.Prefix.Addr().String(), "none", at, "ip route show table local"), e.trialFailed()},
			Remedy:     remedy(at, fmt.Sprintf("%s route add local %s dev %s table local", ipOf(a.Prefix.Addr()), a.Prefix.Addr(), a.Device)),
			Confidence: 0.97,
		}, true
	}
	return f, false
}
