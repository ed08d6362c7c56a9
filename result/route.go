package result

import (
	"net/netip"
	"strings"
)

// Address is an IPv4 address of a device.
type Address struct {
	At     string       `json:"at"` // "h1/c1"
	Device string       `json:"device"`
	Prefix netip.Prefix `json:"prefix"` // with the host's bits: 10.0.0.1/24
}

// Route is an IPv4 route of the main table.
type Route struct {
	At        string       `json:"at,omitempty"` // "h1/c1"
	To        netip.Prefix `json:"to"`           // 0.0.0.0/0: the default route
	Via       netip.Addr   `json:"via"`          // the gateway; invalid: none
	Device    string       `json:"device,omitempty"`
	Blackhole bool         `json:"blackhole,omitempty"` // it drops the packets
	Protocol  string       `json:"protocol,omitempty"`  // the routing daemon's; empty: the kernel's, or a user's
	CC        string       `json:"cc,omitempty"`        // congestion control of its flows; empty: the namespace's
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
	var words []string
	if r.Blackhole {
		words = append(words, "blackhole")
	}
	if to != "" {
		words = append(words, to)
	}
	if r.Via.IsValid() {
		words = append(words, "via", r.Via.String())
	}
	if r.Device != "" {
		words = append(words, "dev", r.Device)
	}
	if r.Protocol != "" {
		words = append(words, "proto", r.Protocol)
	}
	if r.CC != "" {
		words = append(words, "congctl", r.CC)
	}
	return strings.Join(words, " ")
}
