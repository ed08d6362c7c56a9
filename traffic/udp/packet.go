// Package udp is the loops of udp_stream, udp_pps, udp_load and udp_rr.
package udp

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// Listener waits for the datagrams of one run at a time.
type Listener struct {
	fd   int
	rest []int // of a group: the other sockets on the same port
}

// receiveBuffer is asked for on each socket: enough for the time that a
// receiver may wait for its CPU at a million small datagrams a second.
const receiveBuffer = 4 << 20

// Listen listens on addr; port 0 lets the kernel choose. Give the address
// that the peer sends to: a host of several addresses answers from another
// one if addr is the wildcard.
func Listen(addr netip.AddrPort) (*Listener, error) { return ListenGroup(addr, 1) }

// ListenGroup listens on addr with several sockets, one for each receiving
// thread of a udp_pps. The kernel hands flow n to socket n modulo their number,
// whatever addresses a NAT made of it (SO_ATTACH_REUSEPORT_CBPF, Linux 4.5).
func ListenGroup(addr netip.AddrPort, sockets int) (*Listener, error) {
	l := &Listener{}
	for i := range sockets {
		fd, err := listenPackets(addr, sockets > 1)
		if err != nil {
			traffic.CloseSockets(l.sockets()[:i])
			return nil, err
		}
		if i > 0 {
			l.rest = append(l.rest, fd)
			continue
		}
		l.fd, addr = fd, traffic.LocalAddress(fd)
	}
	if sockets > 1 {
		if err := steerLanes(l.fd, sockets); err != nil {
			traffic.CloseSockets(l.sockets())
			return nil, err
		}
	}
	return l, nil
}

// listenPackets makes one socket that listens on addr.
func listenPackets(addr netip.AddrPort, shared bool) (int, error) {
	fd, err := openDatagram(addr, shared)
	if err != nil {
		return -1, err
	}
	// Force needs CAP_NET_ADMIN in the namespace; without it net.core.rmem_max
	// is the most, and the outcome holds the size that the kernel granted.
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer) != nil {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer); err != nil {
			traffic.CloseSocket(fd)
			return -1, fmt.Errorf("set receive buffer: %w", err)
		}
	}
	return fd, nil
}

// openDatagram makes a socket bound to addr, which others of this user may
// share if it asks for that.
func openDatagram(addr netip.AddrPort, shared bool) (int, error) {
	if !shared {
		return traffic.OpenBound(addr, unix.SOCK_DGRAM)
	}
	family, sa, err := traffic.SocketAddress(addr)
	if err != nil {
		return -1, err
	}
	fd, err := traffic.OpenSocket(family, unix.SOCK_DGRAM)
	if err != nil {
		return -1, err
	}
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	if err == nil {
		err = unix.Bind(fd, sa)
	}
	if err != nil {
		traffic.CloseSocket(fd)
		return -1, fmt.Errorf("bind %v: %w", addr, err)
	}
	return fd, nil
}

// steerLanes makes a group's sockets share the lanes. The program sees the
// payload; what is too short for its load is given to the first socket.
func steerLanes(fd, sockets int) error {
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: traffic.LaneByte},
		{Code: unix.BPF_ALU | unix.BPF_MOD | unix.BPF_K, K: uint32(sockets)},
		{Code: unix.BPF_RET | unix.BPF_A},
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_CBPF, &filter); err != nil {
		return fmt.Errorf("share flows among %d sockets: %w", sockets, err)
	}
	return nil
}

// sockets are all of the listener's.
func (l *Listener) sockets() []int { return append([]int{l.fd}, l.rest...) }

// Addr is the address with the port that the kernel chose.
func (l *Listener) Addr() netip.AddrPort { return traffic.LocalAddress(l.fd) }

// Close frees the port. No Serve call may be under way.
func (l *Listener) Close() error {
	traffic.CloseSockets(l.rest)
	return unix.Close(l.fd)
}

// address is a peer's socket address as the kernel gave it.
type address struct {
	raw    unix.RawSockaddrAny
	length uint32
}

