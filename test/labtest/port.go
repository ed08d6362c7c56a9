package labtest

import (
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// FreePort is a port of the loopback address for a server that a test starts,
// held until the test ends: by a socket that is bound and does not listen, so
// that the kernel gives the port to nobody who asks for any, and a server that
// sets SO_REUSEADDR, as all do, can bind it (socket(7)).
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
	loopback := [4]byte{127, 0, 0, 1}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		t.Fatalf("hold a port: %v", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: loopback}); err != nil {
		t.Fatalf("hold a port: %v", err)
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatalf("hold a port: %v", err)
	}
	return netip.AddrPortFrom(netip.AddrFrom4(loopback), uint16(at.(*unix.SockaddrInet4).Port))
}
