package result

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Address is an IP address of a device.
type Address struct {
	At     string       `json:"at"` // "h1/c1"
	Device string       `json:"device"`
	Prefix netip.Prefix `json:"prefix"` // with the host's bits: 10.0.0.1/24
	// Refused is set where the kernel does not use the address: another on the link had it when it
	// was added (RFC 4862).
	Refused bool `json:"refused,omitempty"`
	Retired bool `json:"retired,omitempty"` // new connections are made from another (deprecated)
}

// Route is a route, or what a place remembers of a destination (an exception).
type Route struct {
	At       string       `json:"at,omitempty"` // "h1/c1"
	To       netip.Prefix `json:"to"`           // 0.0.0.0/0: the default route
	Via      netip.Addr   `json:"via"`          // the gateway; invalid: none
	Device   string       `json:"device,omitempty"`
	Kind     string       `json:"kind,omitempty"`     // "blackhole", "unreachable", "prohibit", "throw", "local"; empty: it sends
	Table    uint32       `json:"table,omitempty"`    // 0: main
	Metric   uint32       `json:"metric,omitempty"`   // of equal prefixes the least is used
	Hops     []NextHop    `json:"hops,omitempty"`     // of several next hops all; Via and Device are the first's
	Source   netip.Addr   `json:"source"`             // the address that a sender takes by it; invalid: one of the device's
	Object   uint32       `json:"object,omitempty"`   // the number of its next hop, if that is an object
	AdvMSS   uint32       `json:"advmss,omitempty"`   // bytes of data that a segment may have, as its user announces; 0: as the MTU allows
	MTU      uint32       `json:"mtu,omitempty"`      // bytes; 0: the device's
	Locked   bool         `json:"locked,omitempty"`   // its MTU is not found out
	Learned  bool         `json:"learned,omitempty"`  // an exception: what the sender was answered, kept for ten minutes
	Protocol string       `json:"protocol,omitempty"` // the routing daemon's; empty: the kernel's, or a user's
	CC       string       `json:"cc,omitempty"`       // congestion control of its flows; empty: the namespace's
}

// NextHop is one of several next hops.
type NextHop struct {
	Via    netip.Addr `json:"via"`
	Device string     `json:"device"`
}

// String writes the route as iproute2 does.
func (r Route) String() string {
	if r.To.Bits() == 0 {
		return r.text("default")
	}
	return r.text(r.To.String())
}

// Way writes the route without its destination: "via 10.0.0.2 dev eth0".
func (r Route) Way() string { return r.text("") }

func (r Route) text(to string) string {
	words := []string{r.Kind, to}
	if r.Object != 0 {
		words = []string{to, "nhid", strconv.Itoa(int(r.Object))}
	}
	pair := func(name, value string) {
		if value != "" {
			words = append(words, name, value)
		}
	}
	number := func(name string, value uint32) {
		if value != 0 {
			pair(name, strconv.Itoa(int(value)))
		}
	}
	if len(r.Hops) == 0 && r.Object == 0 {
		pair("via", textOf(r.Via))
		pair("dev", r.Device)
	}
	number("table", r.Table)
	pair("proto", r.Protocol)
	number("metric", r.Metric)
	pair("src", textOf(r.Source))
	number("advmss", r.AdvMSS)
	if r.Locked {
		number("mtu lock", r.MTU)
	} else {
		number("mtu", r.MTU)
	}
	pair("congctl", r.CC)
	for _, hop := range r.Hops {
		if r.Object != 0 {
			break
		}
		words = append(words, "nexthop")
		pair("via", textOf(hop.Via))
		pair("dev", hop.Device)
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

// textOf is an address as a text; empty: there is none.
func textOf(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

// Policy is a rule by which a place chooses the table of routes.
type Policy struct {
	At       string       `json:"at,omitempty"`
	Six      bool         `json:"six,omitempty"` // for IPv6
	Priority uint32       `json:"priority"`      // the least is tried first
	From     netip.Prefix `json:"from"`          // invalid: any
	To       netip.Prefix `json:"to"`
	In       string       `json:"in,omitempty"`       // the device that packets come from
	Out      string       `json:"out,omitempty"`      // the device that a socket is bound to
	Rest     string       `json:"rest,omitempty"`     // what else it asks for, as iproute2 writes it: "fwmark 0x1"
	Kind     string       `json:"kind,omitempty"`     // "blackhole", "unreachable", "prohibit", "nop"; empty: it looks into the table
	Table    uint32       `json:"table,omitempty"`    // 0: main
	Shortest int          `json:"shortest,omitempty"` // it ignores routes with a prefix shorter than this
}

// String writes the rule as iproute2 does, but for its priority.
func (p Policy) String() string {
	words := []string{}
	if strings.HasPrefix(p.Rest, "not") {
		words = append(words, "not")
	}
	from := "all"
	if p.From.IsValid() {
		from = p.From.String()
	}
	words = append(words, "from", from)
	if p.To.IsValid() {
		words = append(words, "to", p.To.String())
	}
	for _, device := range [][2]string{{"iif", p.In}, {"oif", p.Out}} {
		if device[1] != "" {
			words = append(words, device[0], device[1])
		}
	}
	if rest := strings.TrimPrefix(strings.TrimPrefix(p.Rest, "not"), " "); rest != "" {
		words = append(words, rest)
	}
	switch {
	case p.Kind != "":
		words = append(words, p.Kind)
	case p.Table == 0:
		words = append(words, "lookup main")
	default:
		words = append(words, "lookup", strconv.Itoa(int(p.Table)))
	}
	if p.Shortest > 0 {
		words = append(words, "suppress_prefixlength", strconv.Itoa(p.Shortest-1))
	}
	return strings.Join(words, " ")
}
