package traffic

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Listener waits for the TCP flows of one run at a time.
type Listener struct {
	fd      int
	home    *Listener // of one that is lent
	aside   Aside
	back    func()    // of one that is lent: it is needed no more
	waiting []visitor // of one that lends: who had said too little when a door was shut
}

// Aside is offered a connection that lacks the run's token, with what it sent
// so far, before it is refused. It gives true if it keeps the socket. The bytes
// are valid during the call only.
type Aside func(fd int, first []byte) bool

// ListenTCP listens on addr; port 0 lets the kernel choose. Bind to an address
// of the path under test: it is open to anybody who can reach it, and only the
// token keeps strangers out.
func ListenTCP(addr netip.AddrPort) (*Listener, error) {
	fd, err := openBound(addr, unix.SOCK_STREAM)
	if err != nil {
		return nil, err
	}
	// Accepted sockets inherit this, as they do the timeouts.
	err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if err == nil {
		err = unix.Listen(fd, maxFlows)
	}
	if err != nil {
		closeSocket(fd)
		return nil, fmt.Errorf("listen on %v: %w", addr, err)
	}
	return &Listener{fd: fd}, nil
}

// Addr is the address with the port that the kernel chose.
func (l *Listener) Addr() netip.AddrPort { return localAddress(l.fd) }

// Close frees the port, if it is not lent. No Serve call may be under way.
func (l *Listener) Close() error {
	if l.home != nil {
		return nil
	}
	for _, v := range l.waiting {
		closeSocket(v.fd)
	}
	return unix.Close(l.fd)
}

// Lend is the listener for one run, which offers aside who lacks its token, and
// calls back when it needs it no more: once its flows are there. One run has it
// at a time.
func (l *Listener) Lend(aside Aside, back func()) *Listener {
	return &Listener{fd: l.fd, home: l, aside: aside, back: back}
}

// longDoze is how long a listener without a run waits at a time.
const longDoze = 50 * time.Millisecond

// Back gives a listener that was lent back, if its run has not done so.
func (l *Listener) Back() { l.back() }

// Receive offers aside every connection until the context ends.
func (l *Listener) Receive(ctx context.Context, aside Aside) error {
	r := startRun(ctx)
	defer r.end()
	var nobody Token
	if _, err := rand.Read(nobody[:]); err != nil {
		return fmt.Errorf("draw token: %w", err)
	}
	d := openDoor(r, l.Lend(aside, func() {}), nobody, greetingLen)
	d.doze = longDoze
	for !r.stopped.Load() {
		if _, _, err := d.admit(); err != nil {
			return err
		}
	}
	d.shut()
	return nil
}

// A connection starts with a greeting: the token and one verb. The server
// answers a flow's greeting with the welcome, once all flows are there.
const (
	verbFlow    = 'f' // a flow of the run; tcp_crr: one request
	verbEnd     = 'e' // the run is over
	welcome     = 'w'
	greetingLen = len(Token{}) + 1
)

func greeting(token Token, verb byte) []byte {
	return append(token[:len(token):len(token)], verb)
}

const (
	// maxVisitors is how many connections may be without their token at once.
	maxVisitors = 256
	// patience is how long one of them may keep the server waiting.
	patience = time.Second
)

// visitor is a connection that has not shown its token yet.
type visitor struct {
	fd    int
	got   int
	first []byte // what it sends first
	since time.Duration
}

// door lets in the connections that present the token. A connection that says
// nothing or the wrong thing keeps none of the others waiting.
type door struct {
	run       *run
	listener  int
	lent      *Listener     // nil: the listener is the run's own
	aside     Aside         // may be nil
	doze      time.Duration // how long to wait at a time
	token     Token
	visitors  []visitor
	spare     [][]byte      // buffers of visitors that went
	waits     []unix.PollFd // the listener, then the visitors
	want      int           // bytes that a visitor must send to be let in
	strangers int64
}

