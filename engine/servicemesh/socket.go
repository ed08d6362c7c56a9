package servicemesh

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Mark is on what a relay itself sends, so that the rules don't redirect it to the relay
// again: Istio's number, which its sidecar has as the user of its process, and ztunnel as mark.
const Mark = 1337

// dialWait is how long a connection and its handshake may take: Istio's connectTimeout.
const dialWait = 10 * time.Second

// place is a network namespace in which a relay has sockets. The zero place is the process's.
type place struct{ net, home *os.File }

// inside runs work on a thread in the namespace.
func (p place) inside(work func() error) error {
	if p.net == nil {
		return work()
	}
	runtime.LockOSThread()
	if err := unix.Setns(int(p.net.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("enter namespace: %w", err)
	}
	err := work()
	if back := unix.Setns(int(p.home.Fd()), unix.CLONE_NEWNET); back != nil {
		return errors.Join(err, fmt.Errorf("leave namespace: %w", back)) // the thread ends with the goroutine
	}
	runtime.UnlockOSThread()
	return err
}

// listen listens at a port of all addresses of the place.
func (p place) listen(port uint16) (listener *net.TCPListener, err error) {
	config := net.ListenConfig{KeepAlive: -1}
	err = p.inside(func() error {
		socket, err := config.Listen(context.Background(), "tcp4", netip.AddrPortFrom(netip.IPv4Unspecified(), port).String())
		if err == nil {
			listener = socket.(*net.TCPListener)
		}
		return err
	})
	return listener, err
}

// dial connects from the place, by a marked socket. An invalid source is the kernel's choice;
// one that is not the namespace's address must be transparent.
func (p place) dial(source netip.Addr, transparent bool, to netip.AddrPort) (conn *net.TCPConn, err error) {
	dialer := net.Dialer{Timeout: dialWait, KeepAlive: -1, Control: func(_, _ string, raw syscall.RawConn) error {
		return onSocket(raw, func(fd int) error { return prepare(fd, source, transparent) })
	}}
	err = p.inside(func() error {
		socket, err := dialer.DialContext(context.Background(), "tcp4", to.String())
		if err == nil {
			conn = socket.(*net.TCPConn)
		}
		return err
	})
	return conn, err
}

// prepare sets the options of a socket, and its source without a port: the kernel chooses that
// when it knows both ends, so that many connections may have one (IP_BIND_ADDRESS_NO_PORT).
func prepare(fd int, source netip.Addr, transparent bool) error {
	err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_MARK, Mark)
	if transparent {
		err = errors.Join(err, unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_TRANSPARENT, 1))
	}
	if source.IsValid() {
		err = errors.Join(err, unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1),
			unix.Bind(fd, &unix.SockaddrInet4{Addr: source.As4()}))
	}
	return err
}

func onSocket(raw syscall.RawConn, do func(fd int) error) error {
	var err error
	if errRaw := raw.Control(func(fd uintptr) { err = do(int(fd)) }); errRaw != nil {
		return errRaw
	}
	return err
}

// originalDst is the option that gives the destination before a redirection
// (include/uapi/linux/netfilter_ipv4.h).
const originalDst = 80

// originalDestination is where a redirected connection was going.
func originalDestination(conn *net.TCPConn) (to netip.AddrPort, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return to, err
	}
	err = onSocket(raw, func(fd int) error {
		// It answers with a sockaddr_in, as large as the address of this request.
		got, err := unix.GetsockoptIPv6Mreq(fd, unix.SOL_IP, originalDst)
		if err != nil {
			return err
		}
		b := got.Multiaddr
		to = netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), binary.BigEndian.Uint16(b[2:4]))
		return nil
	})
	if err == nil && to == conn.LocalAddr().(*net.TCPAddr).AddrPort() {
		err = errors.New("it was not redirected")
	}
	if err != nil {
		return to, fmt.Errorf("find destination of connection from %v: %w", conn.RemoteAddr(), err)
	}
	return to, nil
}

// remote is the address of the other end.
func remote(conn *net.TCPConn) netip.Addr {
	return conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
}
