package iperf3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// readBuffer is asked for on a UDP flow that names no window: enough for the
// time that a receiver may wait for its CPU.
const readBuffer = 4 << 20

// tune sets what the parameters ask of a data socket.
func (p parameters) tune(fd int) error {
	set := func(name string, level, option, value int) error {
		if value == 0 {
			return nil
		}
		if err := unix.SetsockoptInt(fd, level, option, value); err != nil {
			return fmt.Errorf("set %s to %d: %w", name, value, err)
		}
		return nil
	}
	pacing := int(min(p.FQRate/8, 1<<32-1)) // bytes per second
	err := errors.Join(
		set("SO_SNDBUF", unix.SOL_SOCKET, unix.SO_SNDBUF, int(p.Window)),
		set("SO_RCVBUF", unix.SOL_SOCKET, unix.SO_RCVBUF, int(p.Window)),
		set("SO_MAX_PACING_RATE", unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, pacing),
		set("IP_TOS", unix.IPPROTO_IP, unix.IP_TOS, int(p.TOS)))
	domain, failed := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	err = errors.Join(err, failed)
	if domain == unix.AF_INET6 { // which carries IPv4 too
		err = errors.Join(err, set("IPV6_TCLASS", unix.IPPROTO_IPV6, unix.IPV6_TCLASS, int(p.TOS)))
	}
	if p.UDP {
		return errors.Join(err, p.tuneUDP(fd, domain))
	}
	if p.Congestion != "" {
		if failed := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, p.Congestion); failed != nil {
			err = errors.Join(err, refuse(errCongestion, "set congestion control %q: %w; see net.ipv4.tcp_allowed_congestion_control", p.Congestion, failed))
		}
	}
	return err
}

func (p parameters) tuneUDP(fd, domain int) error {
	discover := unix.IP_PMTUDISC_DONT // datagrams larger than the path are cut, as iperf3 has it
	if p.DontFragment {
		discover = unix.IP_PMTUDISC_DO
	}
	// A datagram that this machine's own queue dropped looks sent without it.
	err := errors.Join(
		unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_RECVERR, 1),
		unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, discover))
	if domain == unix.AF_INET6 { // the values of IPV6_MTU_DISCOVER are the same
		err = errors.Join(err,
			unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVERR, 1),
			unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, discover))
	}
	// Force needs CAP_NET_ADMIN; without it net.core.rmem_max is the most.
	if p.Window == 0 && unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, readBuffer) != nil {
		err = errors.Join(err, unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, readBuffer))
	}
	if err != nil {
		return fmt.Errorf("set UDP socket options: %w", err)
	}
	return nil
}

// control is for a socket that is not connected or bound yet.
func (p parameters) control(_, _ string, raw syscall.RawConn) error {
	var err error
	failed := raw.Control(func(fd uintptr) { err = p.tune(int(fd)) })
	return errors.Join(failed, err)
}

// adopt makes a flow of a connected socket.
func adopt(conn interface {
	net.Conn
	syscall.Conn
}, p parameters) (*flow, error) {
	f := &flow{local: addressOf(conn.LocalAddr()), remote: addressOf(conn.RemoteAddr())}
	var err error
	if f.socket, err = traffic.AdoptSocket(conn); err != nil {
		return nil, err
	}
	if p.UDP {
		return f, nil
	}
	delay := 0 // the end of one write and the start of the next may share a segment
	if p.NoDelay {
		delay = 1
	}
	if err := unix.SetsockoptInt(f.socket, unix.IPPROTO_TCP, unix.TCP_NODELAY, delay); err != nil {
		traffic.CloseSocket(f.socket)
		return nil, fmt.Errorf("set TCP_NODELAY: %w", err)
	}
	return f, nil
}

