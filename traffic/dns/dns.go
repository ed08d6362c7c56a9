// Package dns is the client of dns, queries over UDP.
package dns

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"syscall"
	"unsafe"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"

	"tare/traffic"
)

// Mode is from which sockets a server of DNS is asked.
type Mode string

// The modes.
const (
	Reuse Mode = "reuse" // each flow keeps its socket
	Fresh Mode = "fresh" // a new socket, and so another source port, for each query, as resolvers do
)

// Options are those of queries for the IPv4 address of one name over UDP (RFC 1035), one outstanding
// on each flow: a closed loop. The client owns the window.
type Options struct {
	Window  traffic.Window
	Mode    Mode       // default Reuse
	Flows   int        // default 10, at most 1024
	Name    string     // with the dot at its end
	Address netip.Addr // that the server has for the name; IPv4
}

// Timeout is how long a query may be without a response before it is counted as
// lost and another is sent in its place: as for udp_rr, so that their losses compare.
// Resolvers wait for longer, glibc 5 s (resolv.conf(5)): so long that a window would
// end before most losses are noticed.
const Timeout = traffic.DefaultTimeout

// messageRoom is the longest message over UDP without extensions (RFC 1035, 2.3.4).
const messageRoom = 512

// checked fills the defaults in and refuses what can't be asked.
func (c Options) checked() (Options, error) {
	c.Mode = cmp.Or(c.Mode, Reuse)
	c.Flows = cmp.Or(c.Flows, traffic.DefaultConnections)
	switch {
	case c.Mode != Reuse && c.Mode != Fresh:
		return c, fmt.Errorf("mode %q: want %s or %s", c.Mode, Reuse, Fresh)
	case c.Flows < 1 || c.Flows > traffic.MaxFlows:
		return c, fmt.Errorf("%d flows: want 1 to %d", c.Flows, traffic.MaxFlows)
	case !c.Address.Is4():
		return c, fmt.Errorf("address %v: want an IPv4 address", c.Address)
	}
	return c, c.Window.Check(c.Flows)
}

// question is what each query asks.
func (c Options) question() (dnsmessage.Question, error) {
	name, err := dnsmessage.NewName(c.Name)
	return dnsmessage.Question{Name: name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}, err
}

// query is a query whose ID is to be filled in. It asks for recursion, as the resolvers
// of programs do.
func (c Options) query() ([]byte, error) {
	q, err := c.question()
	if err != nil {
		return nil, fmt.Errorf("name %q: %w", c.Name, err)
	}
	m := dnsmessage.Message{Header: dnsmessage.Header{RecursionDesired: true}, Questions: []dnsmessage.Question{q}}
	packed, err := m.Pack()
	if err != nil {
		return nil, fmt.Errorf("name %q: %w", c.Name, err)
	}
	return packed, nil
}

// Call runs one dns against a server that has the address for the name. A response
// with another ID, question, code or answer is an error.
func Call(ctx context.Context, to netip.AddrPort, c Options) (_ traffic.Transactions, err error) {
	defer traffic.During(fmt.Sprintf("ask DNS at %v", to), &err)
	if c, err = c.checked(); err != nil {
		return traffic.Transactions{}, err
	}
	family, _, err := traffic.SocketAddress(to)
	if err != nil {
		return traffic.Transactions{}, err
	}
	query, err := c.query()
	if err != nil {
		return traffic.Transactions{}, err
	}
	question, err := c.question()
	if err != nil {
		return traffic.Transactions{}, err
	}
	r := traffic.StartRun(ctx)
	defer r.End()
	sockets := &querySockets{family: family, to: traffic.NewRawAddress(to), timeout: unix.NsecToTimeval(int64(traffic.Tick))}
	dialogues := make([]*dialogue, c.Flows)
	loops := make([]traffic.Loop, c.Flows)
	for i := range loops {
		dialogues[i] = &dialogue{
			sockets: sockets, fresh: c.Mode == Fresh, fd: -1, id: uint16(rand.Uint32()),
			query: append([]byte(nil), query...), response: traffic.Buffer(messageRoom), question: question, due: c.Address.As4(),
		}
		loops[i] = traffic.Loop{FD: -1, Dialogue: dialogues[i]}
	}
	defer func() {
		for _, d := range dialogues {
			d.close()
		}
	}()
	return traffic.Call(r, traffic.RequestResponse{Window: c.Window, Timeout: Timeout}, loops)
}

// querySockets opens sockets to one server. Its calls are in the window: none goes by
// way of the runtime's monitor (see traffic.Syscall).
type querySockets struct {
	family  int
	to      traffic.RawAddress
	timeout unix.Timeval // of a receive call
}

// open makes a socket whose source port the kernel chooses.
func (s *querySockets) open() (int, error) {
	fd, errno := traffic.Syscall(unix.SYS_SOCKET, uintptr(s.family), unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0, 0, 0, 0)
	if errno != 0 {
		return -1, fmt.Errorf("open socket: %w", errno)
	}
	_, errno = traffic.Syscall(unix.SYS_SETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_RCVTIMEO, uintptr(unsafe.Pointer(&s.timeout)), unsafe.Sizeof(s.timeout), 0)
	if errno == 0 {
		_, errno = traffic.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&s.to.Bytes)), s.to.Length, 0, 0, 0)
	}
	if errno != 0 {
		traffic.CloseQuickly(fd)
		return -1, fmt.Errorf("connect socket: %w", errno)
	}
	return fd, nil
}

// dialogue is a flow of dns.
type dialogue struct {
	sockets  *querySockets
	fresh    bool
	fd       int // -1: none yet
	id       uint16
	asked    int // queries sent from the socket
	query    []byte
	response []byte
	question dnsmessage.Question
	due      [4]byte
}

// Ask sends a query under the next ID. One that the machine itself drops is lost like
// any other.
func (d *dialogue) Ask(*traffic.Run) (int, error) {
	if d.fresh || d.fd < 0 {
		fd, err := d.sockets.open()
		if err != nil {
			return d.fd, err
		}
		d.close() // after the other is open: so their numbers and their ports differ
		d.fd, d.asked = fd, 0
	}
	d.id++
	d.asked++
	binary.BigEndian.PutUint16(d.query, d.id)
	_, errno := traffic.Send(d.fd, d.query, unix.MSG_DONTWAIT)
	if errno != 0 && !traffic.Waited(errno) && errno != unix.ENOBUFS {
		return d.fd, errno
	}
	return d.fd, nil
}

func (d *dialogue) close() {
	if d.fd >= 0 {
		traffic.CloseQuickly(d.fd)
	}
}

func (d *dialogue) Receive(flags int) (bool, error) {
	return d.received(traffic.Receive(d.fd, d.response, flags))
}

func (d *dialogue) Exchange(c *traffic.ClosedLoop, _ *traffic.Loop) (bool, error) {
	return d.Receive(c.Flags)
}

func (d *dialogue) received(n int, errno syscall.Errno) (bool, error) {
	switch {
	case traffic.Waited(errno):
		return false, traffic.ErrQuiet
	case errno == unix.ECONNREFUSED:
		return false, fmt.Errorf("%w: no server of DNS runs there", errno)
	case errno != 0:
		return false, errno
	}
	return d.answered(d.response[:n])
}
