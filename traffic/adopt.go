package traffic

import (
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// Socket is a blocking data socket for the loops of another package: as here,
// its calls return after a tick, stay out of the netpoller and allocate
// nothing.
type Socket struct{ fd int }

// AdoptSocket takes the socket out of conn, which it closes. The caller closes
// the Socket.
func AdoptSocket(conn interface {
	net.Conn
	syscall.Conn
}) (Socket, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Socket{-1}, fmt.Errorf("take over socket: %w", err)
	}
	fd := -1
	if failed := raw.Control(func(own uintptr) {
		fd, err = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0)
	}); failed != nil {
		err = failed
	}
	if closed := conn.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = makeBlocking(fd)
	}
	if err != nil {
		if fd >= 0 {
			CloseSocket(fd)
		}
		return Socket{-1}, fmt.Errorf("take over socket: %w", err)
	}
	return Socket{fd}, nil
}

// makeBlocking makes the calls on fd block, for a tick.
func makeBlocking(fd int) error {
	if err := unix.SetNonblock(fd, false); err != nil {
		return err
	}
	return SetTimeout(fd, Tick)
}

// Descriptor is for socket options.
func (s Socket) Descriptor() int { return s.fd }

// Send writes p once; it may write less.
func (s Socket) Send(p []byte) (int, syscall.Errno) { return Send(s.fd, p, 0) }

// Receive reads once into p.
func (s Socket) Receive(p []byte) (int, syscall.Errno) { return Receive(s.fd, p, 0) }

// TCPInfo reads TCP_INFO into info; see tcpstream.FlowSent.
func (s Socket) TCPInfo(info *unix.TCPInfo) error { return TCPInfo(s.fd, info) }

// Congestion reads back the congestion control in use.
func (s Socket) Congestion() (string, error) { return Congestion(s.fd) }

// Local is the socket's own address.
func (s Socket) Local() netip.AddrPort { return LocalAddress(s.fd) }

// Close frees the descriptor. No call may be under way.
func (s Socket) Close() { CloseSocket(s.fd) }
