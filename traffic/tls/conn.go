package tls

import (
	"context"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// blockingConn is a socket as a library wants it, whose calls block their thread and stay
// out of the netpoller. They end with the run, or when the peer is silent for grace; it
// has no deadlines.
type blockingConn struct {
	run   *traffic.Run
	fd    int
	first []byte // goes ahead of what is sent first, in the same call
}

// Read waits for what arrives, at the end for io.EOF.
func (c *blockingConn) Read(p []byte) (int, error) {
	for limit := c.run.Now() + traffic.Grace; ; {
		n, errno := traffic.Receive(c.fd, p, 0)
		switch {
		case errno == 0 && n == 0 && len(p) > 0:
			return 0, io.EOF
		case errno == 0:
			return n, nil
		case !traffic.Waited(errno):
			return 0, errno
		case c.run.Stopped():
			return 0, c.run.Cause(context.Canceled)
		case c.run.Now() > limit:
			return 0, traffic.ErrSilent
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
	if err := traffic.SendAll(c.run, c.fd, out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close frees the socket.
func (c *blockingConn) Close() error { return unix.Close(c.fd) }

// LocalAddr is the socket's own address.
func (c *blockingConn) LocalAddr() net.Addr {
	return net.TCPAddrFromAddrPort(traffic.Address(c.fd, unix.Getsockname))
}

// RemoteAddr is its peer's.
func (c *blockingConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(traffic.Address(c.fd, unix.Getpeername))
}

// SetDeadline refuses, and so do the other two.
func (c *blockingConn) SetDeadline(time.Time) error      { return os.ErrNoDeadline }
func (c *blockingConn) SetReadDeadline(time.Time) error  { return os.ErrNoDeadline }
func (c *blockingConn) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }
