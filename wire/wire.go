// Package wire computes how much of a link the headers leave: the stacks that
// container networks put around a packet, the MTU that remains, and the
// ceilings of TCP and UDP that follow.
//
//   - wire.go: headers, stacks and the MTU
//   - ceiling.go: what the wire can carry, and the framing toll
//
// Frames are counted as a lab's link counts them, at their real length. A real
// Ethernet pads a frame to 64 bytes with its FCS, 46 bytes of IP packet, so
// for UDP payloads below 18 bytes without a stack its ceilings are lower than
// those given here. It is the lab's link that is measured.
package wire

import "net/netip"

// What a frame takes on Ethernet, in bytes (IEEE 802.3, clauses 3 and 4).
const (
	EthernetHeader = 14
	FCS            = 4
	Preamble       = 8 // with the start-of-frame delimiter
	Gap            = 12

	// Ethernet is all that a frame takes besides its IP packet.
	Ethernet = EthernetHeader + FCS + Preamble + Gap

	// BucketOverhead is what a token bucket must add to each packet so that it
	// counts as the wire does: the kernel counts the Ethernet header already.
	BucketOverhead = FCS + Preamble + Gap
)

// Headers within the frame, in bytes.
const (
	IPv4Header    = 20 // RFC 791, without options
	IPv6Header    = 40 // RFC 8200, without extension headers
	IPv6Fragment  = 8  // RFC 8200, section 4.5: the header of each fragment
	TCPHeader     = 20 // RFC 9293, without options
	TCPTimestamps = 12 // RFC 7323, with the padding: Linux sends it on each segment
	UDPHeader     = 8  // RFC 768
	VXLANHeader   = 8  // RFC 7348
	VLANTag       = 4  // IEEE 802.1Q
	GREHeader     = 4  // RFC 2784, without checksum and key
	GeneveHeader  = 8  // RFC 8926, without options
	OVNOption     = 8  // RFC 8926, section 3.5: an option's header, and 4 bytes of OVN's
	// WireGuard's transport data message: type, receiver and counter before
	// the packet, and the authentication tag behind it (WireGuard white paper,
	// section 5.4.6).
	WireGuardHeader  = 16
	WireGuardTrailer = 16
	// ESP with AES-GCM: SPI and sequence number (RFC 4303) and the explicit IV
	// (RFC 4106) before the packet; pad length, next header and an integrity
	// check of 16 bytes behind it.
	ESPHeader  = 8 + 8
	ESPTrailer = 2 + 16
	// ESPAlignment is what the packet with its trailer is padded to, without
	// the integrity check (RFC 4303, section 2.4).
	ESPAlignment = 4
)

// IP is a version of the Internet Protocol.
type IP int

// The versions.
const (
	IPv4 IP = 4
	IPv6 IP = 6
)

// IPOf is the version of an address.
func IPOf(addr netip.Addr) IP {
	if addr.Is6() && !addr.Is4In6() {
		return IPv6
	}
	return IPv4
}

// Header is the length of its header in bytes, in each packet.
func (v IP) Header() int {
	if v == IPv6 {
		return IPv6Header
	}
	return IPv4Header
}

// fragmented is the length of the headers of a fragment.
func (v IP) fragmented() int {
	if v == IPv6 {
		return IPv6Header + IPv6Fragment
	}
	return IPv4Header
}

// BitsPerSecond is a rate.
type BitsPerSecond float64

// Header is one header that a network adds.
type Header struct {
	Name  string
	Bytes int
}

// Stack is what a network puts between the Ethernet frame of the underlay and
// the IP packet of the container, from the outside in.
type Stack []Header

// None adds nothing: the host itself, a bridge, a route.
func None() Stack { return Stack{} }

// VXLAN is VXLAN over IPv4 (RFC 7348): 50 bytes.
func VXLAN() Stack {
	return Stack{{"IPv4", IPv4Header}, {"UDP", UDPHeader}, {"VXLAN", VXLANHeader}, {"Ethernet", EthernetHeader}}
}

// IPIP is IPv4 in IPv4 (RFC 2003): 20 bytes.
func IPIP() Stack { return Stack{{"IPv4", IPv4Header}} }

// VLAN is a tag of a VLAN (IEEE 802.1Q): 4 bytes that a frame may be longer for,
// so that the MTU remains.
func VLAN() Stack { return Stack{{vlanName, VLANTag}} }

const vlanName = "802.1Q"

// GRE is IPv4 in GRE over IPv4 (RFC 2784): 24 bytes.
func GRE() Stack { return Stack{{"IPv4", IPv4Header}, {"GRE", GREHeader}} }

// Geneve is Geneve over IPv4 without options (RFC 8926): 50 bytes.
func Geneve() Stack {
	return Stack{{"IPv4", IPv4Header}, {"UDP", UDPHeader}, {"Geneve", GeneveHeader}, {"Ethernet", EthernetHeader}}
}

// OVN is Geneve over IPv4 with the option of OVN, which has the ports that a packet enters
// and leaves the logical switch by (ovn-architecture(7), "Tunnel Encapsulations"): 58
// bytes.
func OVN() Stack {
	return Stack{{"IPv4", IPv4Header}, {"UDP", UDPHeader}, {"Geneve", GeneveHeader + OVNOption}, {"Ethernet", EthernetHeader}}
}

// Wireguard is WireGuard over IPv4: 60 bytes. It pads a packet to a multiple
// of 16 bytes, but not beyond the inner MTU, so that a full one has no padding;
// that of others is not counted.
func Wireguard() Stack {
	return Stack{{"IPv4", IPv4Header}, {"UDP", UDPHeader}, {"WireGuard", WireGuardHeader + WireGuardTrailer}}
}

// ESP is an IPsec tunnel over IPv4 with AES-GCM (RFC 4303, RFC 4106): 54 bytes.
// Up to 3 bytes of padding are not counted: a full packet has none where the
// underlay's MTU is a multiple of 4.
func ESP() Stack {
	return Stack{{"IPv4", IPv4Header}, {"ESP", ESPHeader + ESPTrailer}}
}

// UDP is an IP packet as the payload of a datagram over IPv4 (RFC 768): 28
// bytes. What a tunnel in user space sends.
func UDP() Stack { return Stack{{"IPv4", IPv4Header}, {"UDP", UDPHeader}} }

// Bytes is the length of all headers.
func (s Stack) Bytes() int {
	bytes := 0
	for _, header := range s {
		bytes += header.Bytes
	}
	return bytes
}

// InnerMTU is the largest IP packet, in bytes, that a container can send
// without its network's frames exceeding the underlay's MTU. It is negative
// where the headers alone do. The tag of a VLAN takes nothing from it: a tagged
// frame may be 4 bytes longer (IEEE 802.3, clause 3.2.7).
func InnerMTU(underlayMTU int, s Stack) int {
	for _, header := range s {
		if header.Name != vlanName {
			underlayMTU -= header.Bytes
		}
	}
	return underlayMTU
}
