package udp

import (
	"encoding/binary"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// frame is an Ethernet frame with a datagram as it leaves.
type frame struct {
	bytes []byte
	word  int // offset of the header's word with kind, lane and sequence
}

// Bytes of headers.
const (
	ethernetBytes = 14
	ipv4Bytes     = 20
	ipv6Bytes     = 40
	udpBytes      = 8
)

// hops is how many routers a frame may pass, as of Linux's own packets.
const hops = 64

// newFrame makes the frame of a datagram with so many bytes of payload. The word may
// change afterwards: the eight bytes after it, when the datagram was sent, hold its
// complement, so that the sum of both, and with it the checksum, is always the same.
func newFrame(way route, token *traffic.Token, size int) frame {
	payload := traffic.RandomPayload(size)
	traffic.Header{Kind: traffic.KindData}.Put(payload, token)
	word := binary.LittleEndian.Uint64(payload[traffic.WordAt:])
	binary.LittleEndian.PutUint64(payload[traffic.WordAt+8:], ^word)

	b := append([]byte{}, way.gateway...)
	b = append(b, way.hardware...)
	from, to := way.from.Addr(), way.to.Addr()
	if to.Is4() {
		b = binary.BigEndian.AppendUint16(b, unix.ETH_P_IP)
		b = append(b, ipv4Header(from, to, udpBytes+size)...)
	} else {
		b = binary.BigEndian.AppendUint16(b, unix.ETH_P_IPV6)
		b = append(b, ipv6Header(from, to, udpBytes+size)...)
	}
	b = append(b, udpHeader(way, payload)...)
	return frame{bytes: append(b, payload...), word: len(b) + traffic.WordAt}
}

// ipv4Header is one that forbids fragments (RFC 791).
func ipv4Header(from, to netip.Addr, data int) []byte {
	const (
		version      = 4<<4 | ipv4Bytes/4
		dontFragment = 1 << 14
	)
	h := []byte{version, 0}
	h = binary.BigEndian.AppendUint16(h, uint16(ipv4Bytes+data))
	h = binary.BigEndian.AppendUint16(h, 0)
	h = binary.BigEndian.AppendUint16(h, dontFragment)
	h = append(h, hops, unix.IPPROTO_UDP, 0, 0)
	h = append(append(h, from.AsSlice()...), to.AsSlice()...)
	binary.BigEndian.PutUint16(h[10:], checksum(h))
	return h
}

// ipv6Header is one without extension headers (RFC 8200).
func ipv6Header(from, to netip.Addr, data int) []byte {
	h := []byte{6 << 4, 0, 0, 0}
	h = binary.BigEndian.AppendUint16(h, uint16(data))
	h = append(h, unix.IPPROTO_UDP, hops)
	return append(append(h, from.AsSlice()...), to.AsSlice()...)
}

// udpHeader has the checksum of the payload (RFC 768; RFC 8200, 8.1).
func udpHeader(way route, payload []byte) []byte {
	h := binary.BigEndian.AppendUint16(nil, way.from.Port())
	h = binary.BigEndian.AppendUint16(h, way.to.Port())
	h = binary.BigEndian.AppendUint16(h, uint16(udpBytes+len(payload)))
	h = append(h, 0, 0)
	pseudo := append(way.from.Addr().AsSlice(), way.to.Addr().AsSlice()...)
	pseudo = append(pseudo, 0, unix.IPPROTO_UDP, h[4], h[5])
	sum := checksum(append(append(pseudo, h...), payload...))
	if sum == 0 { // which means that there is none
		sum = 0xffff
	}
	binary.BigEndian.PutUint16(h[6:], sum)
	return h
}

// checksum is that of the Internet (RFC 1071).
func checksum(p []byte) uint16 {
	var sum uint32
	for ; len(p) > 1; p = p[2:] {
		sum += uint32(binary.BigEndian.Uint16(p))
	}
	if len(p) == 1 {
		sum += uint32(p[0]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

// route is how frames leave for a peer.
type route struct {
	from, to netip.AddrPort

	device   int    // index
	name     string // of the device
	kind     string // of the device: "veth"
	mtu      int    // bytes
	hardware net.HardwareAddr
	gateway  net.HardwareAddr // of the peer, or of the router to it
}
