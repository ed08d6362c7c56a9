package traffic

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"
)

// Sessions are the connections of a run, as the serving end takes them: each begins with
// the greeting, and one that begins with VerbEnd ends the run.
type Sessions struct {
	Acceptor *Acceptor
	Window   Window
	open     atomic.Int64  // connections that are served
	trouble  atomic.Value  // of type error: why the first that failed did so
	limit    time.Duration // of the whole run; unset before the first connection
	lastSeen time.Duration // when a connection last came, or was open
}

// Admit gives each connection to take, until one ends the run.
func (s *Sessions) Admit(take func(fd int)) (served Served, err error) {
	r := s.Acceptor.run
	s.limit = Unset
	until := r.Now() + FirstFlow
	for !r.Stopped() {
		fd, first, err := s.Acceptor.Admit()
		if err != nil {
			return served, err
		}
		now := r.Now()
		if fd < 0 {
			if err := s.look(now, until); err != nil {
				return served, err
			}
			continue
		}
		if first[GreetingLen-1] == VerbEnd {
			CloseSocket(fd)
			return served, nil
		}
		if err := SetCongestion(fd, s.Window.CC); err != nil {
			CloseSocket(fd)
			return served, err
		}
		if s.lastSeen = now; s.limit == Unset {
			s.limit = now + s.Window.Limit()
			if served.Congestion, err = Congestion(fd); err != nil {
				CloseSocket(fd)
				return served, err
			}
		}
		served.Transactions++
		s.open.Add(1)
		take(fd)
	}
	return served, fmt.Errorf("wait for the client: %d connections served, %d unauthenticated peers refused: %w", served.Transactions, s.Acceptor.Unauthenticated, r.Cause(context.Canceled))
}

// look gives the error of what has lasted too long.
func (s *Sessions) look(now, until time.Duration) error {
	if s.open.Load() > 0 {
		s.lastSeen = now
	}
	switch {
	case s.limit == Unset && now > until:
		return fmt.Errorf("wait for the client: %d unauthenticated peers refused: %w", s.Acceptor.Unauthenticated, ErrSilent)
	case s.limit != Unset && (now > s.limit || now-s.lastSeen > DrainLimit+s.Window.Slots.Silence()):
		err := errors.New("the client did not end the run; see whether it still runs")
		if trouble, failed := s.trouble.Load().(error); failed {
			err = fmt.Errorf("%w; a connection failed: %w", err, trouble)
		}
		return err
	}
	return nil
}

// Leave is of a connection that is served no more; err is why it failed, nil if it
// did not.
func (s *Sessions) Leave(err error) {
	if err != nil {
		s.trouble.CompareAndSwap(nil, fmt.Errorf("%w", err)) // of one type, as an atomic.Value wants
	}
	s.open.Add(-1)
}

// EndSessions reports the end of a run to its server.
func EndSessions(r *Run, to netip.AddrPort, token Token) error {
	fd, err := Dial(r, to, "")
	if err == nil {
		defer CloseSocket(fd)
		err = SendAll(r, fd, Greeting(token, VerbEnd))
	}
	if err != nil {
		return fmt.Errorf("end the run: %w; see what the server reported", err)
	}
	AwaitClose(r, fd, r.Now()+DrainLimit)
	return nil
}