// addressOf is an address as people write it; none: the zero value.
func addressOf(addr net.Addr) netip.AddrPort {
	var at netip.AddrPort
	switch addr := addr.(type) {
	case *net.TCPAddr:
		at = addr.AddrPort()
	case *net.UDPAddr:
		at = addr.AddrPort()
	}
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// number counts the flows as iperf3 does and sets which of them send: with
// both directions, those from the client come first.
func numberFlows(flows []*flow, p parameters, client bool) {
	ids := flowIDs(len(flows))
	for i, f := range flows {
		f.id = ids[i]
		fromClient := !bool(p.Reverse)
		if p.Bidirectional {
			fromClient = i < len(flows)/2
		}
		f.sends = fromClient == client
	}
}

func (p parameters) flows() int {
	if p.Bidirectional {
		return 2 * int(p.Parallel)
	}
	return int(p.Parallel)
}

func closeFlows(flows []*flow) {
	for _, f := range flows {
		traffic.CloseSocket(f.socket)
	}
}

// dialFlow opens one flow to the server.
func dialFlow(ctx context.Context, to netip.AddrPort, p parameters, c cookie) (*flow, error) {
	dialer := net.Dialer{Timeout: patience, Control: p.control}
	network := "tcp"
	if p.UDP {
		network = "udp"
	}
	conn, err := dialer.DialContext(ctx, network, to.String())
	if err != nil {
		return nil, err
	}
	err = conn.SetDeadline(time.Now().Add(patience))
	switch conn := conn.(type) {
	case *net.TCPConn:
		if err == nil {
			_, err = conn.Write(c[:])
		}
		if err == nil {
			return adopt(conn, p)
		}
	case *net.UDPConn:
		if err == nil {
			err = greet(conn)
		}
		if err == nil {
			return adopt(conn, p)
		}
	}
	conn.Close()
	return nil, err
}

// greet makes a UDP flow known to the server. It asks only once: a second
// greeting would arrive on the flow itself, as data.
func greet(conn *net.UDPConn) error {
	if _, err := conn.Write(udpHello[:]); err != nil {
		return err
	}
	var got [4]byte
	if _, err := conn.Read(got[:]); err != nil {
		return fmt.Errorf("wait for the answer to a UDP flow's greeting: %w; see whether UDP passes both ways", silent(err, patience))
	}
	if got != udpWelcome && got != udpHello && got != udpLegacyWelcome {
		return fmt.Errorf("the server answered a UDP flow's greeting with %q", got[:])
	}
	return nil
}

// udpAcceptor accepts the UDP flows of one test, one after another: each socket
// becomes a flow once its client is known.
type udpAcceptor struct {
	local netip.AddrPort // where the client's control connection arrived
	peer  netip.Addr
	p     parameters
	log   func(string)
	next  *net.UDPConn
}

func (d *udpAcceptor) open(ctx context.Context) error {
	config := net.ListenConfig{Control: func(network, address string, raw syscall.RawConn) error {
		var err error
		failed := raw.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
		})
		return errors.Join(failed, err, d.p.control(network, address, raw))
	}}
	conn, err := config.ListenPacket(ctx, "udp", d.local.String())
	if err != nil {
		return err
	}
	d.next = conn.(*net.UDPConn)
	return nil
}

// accept waits for the next flow's first datagram. With more to come, their
// socket is open before this one is answered.
func (d *udpAcceptor) accept(ctx context.Context, deadline time.Time, more bool) (*flow, error) {
	conn := d.next
	if err := conn.SetReadDeadline(deadline); err != nil {
		return nil, err
	}
	release := context.AfterFunc(ctx, func() {
		_ = conn.SetReadDeadline(time.Now()) // it fails on a socket that is a flow already
	})
	defer release()
	var got [64]byte
	for {
		n, from, err := conn.ReadFromUDPAddrPort(got[:])
		if err != nil {
			return nil, silent(err, patience)
		}
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		answer, ok := answerTo(got[:n])
		if !ok || from.Addr() != d.peer {
			d.log(fmt.Sprintf("%v: refused a datagram of %d bytes that opens no flow of this test", from, n))
			continue
		}
		d.next = nil
		f, err := connectUDP(conn, from, d.p)
		if err == nil && more {
			if err = d.open(ctx); err != nil {
				traffic.CloseSocket(f.socket)
			}
		}
		if err != nil {
			return nil, err
		}
		if _, errno := traffic.Send(f.socket, answer[:], 0); errno != 0 {
			traffic.CloseSocket(f.socket)
			return nil, fmt.Errorf("answer a UDP flow's greeting: %w", errno)
		}
		return f, nil
	}
}

// connectUDP makes a flow of a socket that received from the peer.
func connectUDP(conn *net.UDPConn, peer netip.AddrPort, p parameters) (*flow, error) {
	f, err := adopt(conn, p)
	if err != nil {
		return nil, err
	}
	f.remote = peer
	var to unix.Sockaddr = &unix.SockaddrInet6{Port: int(peer.Port()), Addr: peer.Addr().As16()}
	if peer.Addr().Is4() {
		to = &unix.SockaddrInet4{Port: int(peer.Port()), Addr: peer.Addr().As4()}
	}
	if err := unix.Connect(f.socket, to); err != nil {
		traffic.CloseSocket(f.socket)
		return nil, fmt.Errorf("connect a UDP flow to %v: %w", peer, err)
	}
	return f, nil
}

func (d *udpAcceptor) close() {
	if d.next != nil {
		d.next.Close()
	}
}