// openDoor makes a door for peers whose first want bytes begin with the
// greeting.
func openDoor(r *run, l *Listener, token Token, want int) *door {
	d := &door{
		run: r, listener: l.fd, aside: l.aside, doze: tick, token: token, want: want,
		visitors: make([]visitor, 0, maxVisitors),
		spare:    make([][]byte, 0, maxVisitors),
		waits:    make([]unix.PollFd, maxVisitors+1),
	}
	if l.home != nil {
		d.lent = l
		for _, v := range l.home.waiting {
			first := make([]byte, max(want, v.got))
			copy(first, v.first[:v.got])
			d.visitors = append(d.visitors, visitor{fd: v.fd, got: v.got, first: first, since: r.now()})
		}
		l.home.waiting = nil
	}
	return d
}

// admit waits a while for a connection to present itself. It gives its
// socket and its first bytes, which are valid until the next call, or fd -1.
func (d *door) admit() (fd int, first []byte, err error) {
	for i := range d.visitors {
		d.waits[i+1] = unix.PollFd{Fd: int32(d.visitors[i].fd), Events: unix.POLLIN}
	}
	d.waits[0] = unix.PollFd{Fd: int32(d.listener), Events: unix.POLLIN}
	waits := d.waits[:len(d.visitors)+1]
	if _, err := unix.Poll(waits, int(d.doze/time.Millisecond)); err != nil && err != unix.EINTR {
		return -1, nil, fmt.Errorf("wait for connections: %w", err)
	}
	now := d.run.now()
	for i := len(d.visitors) - 1; i >= 0; i-- { // backwards: hear may remove i
		if waits[i+1].Revents != 0 {
			if fd, first = d.hear(i); fd >= 0 {
				return fd, first, nil
			}
		} else if now-d.visitors[i].since > patience {
			d.refuse(i)
		}
	}
	if waits[0].Revents == 0 {
		return -1, nil, nil
	}
	if err := d.accept(now); err != nil {
		return -1, nil, err
	}
	if last := len(d.visitors) - 1; last >= 0 { // its bytes may be there already
		fd, first = d.hear(last)
		return fd, first, nil
	}
	return -1, nil, nil
}

// accept takes one connection as a visitor.
func (d *door) accept(now time.Duration) error {
	n, _, errno := syscall.Syscall6(unix.SYS_ACCEPT4, uintptr(d.listener), 0, 0, unix.SOCK_CLOEXEC, 0, 0)
	switch {
	case errno == unix.EMFILE || errno == unix.ENFILE || errno == unix.ENOBUFS || errno == unix.ENOMEM ||
		errno == unix.EINVAL || errno == unix.EBADF || errno == unix.ENOTSOCK:
		return fmt.Errorf("accept connection: %w", errno)
	case errno != 0:
		return nil // a connection that failed before it was accepted
	}
	if len(d.visitors) == maxVisitors {
		d.refuse(0)
	}
	first := []byte(nil)
	if n := len(d.spare); n > 0 {
		first, d.spare = d.spare[n-1], d.spare[:n-1]
	} else {
		first = make([]byte, d.want)
	}
	d.visitors = append(d.visitors, visitor{fd: int(n), first: first, since: now})
	return nil
}

// hear reads what visitor i says, without waiting. It gives the visitor's
// socket and bytes once all are there and the token is right.
func (d *door) hear(i int) (fd int, first []byte) {
	v := &d.visitors[i]
	n, errno := recv(v.fd, v.first[v.got:], unix.MSG_DONTWAIT)
	switch {
	case again(errno):
		return -1, nil
	case errno != 0 || n == 0:
		d.refuse(i)
		return -1, nil
	}
	v.got += n
	if known := min(v.got, len(d.token)); string(v.first[:known]) != string(d.token[:known]) {
		d.refuse(i)
		return -1, nil
	}
	if v.got < d.want {
		return -1, nil
	}
	fd, first = v.fd, v.first
	d.remove(i)
	return fd, first
}

// refuse closes visitor i and counts it, unless it is kept aside.
func (d *door) refuse(i int) {
	v := d.visitors[i]
	if d.aside == nil || v.got == 0 || !d.aside(v.fd, v.first[:v.got]) {
		d.strangers++
		closeSocket(v.fd)
	}
	d.remove(i)
}

