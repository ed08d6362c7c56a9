package traffic

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrPortsUsed is of a connection for which no source address has a free port left.
var ErrPortsUsed = errors.New("every local port towards the server is in use, at each address of the device: " +
	"widen net.ipv4.ip_local_port_range, hold fewer connections, keep them, measure for a shorter time, or give the device more addresses")

// RawAddress is a socket address as the kernel reads it. It stays where it is.
type RawAddress struct {
	Bytes  [unix.SizeofSockaddrInet6]byte
	Length uintptr
}

// NewRawAddress is addr as the kernel reads it (include/uapi/linux/in.h, in6.h).
func NewRawAddress(addr netip.AddrPort) RawAddress {
	var raw RawAddress
	ip := addr.Addr().Unmap()
	port := addr.Port()
	raw.Bytes[2], raw.Bytes[3] = byte(port>>8), byte(port)
	family := (*uint16)(unsafe.Pointer(&raw.Bytes))
	if ip.Is4() {
		*family, raw.Length = unix.AF_INET, unix.SizeofSockaddrInet4
		copy(raw.Bytes[4:], ip.AsSlice())
		return raw
	}
	*family, raw.Length = unix.AF_INET6, unix.SizeofSockaddrInet6
	copy(raw.Bytes[8:], ip.AsSlice())
	return raw
}

// ErrPeerClosed is of a connection that the peer closed in good order.
var ErrPeerClosed = errors.New("the peer closed the connection")

// SocketAddress is addr for the system calls, built once per run.
func SocketAddress(addr netip.AddrPort) (family int, sa unix.Sockaddr, err error) {
	ip := addr.Addr().Unmap()
	switch {
	case ip.Is4():
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(addr.Port()), Addr: ip.As4()}, nil
	case ip.Is6() && ip.Zone() == "":
		return unix.AF_INET6, &unix.SockaddrInet6{Port: int(addr.Port()), Addr: ip.As16()}, nil
	}
	return 0, nil, fmt.Errorf("use address %v: want an IPv4 or IPv6 address without zone", addr)
}

// OpenSocket makes a blocking socket whose calls return after a tick.
func OpenSocket(family, kind int) (int, error) {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open socket: %w", err)
	}
	if err := SetTimeout(fd, Tick); err != nil {
		CloseSocket(fd)
		return -1, err
	}
	return fd, nil
}

// SetTimeout bounds each call on fd; zero: calls wait for ever.
func SetTimeout(fd int, d time.Duration) error {
	timeout := unix.NsecToTimeval(int64(d))
	for _, option := range []int{unix.SO_RCVTIMEO, unix.SO_SNDTIMEO} {
		if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, option, &timeout); err != nil {
			return fmt.Errorf("set socket timeout: %w", err)
		}
	}
	return nil
}

// OpenBound makes a socket bound to addr. Port 0 lets the kernel choose.
func OpenBound(addr netip.AddrPort, kind int) (int, error) {
	family, sa, err := SocketAddress(addr)
	if err != nil {
		return -1, err
	}
	fd, err := OpenSocket(family, kind)
	if err != nil {
		return -1, err
	}
	if kind == unix.SOCK_STREAM {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	if err == nil {
		err = unix.Bind(fd, sa)
	}
	if err != nil {
		CloseSocket(fd)
		return -1, fmt.Errorf("bind %v: %w", addr, err)
	}
	return fd, nil
}

// Connect connects fd within the run's grace. With a timeout on the socket a
// connect that was interrupted continues in the kernel; calling again waits on.
func Connect(r *Run, fd int, sa unix.Sockaddr) error {
	limit := r.Now() + Grace
	for {
		err := unix.Connect(fd, sa)
		switch {
		case err == nil || errors.Is(err, unix.EISCONN):
			return nil
		case err != unix.EINPROGRESS && err != unix.EALREADY && err != unix.EINTR && err != unix.EAGAIN: // it does not continue
			return err
		case r.Stopped():
			return r.Cause(err)
		case r.Now() > limit:
			return ErrSilent
		}
	}
}

// LocalAddress is the address that fd is bound to.
func LocalAddress(fd int) netip.AddrPort { return Address(fd, unix.Getsockname) }

// Address is that of one end of a socket's connection, by unix.Getsockname or
// unix.Getpeername; the zero one: it is gone.
func Address(fd int, of func(fd int) (unix.Sockaddr, error)) netip.AddrPort {
	sa, err := of(fd)
	if err != nil {
		return netip.AddrPort{}
	}
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), uint16(sa.Port))
	}
	return netip.AddrPort{}
}

// Send writes p once and gives how many bytes went: it may be less. It waits for a Tick at most,
// unless the socket's timeout is another; flags are those of sendto(2). It makes its call itself, as
// Receive does: on the way out of the kernel each further function costs a round trip some 30 ns.
func Send(fd int, p []byte, flags int) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), uintptr(flags|unix.MSG_NOSIGNAL), 0, 0)
	return Result(n, errno)
}

// Receive reads once into p, and waits as Send does; flags are those of recvfrom(2). No bytes and no
// error: the peer has closed.
func Receive(fd int, p []byte, flags int) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), uintptr(flags), 0, 0)
	return Result(n, errno)
}

// Result is the number that a system call returned; 0 with an error, where the kernel's is -1.
func Result(n uintptr, errno syscall.Errno) (int, syscall.Errno) {
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// SendAll writes the whole of p, within the run's Grace. ErrSilent: the peer takes no more.
func SendAll(r *Run, fd int, p []byte) error {
	var limit time.Duration
	for {
		n, errno := Send(fd, p, 0)
		if errno != 0 && !Waited(errno) {
			return errno
		}
		if p = p[n:]; len(p) == 0 {
			return nil
		}
		now := r.Now()
		if limit == 0 {
			limit = now + Grace
		}
		if now > limit {
			return ErrSilent
		}
		if r.Stopped() {
			return context.Canceled
		}
	}
}

// Waited reports whether a wait ended without an event; else it failed. A signal of
// the Go runtime ends a call with EINTR.
func Waited(errno syscall.Errno) bool {
	return errno == unix.EAGAIN || errno == unix.EINTR
}

// CloseSocket closes fd. The error of close on a socket is that of an earlier
// call and changes nothing.
func CloseSocket(fd int) {
	_ = unix.Close(fd)
}

// CloseSockets closes them all.
func CloseSockets(fds []int) {
	for _, fd := range fds {
		CloseSocket(fd)
	}
}

// AwaitClose reads until the peer's FIN or an error, or until the limit on
// the run's clock.
func AwaitClose(r *Run, fd int, limit time.Duration) {
	var scrap [512]byte
	for r.Now() < limit && !r.Stopped() {
		n, errno := Receive(fd, scrap[:], 0)
		if errno != 0 && !Waited(errno) || errno == 0 && n == 0 {
			return
		}
	}
}

// CloseQuickly is CloseSocket for a hot loop: what closing sends does not
// bring the runtime's monitor in (see Syscall).
func CloseQuickly(fd int) {
	_, _ = Syscall(unix.SYS_CLOSE, uintptr(fd), 0, 0, 0, 0, 0)
}

// Abort closes fd with a reset, which leaves no port in TIME_WAIT.
func Abort(fd int) {
	_ = ResetOnClose(fd) // an error leaves an ordinary close
	CloseQuickly(fd)
}

// ResetOnClose makes closing the connection end it at once by RST, at both
// ends, without TIME_WAIT.
func ResetOnClose(fd int) error {
	if err := unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}); err != nil {
		return fmt.Errorf("set linger: %w", err)
	}
	return nil
}
