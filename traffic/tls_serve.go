package traffic

import (
	"context"
	"crypto/tls"
	"io"
	"runtime"
	"sync"
)

// ServeTLS serves one tls. It closes each connection first, after its response; in
// TLSBulk it sends until the client closes.
func ServeTLS(ctx context.Context, l *Listener, c TLS) (_ Served, err error) {
	defer during("serve tls", &err)
	if c, err = c.checked(); err != nil {
		return Served{}, err
	}
	certificate, err := issueFor(c.Token)
	if err != nil {
		return Served{}, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := startRun(ctx)
	defer r.end()
	a := newAcceptor(r, l, c.Token, greetingLen)
	defer a.close()
	s := &tlsServer{
		run: r, sessions: sessions{acceptor: a, window: c.Window}, mode: c.Mode, body: randomBytes(c.Size),
		config: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13},
	}
	served, err := s.work(c.Flows)
	if err != nil {
		return Served{}, err
	}
	a.close()
	served.Unauthenticated = a.unauthenticated
	return served, nil
}

// tlsServer is the server of tls.
type tlsServer struct {
	run      *run
	sessions sessions
	mode     TLSMode
	config   *tls.Config
	body     []byte
}

// work serves connections: of a single flow on this thread, of several on a thread each.
func (s *tlsServer) work(flows int) (Served, error) {
	if flows == 1 && s.mode != TLSBulk {
		return s.sessions.admit(s.visit)
	}
	var threads sync.WaitGroup
	admitted := make(chan int, maxPending)
	for range flows {
		threads.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for fd := range admitted {
				s.visit(fd)
			}
		})
	}
	served, err := s.sessions.admit(func(fd int) { admitted <- fd })
	s.run.stop() // what is still served ends
	close(admitted)
	threads.Wait()
	return served, err
}

// visit serves one connection.
func (s *tlsServer) visit(fd int) {
	socket := &blockingConn{run: s.run, fd: fd}
	err := s.answer(tls.Server(socket, s.config))
	closeSocket(fd)
	s.sessions.leave(err)
}

// answer reads a request and sends what is due.
func (s *tlsServer) answer(conn *tls.Conn) error {
	if _, err := io.ReadFull(conn, make([]byte, len(tlsRequest))); err != nil {
		return err
	}
	if s.mode == TLSBulk {
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
