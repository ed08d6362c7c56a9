package traffic

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"
)

// sessions are the connections of a run, as the serving end takes them: each begins with
// the greeting, and one that begins with verbEnd ends the run.
type sessions struct {
	acceptor *acceptor
	window   Window
	open     atomic.Int64  // connections that are served
	trouble  atomic.Value  // of type error: why the first that failed did so
	limit    time.Duration // of the whole run; unset before the first connection
	lastSeen time.Duration // when a connection last came, or was open
}

// admit gives each connection to take, until one ends the run.
func (s *sessions) admit(take func(fd int)) (served Served, err error) {
	r := s.acceptor.run
	s.limit = unset
	until := r.now() + firstFlow
	for !r.stopped.Load() {
		fd, first, err := s.acceptor.admit()
		if err != nil {
			return served, err
		}
		now := r.now()
		if fd < 0 {
			if err := s.look(now, until); err != nil {
				return served, err
			}
			continue
		}
		if first[greetingLen-1] == verbEnd {
			closeSocket(fd)
			return served, nil
		}
		if err := setCongestion(fd, s.window.CC); err != nil {
			closeSocket(fd)
			return served, err
		}
		if s.lastSeen = now; s.limit == unset {
			s.limit = now + s.window.limit()
			if served.Congestion, err = congestion(fd); err != nil {
				closeSocket(fd)
				return served, err
			}
		}
		served.Transactions++
		s.open.Add(1)
		take(fd)
	}
	return served, fmt.Errorf("wait for the client: %d connections served, %d unauthenticated peers refused: %w", served.Transactions, s.acceptor.unauthenticated, r.cause(context.Canceled))
}

// look gives the error of what has lasted too long.
func (s *sessions) look(now, until time.Duration) error {
	if s.open.Load() > 0 {
		s.lastSeen = now
	}
	switch {
	case s.limit == unset && now > until:
		return fmt.Errorf("wait for the client: %d unauthenticated peers refused: %w", s.acceptor.unauthenticated, errSilent)
	case s.limit != unset && (now > s.limit || now-s.lastSeen > drainLimit+s.window.Slots.rest()):
		err := errors.New("the client did not end the run; see whether it still runs")
		if trouble, failed := s.trouble.Load().(error); failed {
			err = fmt.Errorf("%w; a connection failed: %w", err, trouble)
		}
		return err
	}
	return nil
}

// leave is of a connection that is served no more; err is why it failed, nil if it
// did not.
func (s *sessions) leave(err error) {
	if err != nil {
		s.trouble.CompareAndSwap(nil, fmt.Errorf("%w", err)) // of one type, as an atomic.Value wants
	}
	s.open.Add(-1)
}

// endSessions reports the end of a run to its server.
func endSessions(r *run, to netip.AddrPort, token Token) error {
	fd, err := dial(r, to, "")
	if err == nil {
		defer closeSocket(fd)
		err = sendAll(r, fd, greeting(token, verbEnd))
	}
	if err != nil {
		return fmt.Errorf("end the run: %w; see what the server reported", err)
	}
	awaitClose(r, fd, r.now()+drainLimit)
	return nil
}
