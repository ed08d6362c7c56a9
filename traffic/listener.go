package traffic

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// Listener accepts the TCP flows of one run at a time.
type Listener struct {
	// Exhausted is called where descriptors or memory lack, and the listener waits; nil:
	// nothing is.
	Exhausted func(error)

	fd       int
	lender   *Listener // of one that is lent
	fallback Fallback
	giveBack func()        // of one that is lent: the run needs it no more
	waiting  []pendingConn // of one that lends: connections whose greeting was incomplete when an acceptor closed
}

// Fallback is offered a connection that does not present the run's token, with
// the bytes that it sent so far, before the connection is refused. It returns
// true if it keeps the socket. The bytes are valid during the call only.
type Fallback func(fd int, first []byte) bool

// ListenTCP listens on addr; port 0 lets the kernel choose. Bind to an address
// of the path under test: every peer that can reach the port can connect, and
// only the token keeps unauthenticated peers out.
func ListenTCP(addr netip.AddrPort) (*Listener, error) {
	fd, err := OpenBound(addr, unix.SOCK_STREAM)
	if err != nil {
		return nil, err
	}
	// Accepted sockets inherit this, as they do the timeouts.
	err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if err == nil {
		err = unix.Listen(fd, MaxFlows)
	}
	if err != nil {
		CloseSocket(fd)
		return nil, fmt.Errorf("listen on %v: %w", addr, err)
	}
	return &Listener{fd: fd}, nil
}

// Addr is the address with the port that the kernel chose.
func (l *Listener) Addr() netip.AddrPort { return LocalAddress(l.fd) }

// Descriptor is the listening socket.
func (l *Listener) Descriptor() int { return l.fd }

// Fallback is what is offered the connections without the run's token, where the listener is lent; may be nil.
func (l *Listener) Fallback() Fallback { return l.fallback }

// Close frees the port, if it is not lent. No Serve call may be under way.
func (l *Listener) Close() error {
	if l.lender != nil {
		return nil
	}
	for _, c := range l.waiting {
		CloseSocket(c.fd)
	}
	return unix.Close(l.fd)
}

// Lend gives the listener to one run. The run offers to fallback the
// connections without its token, and calls giveBack when all its flows are
// accepted. One run has the listener at a time.
func (l *Listener) Lend(fallback Fallback, giveBack func()) *Listener {
	return &Listener{Exhausted: l.Exhausted, fd: l.fd, lender: l, fallback: fallback, giveBack: giveBack}
}

// Return gives a listener that was lent back, if its run has not done so.
func (l *Listener) Return() { l.giveBack() }

// idlePoll is how long a listener without a run waits at a time.
const idlePoll = 50 * time.Millisecond

// Receive offers every connection to fallback until the context ends.
func (l *Listener) Receive(ctx context.Context, fallback Fallback) error {
	r := StartRun(ctx)
	defer r.End()
	var unknown Token // that no peer has
	if _, err := rand.Read(unknown[:]); err != nil {
		return fmt.Errorf("draw token: %w", err)
	}
	a := NewAcceptor(r, l.Lend(fallback, func() {}), unknown, GreetingLen)
	a.poll = idlePoll
	for !r.Stopped() {
		if _, _, err := a.Admit(); err != nil {
			return err
		}
	}
	a.Close()
	return nil
}
