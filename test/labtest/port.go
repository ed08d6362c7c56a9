package labtest

import (
	"errors"
	"math/rand/v2"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// The ports that FreePort chooses from lie below those that the kernel gives to whoever asks for
// any (net.ipv4.ip_local_port_range: from 32768 on). So no client has the UDP port of the same
// number, which servers of both protocols bind later than that of TCP.
const (
	firstPort = 10000
	morePorts = 20000
)

// FreePort is a port of the loopback address for a server that a test starts, held until the
// test ends: by a socket that is bound and does not listen, so that no other test gets it, and a
// server that sets SO_REUSEADDR, as all do, can bind it (socket(7)).
func FreePort(t testing.TB) netip.AddrPort {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatalf("hold a port: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Close(fd); err != nil {
			t.Errorf("release a port: %v", err)
		}
	})
	at := unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	for from := rand.IntN(morePorts); at.Port == 0 || errors.Is(err, unix.EADDRINUSE); from++ {
		at.Port = firstPort + from%morePorts
		err = unix.Bind(fd, &at)
	}
	if err != nil {
		t.Fatalf("hold a port: %v", err)
	}
	// Only now: a socket that has this before could be bound beside another that holds the port.
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		t.Fatalf("hold a port: %v", err)
	}
	return netip.AddrPortFrom(netip.AddrFrom4(at.Addr), uint16(at.Port))
}
