package lab

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
)

// packet is an IPv4 packet with the ports given, and what is in it.
func packet(protocol byte, from, to uint16, inner ...byte) []byte {
	const header = 20
	p := make([]byte, header+8, header+8+len(inner))
	p[0], p[8], p[9] = 0x45, 64, protocol
	binary.BigEndian.PutUint16(p[2:], uint16(len(p)+len(inner)))
	copy(p[12:], []byte{10, 0, 0, 1, 10, 0, 0, 2})
	var sum uint32
	for at := 0; at < header; at += 2 {
		sum += uint32(binary.BigEndian.Uint16(p[at:]))
	}
	binary.BigEndian.PutUint16(p[10:], ^uint16(sum+sum>>16))
	binary.BigEndian.PutUint16(p[header:], from)
	binary.BigEndian.PutUint16(p[header+2:], to)
	return append(p, inner...)
}

// packetIPv6 is one between addresses of a lab.
func packetIPv6(protocol byte, from, to uint16, inner ...byte) []byte {
	const header = 40
	p := make([]byte, header+20)
	p[0], p[6] = 0x60, protocol
	a, b := IPv6Of(UnderlayAddr(0, 1)).As16(), IPv6Of(UnderlayAddr(0, 2)).As16()
	copy(p[8:], a[:])
	copy(p[24:], b[:])
	binary.BigEndian.PutUint16(p[header:], from)
	binary.BigEndian.PutUint16(p[header+2:], to)
	return append(p, inner...)
}

func TestIPv6OfAddresses(t *testing.T) {
	for from, want := range map[string]string{"10.101.0.2": "fd74:6172:6500::a65:2", "127.0.0.1": "::1"} {
		if got := IPv6Of(netip.MustParseAddr(from)); got != netip.MustParseAddr(want) {
			t.Errorf("%s is %s, want %s", from, got, want)
		}
	}
	for from, want := range map[string]string{"10.101.0.0/16": "fd74:6172:6500::a65:0/112", "10.101.0.2/32": "fd74:6172:6500::a65:2/128", "0.0.0.0/0": "::/0"} {
		if got := IPv6PrefixOf(netip.MustParsePrefix(from)); got != netip.MustParsePrefix(want) {
			t.Errorf("%s is %s, want %s", from, got, want)
		}
	}
}

func TestFlowIsFoundInItsHeaders(t *testing.T) {
	const port = 5210
	ethernet := []byte{2, 0x42, 10, 0x45, 0, 2, 2, 0x42, 10, 0x65, 0, 2, 8, 0}
	request, answer := packet(unix.IPPROTO_TCP, 40000, port), packet(unix.IPPROTO_UDP, port, 40000)
	other := packet(unix.IPPROTO_TCP, 40000, 80)
	wrong := slices.Clone(request)
	wrong[10]++
	vxlan := func(inner []byte) []byte {
		return slices.Concat(ethernet, packet(unix.IPPROTO_UDP, 50000, 4789, slices.Concat(make([]byte, 8), ethernet, inner)...))
	}
	overIPv6 := packetIPv6(unix.IPPROTO_TCP, 40000, port)
	foreign := slices.Clone(overIPv6)
	foreign[8] = 0xfe
	for name, c := range map[string]struct {
		frame        []byte
		reply, found bool
	}{
		"over IPv6":              {slices.Concat(ethernet, overIPv6), false, true},
		"over IPv6 inside VXLAN": {vxlan(packetIPv6(unix.IPPROTO_UDP, port, 40000)), true, true},
		"another's over IPv6":    {slices.Concat(ethernet, packetIPv6(unix.IPPROTO_TCP, 40000, 80)), false, false},
		"quoted by ICMPv6":       {slices.Concat(ethernet, packetIPv6(unix.IPPROTO_ICMPV6, 0, 0, overIPv6...)), false, false},
		"of another address":     {slices.Concat(ethernet, foreign), false, false},
		"IPv6 cut short":         {overIPv6[:42], false, false},
		"a request":              {slices.Concat(ethernet, request), false, true},
		"an answer":              {slices.Concat(ethernet, answer), true, true},
		"a packet of a TUN":      {request, false, true},
		"inside VXLAN":           {vxlan(answer), true, true},
		"inside IPIP":            {slices.Concat(packet(unix.IPPROTO_IPIP, 0, 0)[:20], request), false, true},
		"behind a VLAN tag":      {slices.Concat(ethernet[:12], []byte{0x81, 0, 2, 189, 8, 0}, request), false, true},
		"another's":              {slices.Concat(ethernet, other), false, false},
		"another's inside VXLAN": {vxlan(other), false, false},
		"quoted by ICMP":         {slices.Concat(ethernet, packet(unix.IPPROTO_ICMP, 0, 0, request...)), false, false},
		"a wrong checksum":       {wrong, false, false},
		"cut short":              {request[:22], false, false},
		"nothing":                {nil, false, false},
	} {
		if reply, found := (Flow{Port: port}).find(c.frame); reply != c.reply || found != c.found {
			t.Errorf("%s: reply %t, found %t; want %t, %t", name, reply, found, c.reply, c.found)
		}
	}
}

func FuzzFlowFind(f *testing.F) {
	f.Add(packet(unix.IPPROTO_TCP, 1, 2), uint16(2))
	f.Add([]byte{0x45}, uint16(0))
	f.Fuzz(func(t *testing.T, frame []byte, port uint16) {
		if reply, found := (Flow{Port: port}).find(frame); reply && !found {
			t.Error("a reply that is not found")
		}
	})
}

// send sends one datagram of so many bytes from a namespace.
func send(t *testing.T, from *Namespace, to string, bytes int) {
	t.Helper()
	err := from.Do(func() error {
		conn, err := net.Dial("udp4", to)
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = conn.Write(make([]byte, bytes))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func testWatch(t *testing.T) {
	cluster := setUp(t, open(t), pairOf("x"))
	a, b := cluster.Hosts[0], cluster.Hosts[1]
	send(t, a.Namespace, "10.0.0.2:7", 1) // neighbours are known from here on
	w, err := StartWatch([]*Namespace{a.Namespace, b.Namespace}, Flow{Port: 99, Least: 500})
	if err != nil {
		t.Fatal(err)
	}
	send(t, a.Namespace, "10.0.0.2:98", 600) // another port
	send(t, b.Namespace, "10.0.0.1:99", 100) // too short
	send(t, a.Namespace, "10.0.0.2:99", 600)
	labtest.Await(t, "both ends have seen the packet", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.seen) >= 2
	})
	seen, err := w.Stop()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range seen {
		got = append(got, fmt.Sprint(s.Namespace, " ", s.Device, " ", s.Out, " ", s.Reply))
	}
	if want := []string{"x.h1 eth0 true false", "x.h2 eth0 false false"}; !slices.Equal(got, want) {
		t.Errorf("seen %q, want %q", got, want)
	}
}
