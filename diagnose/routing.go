package diagnose

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"tare/result"
)

// addressOn is an address of a device, of the version of IP that the client dials if
// it has one; empty: it has none.
func (e *Evidence) addressOn(at, device string) string {
	prefix := e.prefixOn(at, device)
	if !prefix.IsValid() {
		return ""
	}
	return prefix.Addr().String()
}

func (e *Evidence) prefixOn(at, device string) (found netip.Prefix) {
	dial, _ := netip.ParseAddr(e.Dial)
	for _, a := range e.Addresses {
		if a.At == at && a.Device == device && (!found.IsValid() || found.Addr().Is6() != dial.Is6() && a.Prefix.Addr().Is6() == dial.Is6()) {
			found = a.Prefix
		}
	}
	return found
}

// route is the route of the main table by which a place would send to an address.
func (e *Evidence) route(at, address string) (result.Route, bool) {
	to, err := netip.ParseAddr(address)
	if err != nil {
		return result.Route{}, false
	}
	return e.inTable(at, to, 0, 0)
}

// inTable is the route of a table to an address: of those with the longest prefix, that
// with the least metric. Prefixes shorter than the shortest are ignored.
func (e *Evidence) inTable(at string, to netip.Addr, table uint32, shortest int) (best result.Route, found bool) {
	for _, r := range e.Routes {
		if r.At != at || r.Table != table || r.Learned || r.To.Bits() < shortest || !r.To.Contains(to) {
			continue
		}
		longer := cmp.Or(cmp.Compare(r.To.Bits(), best.To.Bits()), cmp.Compare(best.Metric, r.Metric))
		if !found || longer > 0 {
			best, found = r, true
		}
	}
	return best, found
}

// flow is what a place's rules of routing look at in a packet.
type flow struct {
	from, to netip.Addr
	// marked is set where a rule that asks for more than addresses and devices, as a
	// mark of the firewall, is taken to match.
	marked bool
	any    bool // of any protocol that does not pass, not that of the first trial that failed alone
}

// way is a route, and the rule by which it was found.
type way struct {
	result.Route
	by result.Policy
}

// The tables that every place looks into.
const (
	localTable   = 255
	defaultTable = 253
)

// chosen reports whether it is a rule beyond the kernel's own three that led to the route.
func (w way) chosen() bool {
	plain := result.Policy{At: w.by.At, Six: w.by.Six, Priority: w.by.Priority, Table: w.by.Table}
	own := w.by.Table == 0 || w.by.Table == localTable || w.by.Table == defaultTable
	return w.by != plain || !own
}

// way finds how a place sends a packet: the first rule that matches and whose table
// has a route (ip-rule(8)).
func (e *Evidence) way(at string, f flow) (way, bool) {
	for _, p := range e.policies(at, f.to.Is6()) {
		if !e.matches(at, p, f) || p.Kind == "nop" {
			continue
		}
		if p.Kind != "" {
			return way{result.Route{At: at, Kind: p.Kind, To: netip.PrefixFrom(f.to, f.to.BitLen())}, p}, true
		}
		if r, found := e.inTable(at, f.to, p.Table, p.Shortest); found && r.Kind != "throw" {
			return way{r, p}, true
		}
	}
	return way{}, false
}

// policies are the rules of a place for a version of IP, in their order.
func (e *Evidence) policies(at string, six bool) []result.Policy {
	var found []result.Policy
	for _, p := range e.Policies {
		if p.At == at && p.Six == six {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return []result.Policy{{At: at, Six: six, Table: localTable}, {At: at, Six: six}}
	}
	slices.SortStableFunc(found, func(a, b result.Policy) int { return cmp.Compare(a.Priority, b.Priority) })
	return found
}

func (e *Evidence) matches(at string, p result.Policy, f flow) bool {
	switch {
	case p.From.IsValid() && !p.From.Contains(f.from), p.To.IsValid() && !p.To.Contains(f.to), p.Out != "":
		return false
	case p.In != "" && p.In != "lo" && !slices.Contains(e.devices(at), p.In):
		return false
	case p.In == "lo" && e.owner(f.from.String()) != at:
		return false
	}
	if protocol, is := strings.CutPrefix(p.Rest, "ipproto "); is {
		protocol, _, _ = strings.Cut(protocol, " ")
		return e.losesOf(protocol, f.any)
	}
	return p.Rest == "" || f.marked || strings.HasPrefix(p.Rest, "not fwmark") // who marks, marks its own
}

// others are the ways that a place would have besides one, the best first: other routes
// of the main table, and other devices with an address of the network. Of these no route
// may be left: they are marked as learned.
func (e *Evidence) others(w way, f flow) []result.Route {
	var found []result.Route
	end := e.owner(f.to.String())
	if port := e.portOf(w.At, end); port != "" && w.Kind != "local" && !w.chosen() && port != w.Device && e.word(w.At, links, port+".master") == "" {
		return []result.Route{{At: w.At, To: w.To, Device: port, Learned: true}}
	}
	for _, r := range e.Routes {
		elsewhere := r.Device != w.Device || r.Via != w.Via && r.Via.IsValid() && w.Via.IsValid()
		if r.At == w.At && r.Table == 0 && !r.Learned && r.Kind == "" && r.To.Contains(f.to) && (elsewhere || w.Kind != "") {
			found = append(found, r)
		}
	}
	for _, a := range e.Addresses {
		if a.At == w.At && a.Prefix.Contains(f.to) && a.Device != w.Device && w.Kind != "local" && !e.bare(a.At, a.Device) {
			found = append(found, result.Route{At: a.At, To: a.Prefix.Masked(), Device: a.Device, Learned: true})
		}
	}
	slices.SortStableFunc(found, func(a, b result.Route) int {
		return cmp.Or(cmp.Compare(b.To.Bits(), a.To.Bits()), cmp.Compare(a.Metric, b.Metric))
	})
	return found
}
