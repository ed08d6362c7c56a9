package traffic

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// MaxPending is how many connections may be unauthenticated at once.
	MaxPending = 256
	// GreetingLimit is how long each of them may take to send its greeting.
	GreetingLimit = time.Second
)

// pendingConn is a connection that has not presented its token yet.
type pendingConn struct {
	fd    int
	got   int
	first []byte // the bytes that it sent first
	since time.Duration
}

// Acceptor accepts the connections that present the token. A connection that
// sends nothing or something else does not delay the others.
type Acceptor struct {
	run             *Run
	listener        int
	exhausted       func(error)   // is called where descriptors or memory lack; may be nil
	lent            *Listener     // nil: the listener is the run's own
	fallback        Fallback      // may be nil
	poll            time.Duration // how long to wait at a time
	token           Token
	pending         []pendingConn
	spare           [][]byte      // buffers of connections that are no longer pending
	waits           []unix.PollFd // the listener, then the pending connections
	want            int           // bytes that a connection must send to be accepted
	Unauthenticated int64
}

// NewAcceptor is for peers whose first want bytes begin with the greeting.
func NewAcceptor(r *Run, l *Listener, token Token, want int) *Acceptor {
	a := &Acceptor{
		run: r, listener: l.fd, exhausted: l.Exhausted, fallback: l.fallback, poll: Tick, token: token, want: want,
		pending: make([]pendingConn, 0, MaxPending),
		spare:   make([][]byte, 0, MaxPending),
		waits:   make([]unix.PollFd, MaxPending+1),
	}
	if l.lender != nil {
		a.lent = l
		for _, c := range l.lender.waiting {
			first := make([]byte, max(want, c.got))
			copy(first, c.first[:c.got])
			a.pending = append(a.pending, pendingConn{fd: c.fd, got: c.got, first: first, since: r.Now()})
		}
		l.lender.waiting = nil
	}
	return a
}

// Admit waits once for a connection that presents the token. It returns the
// socket and its first bytes, which are valid until the next call, or fd -1.
func (a *Acceptor) Admit() (fd int, first []byte, err error) {
	for i := range a.pending {
		a.waits[i+1] = unix.PollFd{Fd: int32(a.pending[i].fd), Events: unix.POLLIN}
	}
	a.waits[0] = unix.PollFd{Fd: int32(a.listener), Events: unix.POLLIN}
	waits := a.waits[:len(a.pending)+1]
	if _, err := unix.Poll(waits, int(a.poll/time.Millisecond)); err != nil && err != unix.EINTR {
		return -1, nil, fmt.Errorf("wait for connections: %w", err)
	}
	now := a.run.Now()
	for i := len(a.pending) - 1; i >= 0; i-- { // backwards: readGreeting may remove i
		if waits[i+1].Revents != 0 {
			if fd, first = a.readGreeting(i); fd >= 0 {
				return fd, first, nil
			}
		} else if now-a.pending[i].since > GreetingLimit {
			a.refuse(i)
		}
	}
	if waits[0].Revents == 0 {
		return -1, nil, nil
	}
	if err := a.accept(now); err != nil {
		return -1, nil, err
	}
	if last := len(a.pending) - 1; last >= 0 { // its bytes may be there already
		fd, first = a.readGreeting(last)
		return fd, first, nil
	}
	return -1, nil, nil
}

// accept adds one connection to the pending ones.
func (a *Acceptor) accept(now time.Duration) error {
	n, _, errno := syscall.Syscall6(unix.SYS_ACCEPT4, uintptr(a.listener), 0, 0, unix.SOCK_CLOEXEC, 0, 0)
	switch {
	case exhausted(errno):
		a.starve(errno)
		return nil
	case errno == unix.EINVAL || errno == unix.EBADF || errno == unix.ENOTSOCK:
		return fmt.Errorf("accept connection: %w", errno)
	case errno != 0:
		return nil // a connection that failed before it was accepted
	}
	if len(a.pending) == MaxPending {
		a.refuse(0)
	}
	first := []byte(nil)
	if n := len(a.spare); n > 0 {
		first, a.spare = a.spare[n-1], a.spare[:n-1]
	} else {
		first = make([]byte, a.want)
	}
	a.pending = append(a.pending, pendingConn{fd: int(n), first: first, since: now})
	return nil
}

