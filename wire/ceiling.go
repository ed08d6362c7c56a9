package wire

// MaxUDPPayload is the largest payload of a UDP datagram over IPv4, in bytes:
// the IP packet has a 16-bit length.
const MaxUDPPayload = 65535 - IPv4Header - UDPHeader

// TCPCeiling is the most goodput that a link of the given rate can carry over
// TCP with timestamps, in full segments and with the ACKs on the
// other direction of the link. The inner MTU is the container's, and with its
// stack it must fit the underlay: see InnerMTU. An MTU that leaves no room for
// data carries none.
func TCPCeiling(link BitsPerSecond, ip IP, innerMTU int, s Stack) BitsPerSecond {
	data := innerMTU - ip.Header() - TCPHeader - TCPTimestamps
	if data <= 0 {
		return 0
	}
	return link * BitsPerSecond(float64(data)/float64(innerMTU+s.Bytes()+Ethernet))
}

// Datagrams are the ceilings of a stream of UDP datagrams.
type Datagrams struct {
	PerSecond float64
	Goodput   BitsPerSecond
}

// UDPCeiling is the most that a link of the given rate can carry in UDP
// datagrams of so many bytes of payload. A datagram above the inner
// MTU travels in IP fragments, each with its own frame and stack headers. Where
// Fragments is 0, nothing is carried.
func UDPCeiling(link BitsPerSecond, ip IP, payload, innerMTU int, s Stack) Datagrams {
	fragments := Fragments(ip, payload, innerMTU)
	if fragments == 0 {
		return Datagrams{}
	}
	header := ip.Header()
	if fragments > 1 {
		header = ip.fragmented()
	}
	bytes := UDPHeader + payload + fragments*(header+s.Bytes()+Ethernet)
	perSecond := float64(link) / float64(8*bytes)
	return Datagrams{PerSecond: perSecond, Goodput: BitsPerSecond(perSecond * float64(8*payload))}
}

// Fragments is the number of IP packets that carry a UDP datagram of so many
// bytes of payload at the MTU: 1 where it fits. Each fragment but the last
// carries a multiple of 8 bytes (RFC 791, section 3.2; RFC 8200, section 4.5, where
// the sender alone makes them). It is 0 for what can't
// be sent: a payload that is negative or above MaxUDPPayload, or an MTU that
// leaves a fragment no 8 bytes.
func Fragments(ip IP, payload, mtu int) int {
	room := mtu - ip.Header()
	if payload < 0 || payload > MaxUDPPayload || room < 8 {
		return 0
	}
	data := UDPHeader + payload
	if data <= room {
		return 1
	}
	last := mtu - ip.fragmented() // what the last one holds
	each := last &^ 7
	if each <= 0 {
		return 0
	}
	return 1 + (data-last+each-1)/each
}

// FramingToll is the part of a toll that headers explain: 1 less the ceiling
// of the network over that of its baseline, both in one unit. ok is false
// where the baseline's ceiling is not positive.
func FramingToll[Rate ~float64](network, baseline Rate) (toll float64, ok bool) {
	if !(baseline > 0) {
		return 0, false
	}
	return 1 - float64(network/baseline), true
}
