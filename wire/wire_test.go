package wire

import (
	"math"
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

const gigabit = BitsPerSecond(1e9)

func TestStacks(t *testing.T) {
	for _, test := range []struct {
		name            string
		stack           Stack
		bytes, innerMTU int
	}{
		{"none", None(), 0, 1500},
		{"VXLAN", VXLAN(), 50, 1450},
		{"IPIP", IPIP(), 20, 1480},
		{"VLAN", VLAN(), 4, 1500}, // a tagged frame may be 4 bytes longer
		{"GRE", GRE(), 24, 1476},
		{"Geneve", Geneve(), 50, 1450},
		{"OVN", OVN(), 58, 1442},             // what OpenStack gives networks of OVN
		{"WireGuard", Wireguard(), 60, 1440}, // a multiple of 16
		{"ESP", ESP(), 54, 1446},             // and its trailer: a multiple of 4
		{"UDP", UDP(), 28, 1472},             // the MTU of flannel's udp backend
	} {
		if got := test.stack.Bytes(); got != test.bytes {
			t.Errorf("%s: %d bytes, want %d", test.name, got, test.bytes)
		}
		if got := InnerMTU(1500, test.stack); got != test.innerMTU {
			t.Errorf("%s: inner MTU %d, want %d", test.name, got, test.innerMTU)
		}
	}
	if Ethernet != 38 || BucketOverhead != 24 {
		t.Errorf("Ethernet takes %d bytes, the bucket adds %d", Ethernet, BucketOverhead)
	}
}

func TestTCPCeilingAgreesWithPublishedFigures(t *testing.T) {
	for _, test := range []struct {
		name        string
		link        BitsPerSecond
		underlayMTU int
		stack       Stack
		want, error BitsPerSecond
	}{
		{"host on 10 Gbit/s: 9410 Mbit/s", 1e10, 1500, None(), 9.41e9, 1e7},
		{"Docker and OVS overlay on 1 Gbit/s: 909 Mbit/s", 1e9, 1500, VXLAN(), 909e6, 1e6},
		{"host on 100 Mbit/s: 94.15", 1e8, 1500, None(), 94.15e6, 1e4},
		{"VXLAN on 100 Mbit/s: 90.90", 1e8, 1500, VXLAN(), 90.90e6, 1e4},
		{"exact, host", 1538, 1500, None(), 1448, 1e-9},
		{"exact, VXLAN", 1538, 1500, VXLAN(), 1398, 1e-9},
		{"exact, VLAN", 1542, 1500, VLAN(), 1448, 1e-9},
		{"exact, GRE", 1538, 1500, GRE(), 1424, 1e-9},
		{"exact, WireGuard", 1538, 1500, Wireguard(), 1388, 1e-9},
		{"exact, ESP", 1538, 1500, ESP(), 1394, 1e-9},
		{"exact, VXLAN, jumbo frames", 9038, 9000, VXLAN(), 8898, 1e-9},
		{"no room for data", 1e9, 52, None(), 0, 0},
		{"no room for the stack", 1e9, 20, VXLAN(), 0, 0},
	} {
		got := TCPCeiling(test.link, IPv4, InnerMTU(test.underlayMTU, test.stack), test.stack)
		if math.Abs(float64(got-test.want)) > float64(test.error) {
			t.Errorf("%s: got %v bit/s, want %v", test.name, got, test.want)
		}
	}
	// A segment over IPv6 has 20 bytes less.
	if got := TCPCeiling(1538, IPv6, 1500, None()); math.Abs(float64(got-1428)) > 1e-9 {
		t.Errorf("over IPv6: %v of 1538", got)
	}
	// An inner MTU below the largest, as Docker may be configured to set.
	if got := TCPCeiling(1438, IPv4, 1400, None()); math.Abs(float64(got-1348)) > 1e-9 {
		t.Errorf("MTU 1400 on a 1500 underlay: %v of 1438", got)
	}
}

func TestFragments(t *testing.T) {
	for _, test := range []struct{ payload, mtu, want int }{
		{0, 1500, 1},
		{1472, 1500, 1},
		{1473, 1500, 2},
		{2952, 1500, 2}, // 1480 + 1480
		{2953, 1500, 3},
		{8192, 1500, 6},
		{65507, 1500, 45}, // 44 * 1480 = 65120 of 65515
		{1422, 1450, 1},
		{1423, 1450, 2},
		{8192, 1450, 6}, // 1424 each, not 1430
		{2846, 1450, 2}, // 1424 + 1430: the last fills its packet
		{2847, 1450, 3},
		{16, 28, 3}, // 8 bytes each
		{0, 28, 1},
		{0, 27, 0},
		{-1, 1500, 0},
		{65508, 1500, 0},
	} {
		if got := Fragments(IPv4, test.payload, test.mtu); got != test.want {
			t.Errorf("%d bytes at MTU %d: %d fragments, want %d", test.payload, test.mtu, got, test.want)
		}
	}
}

func TestFragmentsOfIPv6(t *testing.T) {
	for _, test := range []struct{ payload, mtu, want int }{
		{1452, 1500, 1},
		{1453, 1500, 2},
		{2892, 1500, 2}, // 1448 + 1452: each has a fragment header, and the last fills its packet
		{2893, 1500, 3},
		{65507, 1500, 46},
		{0, 48, 1},
		{1, 48, 0}, // it has no room for a fragment
	} {
		if got := Fragments(IPv6, test.payload, test.mtu); got != test.want {
			t.Errorf("%d bytes at MTU %d: %d fragments, want %d", test.payload, test.mtu, got, test.want)
		}
	}
	whole, cut := UDPCeiling(gigabit, IPv6, 1452, 1500, None()), UDPCeiling(gigabit, IPv6, 1453, 1500, None())
	if want := 1e9 / 8 / 1538.0; math.Abs(whole.PerSecond-want) > 1e-6 {
		t.Errorf("a full frame: %v/s, want %v", whole.PerSecond, want)
	}
	if want := 1e9 / 8 / float64(8+1453+2*(48+38)); math.Abs(cut.PerSecond-want) > 1e-6 {
		t.Errorf("two fragments: %v/s, want %v", cut.PerSecond, want)
	}
}

func TestIPOf(t *testing.T) {
	for addr, want := range map[string]IP{"10.0.0.1": IPv4, "::1": IPv6, "fd74:6172:6500::a00:1": IPv6, "::ffff:10.0.0.1": IPv4} {
		if got := IPOf(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %d, want %d", addr, got, want)
		}
	}
}

func TestUDPCeiling(t *testing.T) {
	for _, test := range []struct {
		name              string
		payload, innerMTU int
		stack             Stack
		wireBytes         int
	}{
		{"64 bytes", 64, 1500, None(), 64 + 8 + 20 + 38},
		{"64 bytes, VXLAN", 64, 1450, VXLAN(), 64 + 8 + 20 + 50 + 38},
		{"full frame", 1472, 1500, None(), 1538},
		{"full frame, VXLAN", 1422, 1450, VXLAN(), 1538},
		{"one byte, not padded", 1, 1500, None(), 1 + 8 + 20 + 38},
		{"fragments", 8192, 1500, None(), 5*1538 + (8200 - 5*1480) + 20 + 38},
		{"fragments, VXLAN", 8192, 1450, VXLAN(), 5*(1424+20+50+38) + (8200 - 5*1424) + 20 + 50 + 38},
	} {
		want := 1e9 / 8 / float64(test.wireBytes)
		got := UDPCeiling(gigabit, IPv4, test.payload, test.innerMTU, test.stack)
		if math.Abs(got.PerSecond-want) > 1e-6 || math.Abs(float64(got.Goodput)-want*8*float64(test.payload)) > 1e-3 {
			t.Errorf("%s: got %v, want %v datagrams/s", test.name, got, want)
		}
	}
	if got := UDPCeiling(gigabit, IPv4, 65508, 1500, None()); got != (Datagrams{}) {
		t.Errorf("a datagram that can't be sent: %v", got)
	}
}

func TestFramingToll(t *testing.T) {
	host := TCPCeiling(gigabit, IPv4, 1500, None())
	vxlan := TCPCeiling(gigabit, IPv4, 1450, VXLAN())
	if got, ok := FramingToll(vxlan, host); !ok || math.Abs(got-50.0/1448) > 1e-12 {
		t.Errorf("VXLAN: %v, %v", got, ok)
	}
	if got, ok := FramingToll(host, host); !ok || got != 0 {
		t.Errorf("host: %v, %v", got, ok)
	}
	if got, ok := FramingToll(host, 0); ok || got != 0 {
		t.Errorf("no baseline: %v, %v", got, ok)
	}
}

func stacks() *rapid.Generator[Stack] {
	return rapid.SampledFrom([]Stack{None(), VXLAN(), IPIP(), VLAN(), GRE(), Geneve(), OVN(), Wireguard(), ESP()})
}

func TestCeilingProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stack := stacks().Draw(t, "stack")
		mtu := rapid.IntRange(68, 65535).Draw(t, "mtu")
		payload := rapid.IntRange(0, MaxUDPPayload).Draw(t, "payload")
		if TCPCeiling(gigabit, IPv4, mtu, stack) >= gigabit || UDPCeiling(gigabit, IPv4, payload, mtu, stack).Goodput >= gigabit {
			t.Fatal("a ceiling reaches the link rate")
		}
		if TCPCeiling(gigabit, IPv4, mtu+1, stack) <= TCPCeiling(gigabit, IPv4, mtu, stack) {
			t.Fatal("a larger MTU lowers the ceiling of TCP")
		}
		if UDPCeiling(gigabit, IPv4, payload, mtu+1, stack).PerSecond < UDPCeiling(gigabit, IPv4, payload, mtu, stack).PerSecond {
			t.Fatal("a larger MTU lowers the ceiling of UDP")
		}
		if TCPCeiling(gigabit, IPv4, InnerMTU(mtu, stack), stack) > TCPCeiling(gigabit, IPv4, mtu, None()) {
			t.Fatal("a stack raises the ceiling")
		}
	})
}

func TestFragmentsCoverTheDatagram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mtu := rapid.IntRange(28, 9000).Draw(t, "mtu")
		payload := rapid.IntRange(0, MaxUDPPayload).Draw(t, "payload")
		left, packets := UDPHeader+payload, 0
		for left > 0 { // as a sender cuts it
			carried := min(left, mtu-IPv4Header)
			if carried < left {
				carried -= carried % 8
			}
			left -= carried
			packets++
		}
		if got := Fragments(IPv4, payload, mtu); got != packets {
			t.Fatalf("%d fragments, but %d packets carry the datagram", got, packets)
		}
	})
}
