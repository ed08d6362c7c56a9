package network

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"tare/lab"
)

// muteWait bounds how long the trial may take, a few milliseconds on a CPU that is not emulated.
const muteWait = 10 * time.Second

// FindMute tries the published port of a cluster's first container, and records why if a
// client there does not receive what a server sends first.
func (setup *Setup) FindMute(cluster *lab.Cluster, why string) error {
	if setup.Containers == 0 {
		return nil
	}
	c := cluster.Hosts[0].Containers()[0]
	served, err := servesSilent(c, MySQLPort)
	if err != nil {
		return fmt.Errorf("try the published port %d of %s: %w: see that nothing in the lab refuses TCP to it", MySQLPort, c.Name, err)
	}
	if !served {
		setup.Mute = why
	}
	return nil
}

// servesSilent reports whether the connection of a client that sends nothing reaches a server
// behind a published port. Two clients connect, a silent one and then one that sends: whose
// connection the server accepts first does not depend on how fast the machine is. Both are on
// the container's own host, where the lab's wire loses and reorders nothing.
func servesSilent(c *lab.Container, port uint16) (served bool, err error) {
	var listener *net.TCPListener
	err = c.Do(func() (err error) {
		listener, err = net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(netip.AddrPortFrom(c.Addr, port)))
		return err
	})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, listener.Close()) }()
	silent, err := dialPublished(c, port)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, silent.Close()) }()
	speaking, err := dialPublished(c, port)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, speaking.Close()) }()
	if _, err := speaking.Write([]byte{0}); err != nil {
		return false, err
	}
	if err := listener.SetDeadline(time.Now().Add(muteWait)); err != nil {
		return false, err
	}
	first, err := listener.AcceptTCP()
	if err != nil {
		return false, err
	}
	// The client's port is the same on both sides.
	return portOf(first.RemoteAddr()) == portOf(silent.LocalAddr()), first.Close()
}

// dialPublished connects from a container's host to a port that is published there.
func dialPublished(c *lab.Container, port uint16) (conn *net.TCPConn, err error) {
	err = c.Host.Do(func() (err error) {
		conn, err = net.DialTCP("tcp4", nil, net.TCPAddrFromAddrPort(netip.AddrPortFrom(c.Host.Addr, port)))
		return err
	})
	return conn, err
}

func portOf(addr net.Addr) int { return addr.(*net.TCPAddr).Port }
