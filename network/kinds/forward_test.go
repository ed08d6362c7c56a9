package kinds

import (
	"errors"
	"net/netip"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// listenOnLoopback opens a UDP socket that waits for a datagram for 10 s at most.
func listenOnLoopback(t *testing.T) (int, netip.AddrPort) {
	t.Helper()
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(socket) })
	if err := unix.SetsockoptTimeval(socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 10}); err != nil {
		t.Fatal(err)
	}
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	if err := unix.Bind(socket, sockaddr(netip.AddrPortFrom(loopback, 0))); err != nil {
		t.Fatal(err)
	}
	bound, err := unix.Getsockname(socket)
	if err != nil {
		t.Fatal(err)
	}
	return socket, netip.AddrPortFrom(loopback, uint16(bound.(*unix.SockaddrInet4).Port))
}

func receiveOne(t *testing.T, socket int) string {
	t.Helper()
	read := make([]byte, 64)
	n, err := unix.Read(socket, read)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Read(socket, read)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(read[:n])
}

// packetTo is an IPv4 header to an address, and a byte.
func packetTo(address string) []byte {
	packet := make([]byte, 21)
	packet[0] = 0x45
	addr := netip.MustParseAddr(address).As4()
	copy(packet[16:], addr[:])
	return packet
}

// Each packet is sent to the peer of its subnet, a packet for no subnet is dropped,
// and neither allocates.
func TestForwardByDestination(t *testing.T) {
	from, _ := listenOnLoopback(t)
	near, nearAddr := listenOnLoopback(t)
	far, farAddr := listenOnLoopback(t)
	ways := Tunnel{Peers: []TunnelPeer{
		{netip.MustParsePrefix("10.102.0.0/16"), nearAddr},
		{netip.MustParsePrefix("10.103.4.0/22"), farAddr},
	}}.ways()
	for _, test := range []struct {
		packet []byte
		to     int // 0: none
	}{
		{packetTo("10.102.0.0"), near},
		{packetTo("10.102.255.255"), near},
		{packetTo("10.103.7.255"), far},
		{packetTo("10.103.8.0"), 0},
		{packetTo("10.101.0.1"), 0},
		{packetTo("10.102.0.1")[:19], 0}, // no whole header
		{nil, 0},
	} {
		if err := forward(from, test.packet, ways); err != nil {
			t.Fatal(err)
		}
		// What is sent to each socket next shows that nothing else was on its way. Another
		// CPU may deliver it first.
		for socket, addr := range map[int]netip.AddrPort{near: nearAddr, far: farAddr} {
			want := []string{"next"}
			if socket == test.to {
				want = []string{string(test.packet), "next"}
			}
			if err := unix.Sendto(from, []byte("next"), 0, sockaddr(addr)); err != nil {
				t.Fatal(err)
			}
			var got []string
			for range want {
				got = append(got, receiveOne(t, socket))
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("after % x, %q arrives at %v; want %q", test.packet, got, addr, want)
			}
		}
	}
	packet := packetTo("10.103.4.1")
	allocations := testing.AllocsPerRun(100, func() {
		if err := forward(from, packet, ways); err != nil {
			t.Fatal(err)
		}
	})
	if allocations != 0 {
		t.Errorf("a packet takes %v allocations", allocations)
	}
}
