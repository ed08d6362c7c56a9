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

// errPeerClosed: the peer closed the connection in good order.
var errPeerClosed = errors.New("the peer closed the connection")

// socketAddress is addr for the system calls, built once per run.
func socketAddress(addr netip.AddrPort) (family int, sa unix.Sockaddr, err error) {
	ip := addr.Addr().Unmap()
	switch {
	case ip.Is4():
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(addr.Port()), Addr: ip.As4()}, nil
	case ip.Is6() && ip.Zone() == "":
		return unix.AF_INET6, &unix.SockaddrInet6{Port: int(addr.Port()), Addr: ip.As16()}, nil
	}
	return 0, nil, fmt.Errorf("use address %v: want an IPv4 or IPv6 address without zone", addr)
}

// openSocket makes a blocking socket whose calls return after a tick.
func openSocket(family, kind int) (int, error) {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open socket: %w", err)
	}
	if err := setTimeout(fd, tick); err != nil {
		closeSocket(fd)
		return -1, err
	}
	return fd, nil
}

// setTimeout bounds each call on fd; zero: calls wait for ever.
func setTimeout(fd int, d time.Duration) error {
	timeout := unix.NsecToTimeval(int64(d))
	for _, option := range []int{unix.SO_RCVTIMEO, unix.SO_SNDTIMEO} {
		if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, option, &timeout); err != nil {
			return fmt.Errorf("set socket timeout: %w", err)
		}
	}
	return nil
}

// openBound makes a socket bound to addr. Port 0 lets the kernel choose.
func openBound(addr netip.AddrPort, kind int) (int, error) {
	family, sa, err := socketAddress(addr)
	if err != nil {
		return -1, err
	}
	fd, err := openSocket(family, kind)
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
		closeSocket(fd)
		return -1, fmt.Errorf("bind %v: %w", addr, err)
	}
	return fd, nil
}

// connect connects fd within the run's grace. With a timeout on the socket a
// connect that was interrupted continues in the kernel; calling again waits on.
func connect(r *run, fd int, sa unix.Sockaddr) error {
	limit := r.now() + grace
	for {
		err := unix.Connect(fd, sa)
		switch {
		case err == nil || errors.Is(err, unix.EISCONN):
			return nil
		case !pendingConnect(err):
			return err
		case r.stopped.Load():
			return r.cause(err)
		case r.now() > limit:
			return errSilent
		}
	}
}

// pendingConnect reports whether a connect continues; else it failed.
func pendingConnect(err error) bool {
	return err == unix.EINPROGRESS || err == unix.EALREADY || err == unix.EINTR || err == unix.EAGAIN
}

// localAddress is the address that fd is bound to.
func localAddress(fd int) netip.AddrPort { return Address(fd, unix.Getsockname) }

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

// send writes p once; it may write less. It makes its call itself, as recv
// does, so that both are inlined into the loops: on the way out of the kernel
// each further function costs a round trip some 30 ns.
func send(fd int, p []byte, flags int) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), uintptr(flags|unix.MSG_NOSIGNAL), 0, 0)
	return counted(n, errno)
}

// recv reads once into p.
func recv(fd int, p []byte, flags int) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), uintptr(flags), 0, 0)
	return counted(n, errno)
}

// counted is 0 with an error, where the kernel's is -1.
func counted(n uintptr, errno syscall.Errno) (int, syscall.Errno) {
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// sendAll writes the whole of p, within the run's grace.
func sendAll(r *run, fd int, p []byte) error {
	var limit time.Duration
	for {
		n, errno := send(fd, p, 0)
		if errno != 0 && !again(errno) {
			return errno
		}
		if p = p[n:]; len(p) == 0 {
			return nil
		}
		now := r.now()
		if limit == 0 {
			limit = now + grace
		}
		if now > limit {
			return errSilent
		}
		if r.stopped.Load() {
			return context.Canceled
		}
	}
}

// again reports whether a wait ended without an event; else it failed. A signal of
// the Go runtime ends a call with EINTR.
func again(errno syscall.Errno) bool {
	return errno == unix.EAGAIN || errno == unix.EINTR
}

// closeSocket closes fd. The error of close on a socket is that of an earlier
// call and changes nothing.
func closeSocket(fd int) {
	_ = unix.Close(fd)
}

func closeSockets(fds []int) {
	for _, fd := range fds {
		closeSocket(fd)
	}
}

// awaitClose reads until the peer's FIN or an error, or until the limit on
// the run's clock.
func awaitClose(r *run, fd int, limit time.Duration) {
	var scrap [512]byte
	for r.now() < limit && !r.stopped.Load() {
		n, errno := recv(fd, scrap[:], 0)
		if errno != 0 && !again(errno) || errno == 0 && n == 0 {
			return
		}
	}
}

// closeQuickly is closeSocket for a hot loop: what closing sends does not
// bring the runtime's monitor in (see blocking).
func closeQuickly(fd int) {
	_, _ = blocking(unix.SYS_CLOSE, uintptr(fd), 0, 0, 0, 0, 0)
}

// abort closes fd with a reset, which leaves no port in TIME_WAIT.
func abort(fd int) {
	_ = resetOnClose(fd) // an error leaves an ordinary close
	closeQuickly(fd)
}
