package traffic

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxPending is how many connections may be unauthenticated at once.
	maxPending = 256
	// greetingLimit is how long each of them may take to send its greeting.
	greetingLimit = time.Second
)

// pendingConn is a connection that has not presented its token yet.
type pendingConn struct {
	fd    int
	got   int
	first []byte // the bytes that it sent first
	since time.Duration
}

// acceptor accepts the connections that present the token. A connection that
// sends nothing or something else does not delay the others.
type acceptor struct {
	run             *run
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
	unauthenticated int64
}

// newAcceptor is for peers whose first want bytes begin with the greeting.
func newAcceptor(r *run, l *Listener, token Token, want int) *acceptor {
	a := &acceptor{
		run: r, listener: l.fd, exhausted: l.Exhausted, fallback: l.fallback, poll: tick, token: token, want: want,
		pending: make([]pendingConn, 0, maxPending),
		spare:   make([][]byte, 0, maxPending),
		waits:   make([]unix.PollFd, maxPending+1),
	}
	if l.lender != nil {
		a.lent = l
		for _, c := range l.lender.waiting {
			first := make([]byte, max(want, c.got))
			copy(first, c.first[:c.got])
			a.pending = append(a.pending, pendingConn{fd: c.fd, got: c.got, first: first, since: r.now()})
		}
		l.lender.waiting = nil
	}
	return a
}

// admit waits once for a connection that presents the token. It returns the
// socket and its first bytes, which are valid until the next call, or fd -1.
func (a *acceptor) admit() (fd int, first []byte, err error) {
	for i := range a.pending {
		a.waits[i+1] = unix.PollFd{Fd: int32(a.pending[i].fd), Events: unix.POLLIN}
	}
	a.waits[0] = unix.PollFd{Fd: int32(a.listener), Events: unix.POLLIN}
	waits := a.waits[:len(a.pending)+1]
	if _, err := unix.Poll(waits, int(a.poll/time.Millisecond)); err != nil && err != unix.EINTR {
		return -1, nil, fmt.Errorf("wait for connections: %w", err)
	}
	now := a.run.now()
	for i := len(a.pending) - 1; i >= 0; i-- { // backwards: readGreeting may remove i
		if waits[i+1].Revents != 0 {
			if fd, first = a.readGreeting(i); fd >= 0 {
				return fd, first, nil
			}
		} else if now-a.pending[i].since > greetingLimit {
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
func (a *acceptor) accept(now time.Duration) error {
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
	if len(a.pending) == maxPending {
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
func (a *acceptor) starve(errno syscall.Errno) {
	if a.exhausted != nil {
		a.exhausted(errno)
	}
	if len(a.pending) > 0 {
		a.unauthenticated++
		closeSocket(a.pending[0].fd)
		a.remove(0)
	}
	sleep(tick)
}

// readGreeting reads from pending connection i, without waiting. It returns the
// socket and the bytes once all have come and the token is right.
func (a *acceptor) readGreeting(i int) (fd int, first []byte) {
	c := &a.pending[i]
	n, errno := recv(c.fd, c.first[c.got:], unix.MSG_DONTWAIT)
	switch {
	case again(errno):
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
func (a *acceptor) refuse(i int) {
	c := a.pending[i]
	if a.fallback == nil || c.got == 0 || !a.fallback(c.fd, c.first[:c.got]) {
		a.unauthenticated++
		closeSocket(c.fd)
	}
	a.remove(i)
}

func (a *acceptor) remove(i int) {
	a.spare = append(a.spare, a.pending[i].first)
	a.pending = append(a.pending[:i], a.pending[i+1:]...)
}

// acceptFlows accepts n flows of the run and then welcomes them.
func (a *acceptor) acceptFlows(n int) ([]int, error) {
	var fds []int
	limit := a.run.now() + firstFlow
	for len(fds) < n {
		fd, _, err := a.admit()
		now := a.run.now()
		switch {
		case fd >= 0:
			if fds = append(fds, fd); len(fds) == 1 {
				limit = now + grace
			}
			continue
		case err == nil && now > limit:
			err = errSilent
		case err == nil && a.run.stopped.Load():
			err = a.run.cause(context.Canceled)
		}
		if err != nil {
			closeSockets(fds)
			return nil, fmt.Errorf("accept flows: %d of %d presented the run's token, %d unauthenticated peers were refused: %w", len(fds), n, a.unauthenticated, err)
		}
	}
	if a.lent != nil {
		a.close()
	}
	for _, fd := range fds {
		if err := sendAll(a.run, fd, []byte{welcome}); err != nil {
			closeSockets(fds)
			return nil, fmt.Errorf("welcome flow: %w", err)
		}
	}
	return fds, nil
}

// close refuses the pending connections and those in the kernel's queue. A
// listener that was lent keeps them for its next acceptor.
func (a *acceptor) close() {
	if a.lent != nil {
		if a.listener >= 0 {
			a.lent.lender.waiting, a.pending, a.listener = a.pending, nil, -1
			a.lent.giveBack()
		}
		return
	}
	waits := []unix.PollFd{{Fd: int32(a.listener), Events: unix.POLLIN}}
	for range 4 * maxFlows {
		if n, err := unix.Poll(waits, 0); err != nil || n == 0 {
			break
		}
		if a.accept(a.run.now()) != nil {
			break
		}
	}
	for len(a.pending) > 0 {
		a.refuse(len(a.pending) - 1)
	}
}
