package http

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// dialer opens the connections of http without waiting. It lets the kernel
// choose the source address as long as that has free ports, and continues with the
// device's other addresses when they are used up.
type dialer struct {
	family  int
	to      traffic.RawAddress
	sources []traffic.RawAddress // in addition to the kernel's choice
	source  int                  // the one in use; 0: the kernel's choice
}

func newDialer(to netip.AddrPort) (*dialer, error) {
	family, sa, err := traffic.SocketAddress(to)
	if err != nil {
		return nil, err
	}
	used, err := sourceTo(family, sa)
	if err != nil {
		return nil, fmt.Errorf("find the way to %v: %w; see whether it can be reached from here", to, err)
	}
	others, err := neighbours(used)
	if err != nil {
		return nil, err
	}
	d := &dialer{family: family, to: traffic.NewRawAddress(to)}
	for _, other := range others {
		d.sources = append(d.sources, traffic.NewRawAddress(netip.AddrPortFrom(other, 0)))
	}
	return d, nil
}

// sourceTo is the address that the kernel chooses towards sa. Connecting a
// datagram socket sends nothing.
func sourceTo(family int, sa unix.Sockaddr) (netip.Addr, error) {
	fd, err := traffic.OpenSocket(family, unix.SOCK_DGRAM)
	if err != nil {
		return netip.Addr{}, err
	}
	defer traffic.CloseSocket(fd)
	if err := unix.Connect(fd, sa); err != nil {
		return netip.Addr{}, err
	}
	return traffic.LocalAddress(fd).Addr(), nil
}

// neighbours are the other addresses of the device that has used.
func neighbours(used netip.Addr) ([]netip.Addr, error) {
	if used.Is4() && used.IsLoopback() { // all of 127.0.0.0/8 is this host's
		var others []netip.Addr
		for at := used.Next(); len(others) < 16 && at.IsLoopback(); at = at.Next() {
			others = append(others, at)
		}
		return others, nil
	}
	devices, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("list the devices: %w", err)
	}
	for _, device := range devices {
		addrs, err := device.Addrs()
		if err != nil {
			return nil, fmt.Errorf("list the addresses of %s: %w", device.Name, err)
		}
		var others []netip.Addr
		found := false
		for _, each := range addrs {
			prefix, err := netip.ParsePrefix(each.String())
			if err != nil {
				return nil, fmt.Errorf("list the addresses of %s: %w", device.Name, err)
			}
			at := prefix.Addr()
			switch {
			case at == used:
				found = true
			case at.Is4() == used.Is4() && at.IsLinkLocalUnicast() == used.IsLinkLocalUnicast():
				others = append(others, at)
			}
		}
		if found {
			return others, nil
		}
	}
	return nil, nil
}

// dial begins a connection. The kernel has sent its SYN; the socket becomes
// writable when it is established.
func (d *dialer) dial() (fd int, err error) {
	for range len(d.sources) + 1 {
		fd, errno := d.dialFrom(d.source)
		switch errno {
		case 0:
			return fd, nil
		case unix.EADDRNOTAVAIL:
			d.source = (d.source + 1) % (len(d.sources) + 1)
		default:
			return -1, errno
		}
	}
	return -1, traffic.ErrPortsUsed
}

func (d *dialer) dialFrom(source int) (int, syscall.Errno) {
	fd, errno := traffic.Syscall(unix.SYS_SOCKET, uintptr(d.family), unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0, 0, 0, 0)
	if errno != 0 {
		return -1, errno
	}
	if source > 0 {
		errno = bindAddress(fd, &d.sources[source-1])
	}
	if errno == 0 {
		_, errno = traffic.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&d.to.Bytes)), d.to.Length, 0, 0, 0)
	}
	if errno != 0 && errno != unix.EINPROGRESS && errno != unix.EINTR {
		traffic.CloseQuickly(fd)
		return -1, errno
	}
	return fd, 0
}

// bindAddress binds fd to an address and leaves its port to connect, which can
// use one towards several servers (IP_BIND_ADDRESS_NO_PORT, Linux 4.2).
func bindAddress(fd int, at *traffic.RawAddress) syscall.Errno {
	var errno syscall.Errno
	if errors.As(unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1), &errno) {
		return errno
	}
	_, errno = traffic.Syscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&at.Bytes)), at.Length, 0, 0, 0)
	return errno
}
