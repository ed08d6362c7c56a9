package iperf3

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// openingTime is how long a client may take to open all its flows.
const openingTime = 10 * time.Second

// takes hands over a connection with the test's cookie, while the test waits
// for its flows.
func (s *session) takes(v visitor) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.opening {
		return false
	}
	select {
	case s.flows <- v:
		return true
	default:
		return false
	}
}

// admit sets whether connections with the test's cookie are taken.
func (s *session) admit(may bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opening = may
}

// invite has the client open its flows, and receives its next state: the
// end of the test, or of itself. The context ends with that.
func (s *session) invite(ctx context.Context) (context.Context, error) {
	if err := s.control.sendState(createStreams); err != nil {
		return nil, err
	}
	present, leave := context.WithCancel(ctx)
	s.next = make(chan received, 1)
	go func() {
		defer leave()
		got, err := s.control.receiveState(0)
		s.next <- received{got, err}
	}()
	return present, nil
}

// absent returns why the client's flows are not waited for any more.
func (s *session) absent(came int) error {
	wait := fmt.Sprintf("wait for flows, of which %d of %d came", came, s.p.flows())
	select {
	case got := <-s.next:
		if err := s.ended(got); err != nil {
			return fmt.Errorf("%s: %w", wait, err)
		}
		return fmt.Errorf("%s: the client ended the test before it began", wait)
	default:
		return fmt.Errorf("%s: %w within %v", wait, errSilent, openingTime)
	}
}

// openTCP waits for the connections that show the test's cookie.
func (s *session) openTCP(ctx context.Context) error {
	s.admit(true)
	defer s.admit(false)
	present, err := s.invite(ctx)
	if err != nil {
		return err
	}
	timeout := time.After(openingTime)
	var came []visitor
	for len(came) < s.p.flows() {
		select {
		case v := <-s.flows:
			came = append(came, v)
			continue
		case <-present.Done():
		case <-timeout:
		}
		for _, v := range came {
			v.conn.Close()
		}
		return s.absent(len(came))
	}
	slices.SortFunc(came, func(a, b visitor) int { return a.order - b.order })
	for i, v := range came {
		f, err := adopt(v.conn, s.p)
		if err == nil {
			s.open = append(s.open, f)
			err = s.p.tune(f.socket)
		}
		if err != nil {
			for _, rest := range came[i:] {
				rest.conn.Close()
			}
			return fmt.Errorf("open flow: %w", err)
		}
	}
	return nil
}

// openUDP waits for the sockets that greet the server's.
func (s *session) openUDP(ctx context.Context) error {
	d := &udpAcceptor{
		local: addressOf(s.control.conn.LocalAddr()), peer: addressOf(s.control.conn.RemoteAddr()).Addr(),
		p: s.p, log: func(line string) { s.server.logf("%s", line) },
	}
	if err := d.open(ctx); err != nil {
		return &refusal{errStreamListen, fmt.Errorf("listen for UDP flows: %w", err)}
	}
	defer d.close()
	present, err := s.invite(ctx)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(openingTime)
	for want := s.p.flows(); len(s.open) < want; {
		f, err := d.accept(present, deadline, len(s.open)+1 < want)
		if present.Err() != nil || errors.Is(err, errSilent) {
			return s.absent(len(s.open))
		}
		if err != nil {
			return fmt.Errorf("open UDP flow: %w", err)
		}
		s.open = append(s.open, f)
	}
	return nil
}
