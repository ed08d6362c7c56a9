package traffic

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// blockingConn is a socket as a library wants it, whose calls block their thread and stay
// out of the netpoller. They end with the run, or when the peer is silent for grace; it
// has no deadlines.
type blockingConn struct {
	run   *run
	fd    int
	first []byte // goes ahead of what is sent first, in the same call
}

// Read waits for what arrives, at the end for io.EOF.
func (c *blockingConn) Read(p []byte) (int, error) {
	for limit := c.run.now() + grace; ; {
		n, errno := recv(c.fd, p, 0)
		switch {
		case errno == 0 && n == 0 && len(p) > 0:
			return 0, io.EOF
		case errno == 0:
			return n, nil
		case !again(errno):
			return 0, errno
		case c.run.stopped.Load():
			return 0, c.run.cause(context.Canceled)
		case c.run.now() > limit:
			return 0, errSilent
		}
	}
}

// Write sends all of p.
func (c *blockingConn) Write(p []byte) (int, error) {
	out := p
	if len(c.first) > 0 {
		out = append(c.first, p...)
		c.first = nil
	}
	if err := sendAll(c.run, c.fd, out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close frees the socket.
func (c *blockingConn) Close() error { return unix.Close(c.fd) }

// LocalAddr is the socket's own address.
func (c *blockingConn) LocalAddr() net.Addr {
	return net.TCPAddrFromAddrPort(Address(c.fd, unix.Getsockname))
}

// RemoteAddr is its peer's.
func (c *blockingConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(Address(c.fd, unix.Getpeername))
}

// SetDeadline refuses, and so do the other two.
func (c *blockingConn) SetDeadline(time.Time) error      { return os.ErrNoDeadline }
func (c *blockingConn) SetReadDeadline(time.Time) error  { return os.ErrNoDeadline }
func (c *blockingConn) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }

// polledConn is a second descriptor of a socket, which the netpoller waits for, as in a
// program that uses package net. The calls on the first do not block from then on.
func polledConn(fd int) (net.Conn, error) {
	second, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("hand socket over: %w", err)
	}
	file := os.NewFile(uintptr(second), "socket")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("hand socket over: %w", err)
	}
	return conn, nil
}