// recvFrom reads one datagram and its source.
func recvFrom(fd int, p []byte, flags int, from *address) (int, syscall.Errno) {
	from.length = uint32(unsafe.Sizeof(from.raw))
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)),
		uintptr(flags), uintptr(unsafe.Pointer(&from.raw)), uintptr(unsafe.Pointer(&from.length)))
	return traffic.Result(n, errno)
}

// sendTo sends one datagram to where another came from.
func sendTo(fd int, p []byte, to *address) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)),
		unix.MSG_NOSIGNAL, uintptr(unsafe.Pointer(&to.raw)), uintptr(to.length))
	return errno
}

// dialPackets makes a socket connected to the server, and waits until the
// server reports that it is there. The path has then resolved its neighbours.
func dialPackets(r *traffic.Run, to netip.AddrPort, token *traffic.Token) (int, error) {
	return dialLane(r, to, token, 0)
}

// dialLane is dialPackets for one flow of several.
func dialLane(r *traffic.Run, to netip.AddrPort, token *traffic.Token, lane uint16) (int, error) {
	family, sa, err := traffic.SocketAddress(to)
	if err != nil {
		return -1, err
	}
	fd, err := traffic.OpenSocket(family, unix.SOCK_DGRAM)
	if err != nil {
		return -1, err
	}
	err = reportDrops(fd, family)
	if err == nil {
		err = unix.Connect(fd, sa)
	}
	if err == nil {
		err = hello(r, fd, token, lane)
	}
	if err != nil {
		traffic.CloseSocket(fd)
		return -1, fmt.Errorf("reach the server at %v: %w; see whether it runs with the same token and whether UDP passes both ways", to, err)
	}
	return fd, nil
}

// letCut has the datagrams of a socket travel in fragments where they are too large. Over IPv4 these
// are as large as the device takes, whatever the kernel has learned of the path, as those of DNS
// servers are (IP_PMTUDISC_OMIT): a router may cut them again.
func letCut(fd int) error {
	family, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return err
	}
	if family == unix.AF_INET6 {
		return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_DONT)
	}
	return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_OMIT)
}

// reportDrops makes the kernel report a datagram that the machine's own
// queue dropped, which without it looks sent (net/ipv4/udp.c, udp_send_skb).
func reportDrops(fd, family int) error {
	level, option := unix.IPPROTO_IP, unix.IP_RECVERR
	if family == unix.AF_INET6 {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_RECVERR
	}
	return unix.SetsockoptInt(fd, level, option, 1)
}

// refusedFor is how long a server may refuse what it is asked before it counts as not there, and
// not as one that is about to listen.
const refusedFor = 600 * time.Millisecond

// hello asks once a tick until the server answers.
func hello(r *traffic.Run, fd int, token *traffic.Token, lane uint16) error {
	var in, out [traffic.HeaderBytes]byte
	traffic.Header{Kind: traffic.KindHello, Lane: lane}.Put(out[:], token)
	var last error = traffic.ErrSilent
	begun := r.Now()
	for limit := begun + traffic.Grace; r.Now() < limit; {
		switch {
		case r.Stopped():
			return r.Cause(context.Canceled)
		case last == unix.ECONNREFUSED && r.Now()-begun > refusedFor:
			return last
		}
		if _, errno := traffic.Send(fd, out[:], 0); errno != 0 && !traffic.Waited(errno) {
			last = errno // a refusal may be of a server that is about to listen
			traffic.Sleep(traffic.Tick)
			continue
		}
		got, errno := recvKind(fd, in[:], token, 0)
		switch {
		case errno == 0 && got == traffic.KindWelcome:
			return nil
		case errno != 0 && !traffic.Waited(errno):
			last = errno
			traffic.Sleep(traffic.Tick)
		}
	}
	return last
}

// recvKind receives one datagram into the memory given, of HeaderBytes, and
// gives its kind, or zero for that of an unknown sender.
func recvKind(fd int, in []byte, token *traffic.Token, flags int) (traffic.Kind, syscall.Errno) {
	n, errno := traffic.Receive(fd, in, flags)
	if errno != 0 {
		return 0, errno
	}
	h, ok := traffic.ParseHeader(in[:n], token)
	if !ok {
		return 0, 0
	}
	return h.Kind, 0
}

