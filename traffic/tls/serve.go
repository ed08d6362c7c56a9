package tls

import (
	"context"
	"crypto/tls"
	"io"
	"runtime"
	"sync"

	"tare/traffic"
)

// Serve serves one tls. It closes each connection first, after its response; in
// mode Bulk it sends until the client closes.
func Serve(ctx context.Context, l *traffic.Listener, c Options) (_ traffic.Served, err error) {
	defer traffic.During("serve tls", &err)
	if c, err = c.checked(); err != nil {
		return traffic.Served{}, err
	}
	certificate, err := issueFor(c.Token)
	if err != nil {
		return traffic.Served{}, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := traffic.StartRun(ctx)
	defer r.End()
	a := traffic.NewAcceptor(r, l, c.Token, traffic.GreetingLen)
	defer a.Close()
	s := &server{
		run: r, sessions: traffic.Sessions{Acceptor: a, Window: c.Window}, mode: c.Mode, body: traffic.RandomPayload(c.Size),
		config: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13},
	}
	served, err := s.work(c.Flows)
	if err != nil {
		return traffic.Served{}, err
	}
	a.Close()
	served.Unauthenticated = a.Unauthenticated
	return served, nil
}

// server is the server of tls.
type server struct {
	run      *traffic.Run
	sessions traffic.Sessions
	mode     Mode
	config   *tls.Config
	body     []byte
}

// work serves connections: of a single flow on this thread, of several on a thread each.
func (s *server) work(flows int) (traffic.Served, error) {
	if flows == 1 && s.mode != Bulk {
		return s.sessions.Admit(s.visit)
	}
	var threads sync.WaitGroup
	admitted := make(chan int, traffic.MaxPending)
	for range flows {
		threads.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for fd := range admitted {
				s.visit(fd)
			}
		})
	}
	served, err := s.sessions.Admit(func(fd int) { admitted <- fd })
	s.run.Stop() // what is still served ends
	close(admitted)
	threads.Wait()
	return served, err
}

// visit serves one connection.
func (s *server) visit(fd int) {
	socket := &blockingConn{run: s.run, fd: fd}
	err := s.answer(tls.Server(socket, s.config))
	traffic.CloseSocket(fd)
	s.sessions.Leave(err)
}

// answer reads a request and sends what is due.
func (s *server) answer(conn *tls.Conn) error {
	if _, err := io.ReadFull(conn, make([]byte, len(request))); err != nil {
		return err
	}
	if s.mode == Bulk {
		for {
			if _, err := conn.Write(s.body); err != nil {
				return nil //nolint:nilerr // the client closes when it has enough
			}
		}
	}
	if _, err := conn.Write(s.body); err != nil {
		return err
	}
	return conn.CloseWrite()
}
