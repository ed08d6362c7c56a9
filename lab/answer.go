package lab

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// askStep is how often the datagram is sent until it is answered.
	askStep = 500 * time.Microsecond
	// answerWait is how long the first answer may take: the kernel repeats an ARP
	// request that came too early after a second.
	answerWait = 10 * time.Second
)

// Question is a datagram from one namespace to another that answers it.
type Question struct {
	Client, Server *Namespace
	Bind           netip.AddrPort // where the server listens; port 0: one that is free
	Dial           netip.AddrPort // where the client sends to; port 0: the server's
}

// Ask opens a socket at each end, sends datagrams from the client to the server
// until the first is answered, and returns how long that took. One thread does
// the work of both ends.
func (q Question) Ask() (took time.Duration, err error) {
	err = onThread(func() (err error) {
		begun := time.Now()
		server, port, err := q.listen()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unix.Close(server)) }()
		dial := netip.AddrPortFrom(q.Dial.Addr(), cmp.Or(q.Dial.Port(), port))
		client, err := q.Client.datagramSocket(dial)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unix.Close(client)) }()
		if err := exchange(server, client, socketAddress(dial), begun.Add(answerWait)); err != nil {
			return fmt.Errorf("send from %s to %s at %v: %w", q.Client.Name, q.Server.Name, q.Dial.Addr(), err)
		}
		took = time.Since(begun)
		return nil
	})
	return took, err
}

// datagramSocket moves the calling thread into the namespace and opens a socket of an
// address's family, which stays there.
func (ns *Namespace) datagramSocket(of netip.AddrPort) (int, error) {
	if err := unix.Setns(int(ns.net.Fd()), unix.CLONE_NEWNET); err != nil {
		return -1, fmt.Errorf("enter network namespace %s: %w", ns.Name, err)
	}
	family := unix.AF_INET
	if of.Addr().Is6() {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, fmt.Errorf("open socket in %s: %w", ns.Name, err)
	}
	return fd, nil
}

// listen opens the server's socket and gives its port.
func (q Question) listen() (fd int, port uint16, err error) {
	if fd, err = q.Server.datagramSocket(q.Bind); err != nil {
		return fd, 0, err
	}
	if err := unix.Bind(fd, socketAddress(q.Bind)); err != nil {
		return -1, 0, errors.Join(fmt.Errorf("listen on %v in %s: %w", q.Bind, q.Server.Name, err), unix.Close(fd))
	}
	bound, err := unix.Getsockname(fd)
	switch at := bound.(type) {
	case *unix.SockaddrInet4:
		return fd, uint16(at.Port), nil
	case *unix.SockaddrInet6:
		return fd, uint16(at.Port), nil
	}
	return -1, 0, errors.Join(fmt.Errorf("listen in %s: read port: %w", q.Server.Name, err), unix.Close(fd))
}

func socketAddress(at netip.AddrPort) unix.Sockaddr {
	if at.Addr().Is6() {
		return &unix.SockaddrInet6{Addr: at.Addr().As16(), Port: int(at.Port())}
	}
	return &unix.SockaddrInet4{Addr: at.Addr().As4(), Port: int(at.Port())}
}

// exchange sends from the client and answers at the server until the client has
// an answer. It repeats what a network refuses that is not ready yet.
func exchange(server, client int, to unix.Sockaddr, deadline time.Time) error {
	poll := []unix.PollFd{{Fd: int32(server), Events: unix.POLLIN}, {Fd: int32(client), Events: unix.POLLIN}}
	buf := make([]byte, 64)
	connected := false
	var refused error
	for next := time.Now(); ; {
		now := time.Now()
		if now.After(deadline) {
			return errors.Join(fmt.Errorf("no answer within %v: %w", answerWait, os.ErrDeadlineExceeded), refused)
		}
		if !now.Before(next) {
			if !connected { // it accepts answers from the server only
				refused = unix.Connect(client, to)
				connected = refused == nil
			}
			if connected {
				_, refused = unix.Write(client, []byte("tare"))
			}
			next = now.Add(askStep)
		}
		wait := unix.NsecToTimespec(int64(max(0, time.Until(next))))
		if _, err := unix.Ppoll(poll, &wait, nil); err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("wait for answer: %w", err)
		}
		if n, from, err := unix.Recvfrom(server, buf, 0); err == nil {
			// A lost datagram is sent again.
			if err := unix.Sendto(server, buf[:n], 0, from); err != nil {
				refused = err
			}
		}
		if n, err := unix.Read(client, buf); err == nil && n > 0 {
			return nil
		}
	}
}
