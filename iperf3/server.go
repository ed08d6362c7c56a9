package iperf3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Server serves iperf3 clients, one test after another. A client that comes
// while a test runs is informed that the server is busy.
type Server struct {
	listener *net.TCPListener
	log      func(line string)
	logging  sync.Mutex

	mu      sync.Mutex
	current *session // the test under way
}

// maxVisitors is how many connections may be without a cookie at once.
const maxVisitors = 256

// Listen binds a server; port 0 lets the kernel choose. log gets one line for
// each test and for each peer that was refused, one after another.
func Listen(bind netip.AddrPort, log func(line string)) (*Server, error) {
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(bind))
	if err != nil {
		return nil, fmt.Errorf("listen for iperf3 clients: %w; choose another address or port", err)
	}
	return &Server{listener: l, log: log}, nil
}

// Addr is the address with the port that the kernel chose.
func (s *Server) Addr() netip.AddrPort { return addressOf(s.listener.Addr()) }

// Serve serves until the context ends, which is the error then; it ends a test
// under way and closes the port. A peer's misdeeds never end it.
func (s *Server) Serve(ctx context.Context) error {
	shut := func() { _ = s.listener.Close() } // it has no news; a second time it fails
	release := context.AfterFunc(ctx, shut)
	defer release()
	defer shut()
	var visitors sync.WaitGroup
	defer visitors.Wait()
	room := make(chan struct{}, maxVisitors)
	for order := 0; ; order++ {
		conn, err := s.listener.AcceptTCP()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return context.Cause(ctx)
		case exhausted(err):
			s.logf("wait to accept connections: %v", err)
			time.Sleep(100 * time.Millisecond)
			continue
		case err != nil && errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept connection: %w", err)
		case err != nil:
			continue // a connection that failed before it was accepted
		}
		select {
		case room <- struct{}{}:
		default:
			s.logf("%v: refused, as %d connections wait already without identifying themselves", conn.RemoteAddr(), maxVisitors)
			conn.Close()
			continue
		}
		visitors.Go(func() {
			s.receive(ctx, visitor{conn, order}, func() { <-room })
		})
	}
}

// exhausted reports whether descriptors or memory lack, which passes.
func exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) ||
		errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM)
}

// visitor is a connection in the order in which they came: a client opens its
// flows one after another.
type visitor struct {
	conn  *net.TCPConn
	order int
}

// receive finds out what a connection is: a flow of the test under way, a new
// test, one too many, or no iperf3 client at all. identified is called once it has
// sent its cookie.
func (s *Server) receive(ctx context.Context, v visitor, identified func()) {
	c, err := readCookie(ctx, v.conn)
	identified()
	if err != nil {
		if ctx.Err() == nil {
			s.logf("%v: refused: %v", v.conn.RemoteAddr(), err)
		}
		v.conn.Close()
		return
	}
	own := &session{server: s, cookie: c, flows: make(chan visitor, 2*MaxFlows)}
	s.mu.Lock()
	current := s.current
	if current == nil {
		s.current = own
	}
	s.mu.Unlock()
	switch {
	case current == nil:
		own.control = newControl(ctx, v.conn)
		s.serve(ctx, own)
	case current.cookie == c && current.takes(v):
	default:
		busy := newControl(ctx, v.conn)
		defer busy.close()
		if err := busy.sendState(accessDenied); err == nil {
			s.logf("%v: refused: a test is under way", v.conn.RemoteAddr())
		}
	}
}

// readCookie reads whose connection it is.
func readCookie(ctx context.Context, conn *net.TCPConn) (c cookie, err error) {
	release := context.AfterFunc(ctx, func() { _ = conn.CloseRead() }) // it fails on a connection that is gone
	defer release()
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return c, err
	}
	n, err := io.ReadFull(conn, c[:])
	switch {
	case n > 0 && err != nil:
		return c, fmt.Errorf("no iperf3 client: it sent %.16q and no more", c[:n])
	case err != nil:
		return c, fmt.Errorf("no iperf3 client: %w", silent(err, patience))
	case !c.valid():
		return c, fmt.Errorf("no iperf3 client: it sent %.16q", c[:])
	}
	return c, nil
}

// serve runs one test and logs its result in one line.
func (s *Server) serve(ctx context.Context, own *session) {
	client := own.control.conn.RemoteAddr()
	line, err := own.run(ctx)
	s.free(own)
	own.end()
	switch {
	case ctx.Err() != nil:
		s.logf("%v: the test was ended with the server", client)
	case err != nil:
		s.logf("%v: the test failed: %v", client, err)
	default:
		s.logf("%v: %s", client, line)
	}
}

// free makes room for the next test.
func (s *Server) free(own *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == own {
		s.current = nil
	}
}

func (s *Server) logf(format string, args ...any) {
	s.logging.Lock()
	defer s.logging.Unlock()
	s.log(strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "; "))
}