// answerHello waits for the first hello, and answers it.
func answerHello(r *traffic.Run, fd int, token *traffic.Token, from *address) (unauthenticated int64, err error) {
	_, unauthenticated, err = awaitHello(r, fd, token, from, r.Now()+traffic.FirstFlow)
	return unauthenticated, err
}

// awaitHello waits for a hello until the limit on the run's clock, answers it
// and gives its lane.
func awaitHello(r *traffic.Run, fd int, token *traffic.Token, from *address, limit time.Duration) (lane uint16, unauthenticated int64, err error) {
	var in [traffic.HeaderBytes]byte
	for !r.Stopped() && r.Now() < limit {
		n, errno := recvFrom(fd, in[:], 0, from)
		if errno != 0 && !traffic.Waited(errno) {
			return 0, unauthenticated, fmt.Errorf("wait for the sender: %w", errno)
		}
		if errno != 0 {
			continue
		}
		if h, ok := traffic.ParseHeader(in[:n], token); !ok {
			unauthenticated++
		} else if h.Kind == traffic.KindHello {
			return h.Lane, unauthenticated, sendKind(fd, traffic.KindWelcome, token, from)
		}
	}
	err = r.Cause(traffic.ErrSilent)
	return 0, unauthenticated, fmt.Errorf("wait for the sender: none presented the run's token, %d unauthenticated peers were refused: %w", unauthenticated, err)
}

// sendKind sends a header alone.
func sendKind(fd int, k traffic.Kind, token *traffic.Token, to *address) error {
	var out [traffic.HeaderBytes]byte
	traffic.Header{Kind: k}.Put(out[:], token)
	if errno := sendTo(fd, out[:], to); errno != 0 && !traffic.Waited(errno) && errno != unix.ENOBUFS {
		return fmt.Errorf("answer the sender: %w", errno)
	}
	return nil
}

// endWait is how long a client asks its server to end the run: less than a server waits for it
// (traffic.DrainLimit).
const endWait = time.Second

// endConfirmed reports to the server that the run is over, once a tick until it confirms that:
// a path may lose several datagrams in a row. A refusal means that the server has ended.
func endConfirmed(r *traffic.Run, fd int, token *traffic.Token) error {
	var in, out [traffic.HeaderBytes]byte
	traffic.Header{Kind: traffic.KindEnd}.Put(out[:], token)
	for limit := r.Now() + endWait; r.Now() < limit && !r.Stopped(); {
		_, errno := traffic.Send(fd, out[:], 0)
		if errno != 0 && !traffic.Waited(errno) && errno != unix.ENOBUFS && errno != unix.ECONNREFUSED {
			return fmt.Errorf("end the run: %w", errno)
		}
		for n := 0; errno == 0; {
			if n, errno = traffic.Receive(fd, in[:], 0); errno != 0 {
				break
			}
			if h, ok := traffic.ParseHeader(in[:n], token); ok && h.Kind == traffic.KindEnd {
				return nil
			}
		}
		if errno == unix.ECONNREFUSED {
			return nil
		}
	}
	return nil
}

// endLane reports to the server a few times that a flow is over. A refusal means that the
// server knows.
func endLane(fd int, lane uint16, token *traffic.Token) error {
	var out [traffic.HeaderBytes]byte
	traffic.Header{Kind: traffic.KindEnd, Lane: lane}.Put(out[:], token)
	for range 3 {
		if _, errno := traffic.Send(fd, out[:], 0); errno != 0 && !traffic.Waited(errno) && errno != unix.ENOBUFS {
			if errors.Is(errno, unix.ECONNREFUSED) {
				return nil
			}
			return fmt.Errorf("end the run: %w", errno)
		}
	}
	return nil
}

// socketDrops is how many datagrams the socket has dropped since it was made,
// for want of buffer (SO_MEMINFO, Linux 4.12, include/uapi/linux/sock_diag.h).
func socketDrops(fd int) (uint32, error) {
	var info [9]uint32
	const drops = 8 // SK_MEMINFO_DROPS
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := syscall.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return 0, fmt.Errorf("read SO_MEMINFO: %w", errno)
	}
	return info[drops], nil
}
