package traffic

import (
	"fmt"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// AdoptSocket takes the socket out of conn, which it closes: from then on its calls block, for a
// Tick at most, and stay out of the netpoller. The caller closes it.
func AdoptSocket(conn interface {
	net.Conn
	syscall.Conn
}) (fd int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return -1, fmt.Errorf("take over socket: %w", err)
	}
	fd = -1
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
		return -1, fmt.Errorf("take over socket: %w", err)
	}
	return fd, nil
}

// makeBlocking makes the calls on fd block, for a tick.
func makeBlocking(fd int) error {
	if err := unix.SetNonblock(fd, false); err != nil {
		return err
	}
	return SetTimeout(fd, Tick)
}