// exhausted reports whether descriptors or memory lack, which passes.
func exhausted(errno syscall.Errno) bool {
	return errno == unix.EMFILE || errno == unix.ENFILE || errno == unix.ENOBUFS || errno == unix.ENOMEM
}

// starve makes room where descriptors or memory lack: the connection that has waited for
// longest goes, and the next is accepted a little later.
func (a *Acceptor) starve(errno syscall.Errno) {
	if a.exhausted != nil {
		a.exhausted(errno)
	}
	if len(a.pending) > 0 {
		a.Unauthenticated++
		CloseSocket(a.pending[0].fd)
		a.remove(0)
	}
	Sleep(Tick)
}

// readGreeting reads from pending connection i, without waiting. It returns the
// socket and the bytes once all have come and the token is right.
func (a *Acceptor) readGreeting(i int) (fd int, first []byte) {
	c := &a.pending[i]
	n, errno := Receive(c.fd, c.first[c.got:], unix.MSG_DONTWAIT)
	switch {
	case Waited(errno):
		return -1, nil
	case errno != 0 || n == 0:
		a.refuse(i)
		return -1, nil
	}
	c.got += n
	if known := min(c.got, len(a.token)); string(c.first[:known]) != string(a.token[:known]) {
		a.refuse(i)
		return -1, nil
	}
	if c.got < a.want {
		return -1, nil
	}
	fd, first = c.fd, c.first
	a.remove(i)
	return fd, first
}

// refuse closes pending connection i and counts it, unless the fallback keeps it.
func (a *Acceptor) refuse(i int) {
	c := a.pending[i]
	if a.fallback == nil || c.got == 0 || !a.fallback(c.fd, c.first[:c.got]) {
		a.Unauthenticated++
		CloseSocket(c.fd)
	}
	a.remove(i)
}

func (a *Acceptor) remove(i int) {
	a.spare = append(a.spare, a.pending[i].first)
	a.pending = append(a.pending[:i], a.pending[i+1:]...)
}

// acceptFlows accepts n flows of the run and then welcomes them.
func (a *Acceptor) acceptFlows(n int) ([]int, error) {
	var fds []int
	limit := a.run.Now() + FirstFlow
	for len(fds) < n {
		fd, _, err := a.Admit()
		now := a.run.Now()
		switch {
		case fd >= 0:
			if fds = append(fds, fd); len(fds) == 1 {
				limit = now + Grace
			}
			continue
		case err == nil && now > limit:
			err = ErrSilent
		case err == nil && a.run.Stopped():
			err = a.run.Cause(context.Canceled)
		}
		if err != nil {
			CloseSockets(fds)
			return nil, fmt.Errorf("accept flows: %d of %d presented the run's token, %d unauthenticated peers were refused: %w", len(fds), n, a.Unauthenticated, err)
		}
	}
	if a.lent != nil {
		a.Close()
	}
	for _, fd := range fds {
		if err := SendAll(a.run, fd, []byte{Welcome}); err != nil {
			CloseSockets(fds)
			return nil, fmt.Errorf("welcome flow: %w", err)
		}
	}
	return fds, nil
}

// Close refuses the pending connections and those in the kernel's queue. A
// listener that was lent keeps them for its next acceptor.
func (a *Acceptor) Close() {
	if a.lent != nil {
		if a.listener >= 0 {
			a.lent.lender.waiting, a.pending, a.listener = a.pending, nil, -1
			a.lent.giveBack()
		}
		return
	}
	waits := []unix.PollFd{{Fd: int32(a.listener), Events: unix.POLLIN}}
	for range 4 * MaxFlows {
		if n, err := unix.Poll(waits, 0); err != nil || n == 0 {
			break
		}
		if a.accept(a.run.Now()) != nil {
			break
		}
	}
	for len(a.pending) > 0 {
		a.refuse(len(a.pending) - 1)
	}
}
