// Package engine holds what the drivers of real engines share: finding the
// programs that an engine needs, keeping it from changing the machine, and the
// image that its containers run. Each folder below drives one engine on the
// hosts of a lab. An engine knows nothing of a network: it takes hosts,
// addresses and options.
package engine

import (
	"net"
	"time"

	"tare/lab"
)

// RequestTimeout is how long one request to an engine may take: twice what
// kubelet allows (its runtimeRequestTimeout). Docker's own client has no limit;
// a kernel that makes an engine wait does so for a minute or two
// (docs/accuracy.md).
const RequestTimeout = 4 * time.Minute

// Port is a port of a host that leads to a port of a container.
type Port struct {
	Protocol        string // "tcp" or "udp"
	Host, Container uint16
}

// DialUnix connects to a unix socket in a host's file system.
func DialUnix(h *lab.Host, path string) (conn net.Conn, err error) {
	err = h.Inside(func() error {
		conn, err = net.Dial("unix", path)
		return err
	})
	return conn, err
}

// Listens fails unless a process listens on a unix socket, as the calling thread
// sees the file system. It suits lab.Daemon's Ready.
func Listens(path string) error {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	return conn.Close()
}
