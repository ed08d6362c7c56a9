package traffic

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
)

// DNSMode is from which sockets a server of DNS is asked.
type DNSMode string

// The modes.
const (
	DNSReuse DNSMode = "reuse" // each flow keeps its socket
	DNSFresh DNSMode = "fresh" // a new socket, and so another source port, for each query, as resolvers do
)

// DNS is queries for the IPv4 address of one name over UDP (RFC 1035), one outstanding
// on each flow: a closed loop. The client owns the window.
type DNS struct {
	Window  Window
	Mode    DNSMode    // default DNSReuse
	Flows   int        // default 10, at most 1024
	Name    string     // with the dot at its end
	Address netip.Addr // that the server has for the name; IPv4
}

// DNSTimeout is how long a query may be without a response before it is counted as
// lost and another is sent in its place: as for udp_rr, so that their losses compare.
// Resolvers wait for longer, glibc 5 s (resolv.conf(5)): so long that a window would
// end before most losses are noticed.
const DNSTimeout = defaultTimeout

// dnsRoom is the longest message over UDP without extensions (RFC 1035, 2.3.4).
const dnsRoom = 512

// checked fills the defaults in and refuses what can't be asked.
func (c DNS) checked() (DNS, error) {
	c.Mode = cmp.Or(c.Mode, DNSReuse)
	c.Flows = cmp.Or(c.Flows, defaultConnections)
	switch {
	case c.Mode != DNSReuse && c.Mode != DNSFresh:
		return c, fmt.Errorf("mode %q: want %s or %s", c.Mode, DNSReuse, DNSFresh)
	case c.Flows < 1 || c.Flows > maxFlows:
		return c, fmt.Errorf("%d flows: want 1 to %d", c.Flows, maxFlows)
	case !c.Address.Is4():
		return c, fmt.Errorf("address %v: want an IPv4 address", c.Address)
	}
	return c, c.Window.check(c.Flows)
}

// question is what each query asks.
func (c DNS) question() (dnsmessage.Question, error) {
	name, err := dnsmessage.NewName(c.Name)
	return dnsmessage.Question{Name: name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}, err
}

// query is a query whose ID is to be filled in. It asks for recursion, as the resolvers
// of programs do.
func (c DNS) query() ([]byte, error) {
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

// CallDNS runs one dns against a server that has the address for the name. A response
// with another ID, question, code or answer is an error.
func CallDNS(ctx context.Context, to netip.AddrPort, c DNS) (_ Transactions, err error) {
	defer during(fmt.Sprintf("ask DNS at %v", to), &err)
	if c, err = c.checked(); err != nil {
		return Transactions{}, err
	}
	family, _, err := socketAddress(to)
	if err != nil {
		return Transactions{}, err
	}
	query, err := c.query()
	if err != nil {
		return Transactions{}, err
	}
	question, err := c.question()
	if err != nil {
		return Transactions{}, err
	}
	r := startRun(ctx)
	defer r.end()
	sockets := &querySockets{family: family, to: newRawAddress(to), timeout: unix.NsecToTimeval(int64(tick))}
	dialogues := make([]*dnsDialogue, c.Flows)
	loops := make([]loop, c.Flows)
	for i := range loops {
		dialogues[i] = &dnsDialogue{
			sockets: sockets, fresh: c.Mode == DNSFresh, fd: -1, id: uint16(rand.Uint32()),
			query: append([]byte(nil), query...), response: prefaulted(dnsRoom), question: question, due: c.Address.As4(),
		}
		loops[i] = loop{fd: -1, dialogue: dialogues[i]}
	}
	defer func() {
		for _, d := range dialogues {
			d.close()
		}
	}()
	return call(r, RequestResponse{Window: c.Window, Timeout: DNSTimeout}, loops)
}

// querySockets opens sockets to one server. Its calls are in the window: none goes by
// way of the runtime's monitor (see blocking).
type querySockets struct {
	family  int
	to      rawAddress
	timeout unix.Timeval // of a receive call
}

// open makes a socket whose source port the kernel chooses.
func (s *querySockets) open() (int, error) {
	fd, errno := blocking(unix.SYS_SOCKET, uintptr(s.family), unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0, 0, 0, 0)
	if errno != 0 {
		return -1, fmt.Errorf("open socket: %w", errno)
	}
	_, errno = blocking(unix.SYS_SETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_RCVTIMEO, uintptr(unsafe.Pointer(&s.timeout)), unsafe.Sizeof(s.timeout), 0)
	if errno == 0 {
		_, errno = blocking(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&s.to.bytes)), s.to.length, 0, 0, 0)
	}
	if errno != 0 {
		closeQuickly(fd)
		return -1, fmt.Errorf("connect socket: %w", errno)
	}
	return fd, nil
}

// dnsDialogue is a flow of dns.
type dnsDialogue struct {
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

// ask sends a query under the next ID. One that the machine itself drops is lost like
// any other.
func (d *dnsDialogue) ask(*run) (int, error) {
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
	_, errno := send(d.fd, d.query, unix.MSG_DONTWAIT)
	if errno != 0 && !again(errno) && errno != unix.ENOBUFS {
		return d.fd, errno
	}
	return d.fd, nil
}

func (d *dnsDialogue) close() {
	if d.fd >= 0 {
		closeQuickly(d.fd)
	}
}

func (d *dnsDialogue) receive(flags int) (bool, error) {
	return d.received(recv(d.fd, d.response, flags))
}

func (d *dnsDialogue) exchange(c *closedLoop, _ *loop) (bool, error) { return d.receive(c.flags) }

func (d *dnsDialogue) received(n int, errno syscall.Errno) (bool, error) {
	switch {
	case again(errno):
		return false, errQuiet
	case errno == unix.ECONNREFUSED:
		return false, fmt.Errorf("%w: no server of DNS runs there", errno)
	case errno != 0:
		return false, errno
	}
	return d.answered(d.response[:n])
}