func (d *door) remove(i int) {
	d.spare = append(d.spare, d.visitors[i].first)
	d.visitors = append(d.visitors[:i], d.visitors[i+1:]...)
}

// admitFlows waits until n flows of the run are there and welcomes them. It
// waits for the first one as long as the context allows.
func (d *door) admitFlows(n int) ([]int, error) {
	var fds []int
	limit := time.Duration(unset)
	for len(fds) < n {
		fd, _, err := d.admit()
		now := d.run.now()
		switch {
		case fd >= 0:
			if fds = append(fds, fd); len(fds) == 1 {
				limit = now + grace
			}
			continue
		case err == nil && now > limit:
			err = errSilent
		case err == nil && d.run.stopped.Load():
			err = d.run.cause(context.Canceled)
		}
		if err != nil {
			closeSockets(fds)
			return nil, fmt.Errorf("accept flows: %d of %d came with the run's token, %d strangers were refused: %w", len(fds), n, d.strangers, err)
		}
	}
	if d.lent != nil {
		d.shut()
	}
	for _, fd := range fds {
		if err := sendAll(d.run, fd, []byte{welcome}); err != nil {
			closeSockets(fds)
			return nil, fmt.Errorf("welcome flow: %w", err)
		}
	}
	return fds, nil
}

// shut refuses who still waits, in the door or in the kernel's queue. At a
// listener that was lent they are left to the next door.
func (d *door) shut() {
	if d.lent != nil {
		if d.listener >= 0 {
			d.lent.home.waiting, d.visitors, d.listener = d.visitors, nil, -1
			d.lent.back()
		}
		return
	}
	waits := []unix.PollFd{{Fd: int32(d.listener), Events: unix.POLLIN}}
	for range 4 * maxFlows {
		if n, err := unix.Poll(waits, 0); err != nil || n == 0 {
			break
		}
		if d.accept(d.run.now()) != nil {
			break
		}
	}
	for len(d.visitors) > 0 {
		d.refuse(len(d.visitors) - 1)
	}
}

// dialFlows opens n flows and waits until the server has welcomed all.
func dialFlows(r *run, to netip.AddrPort, token Token, n int) ([]int, error) {
	var fds []int
	fail := func(err error) ([]int, error) {
		closeSockets(fds)
		return nil, err
	}
	for range n {
		fd, err := dialFlow(r, to, token)
		if err != nil {
			return fail(err)
		}
		fds = append(fds, fd)
	}
	limit := r.now() + grace
	for i, fd := range fds {
		if err := awaitWelcome(r, fd, limit); err != nil {
			return fail(fmt.Errorf("wait for the server at %v to welcome flow %d of %d: %w; see what stands there and whether its token is the same", to, i+1, n, err))
		}
	}
	return fds, nil
}

func dialFlow(r *run, to netip.AddrPort, token Token) (int, error) {
	family, sa, err := socketAddress(to)
	if err != nil {
		return -1, err
	}
	fd, err := openSocket(family, unix.SOCK_STREAM)
	if err != nil {
		return -1, err
	}
	err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if err == nil {
		err = connect(r, fd, sa)
	}
	if err == nil {
		err = sendAll(r, fd, greeting(token, verbFlow))
	}
	if err != nil {
		closeSocket(fd)
		return -1, fmt.Errorf("connect to %v: %w", to, err)
	}
	return fd, nil
}

func awaitWelcome(r *run, fd int, limit time.Duration) error {
	var answer [1]byte
	for {
		n, errno := recv(fd, answer[:], 0)
		switch {
		case errno == 0 && n == 0:
			return errPeerClosed
		case errno == 0 && answer[0] != welcome:
			return fmt.Errorf("it answered with byte %#x", answer[0])
		case errno == 0:
			return nil
		case !again(errno):
			return errno
		case r.stopped.Load():
			return r.cause(errSilent)
		case r.now() > limit:
			return errSilent
		}
	}
}
