package traffic

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ServeHTTP answers one http: a fixed body to every request that carries the
// run's token, on one thread. All others get status 403 and are counted as
// unauthenticated, and so are connections that send no request within a second.
func ServeHTTP(ctx context.Context, l *Listener, c HTTP) (_ Served, err error) {
	defer during("serve http", &err)
	c, err = c.checked()
	if err == nil && c.Token == nil {
		err = errNoToken
	}
	if err != nil {
		return Served{}, err
	}
	r := startRun(ctx)
	defer r.end()
	s, err := newHTTPServer(r, l, c)
	if err != nil {
		return Served{}, err
	}
	defer s.close()
	if err := s.work(); err != nil {
		return Served{}, fmt.Errorf("%d answers given, %d unauthenticated peers refused: %w", s.served.Transactions, s.served.Unauthenticated, r.cause(err))
	}
	s.close()
	return s.served, nil
}

const (
	maxHTTPRequest = 8 << 10 // bytes of a request's header
	listenerName   = -1      // of the listener in the poll set
	acceptRound    = 16      // connections accepted at a time
)

// httpServer is the server of http.
type httpServer struct {
	run       *run
	listener  int
	fallback  Fallback // may be nil; no request of HTTP begins as what it keeps
	set       *httpPoll
	exhausted func(error) // may be nil
	token     []byte
	keeping   []byte // the response on a connection that stays open
	closing   []byte // and on one that ends
	refusal   []byte
	visits    []httpVisit
	free      queue

	// A client sends the same request again and again: the last request with the
	// token is read once.
	last     []byte
	lastRead httpRequest

	window       Window
	served       Served
	proven       int           // connections with the token that are open
	lastReceived time.Duration // when one of them last was
	limit        time.Duration // of the whole run; unset before the first request
	looked       time.Duration
	until        time.Duration // the first request with the token must have come
	over         bool
}

// httpVisit is one connection of the server, or the place of one.
type httpVisit struct {
	index   int
	fd      int    // -1: none
	events  uint32 // that it waits for
	proven  bool   // it has shown the token
	since   time.Duration
	request []byte
	got     int
	unsent  []byte // of the response
	closes  bool   // after the response
}

func newHTTPServer(r *run, l *Listener, c HTTP) (*httpServer, error) {
	places := c.Connections + maxPending
	set, err := openHTTPPoll(places)
	if err != nil {
		return nil, err
	}
	// A connection that is gone before it is accepted delays no other.
	err = unix.SetNonblock(l.fd, true)
	if err == nil {
		err = set.watch(l.fd, listenerName, unix.EPOLLIN, true)
	}
	if err != nil {
		set.close()
		return nil, err
	}
	body := randomBytes(c.Size)
	s := &httpServer{
		run: r, listener: l.fd, fallback: l.fallback, exhausted: l.Exhausted, set: set, token: []byte(c.Token.hex()), window: c.Window,
		keeping: response("200 OK", "keep-alive", body), closing: response("200 OK", "close", body),
		refusal: response("403 Forbidden", "close", []byte("This port answers one run of tare only.\n")),
		visits:  make([]httpVisit, places), free: newQueue(places), last: make([]byte, 0, maxHTTPRequest),
		lastReceived: unset, limit: unset, until: r.now() + firstFlow,
	}
	for i := range s.visits {
		s.visits[i] = httpVisit{index: i, fd: -1, request: make([]byte, maxHTTPRequest)}
		s.free.push(i)
	}
	return s, nil
}

// response is a whole response.
func response(status, connection string, body []byte) []byte {
	return append([]byte("HTTP/1.1 "+status+"\r\nContent-Type: application/octet-stream\r\nContent-Length: "+
		strconv.Itoa(len(body))+"\r\nConnection: "+connection+"\r\n\r\n"), body...)
}

func (s *httpServer) work() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for !s.over {
		if s.run.stopped.Load() {
			return fmt.Errorf("wait for the client: %w", context.Canceled)
		}
		ready, err := s.set.wait(tick)
		if err != nil {
			return err
		}
		for _, event := range ready {
			if event.Fd == listenerName {
				err = s.accept()
			} else {
				err = s.turn(&s.visits[event.Fd])
			}
			if err != nil {
				return err
			}
		}
		if now := s.run.now(); now-s.looked >= tick {
			s.looked = now
			if err := s.look(now); err != nil {
				return err
			}
		}
	}
	return nil
}

// accept takes the connections that wait, a round of them at most.
func (s *httpServer) accept() error {
	for range acceptRound {
		if s.free.empty() {
			s.evict()
		}
		n, errno := blocking(unix.SYS_ACCEPT4, uintptr(s.listener), 0, 0, unix.SOCK_CLOEXEC, 0, 0)
		switch errno {
		case 0:
		case unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM: // which passes
			s.starve(errno)
			return nil
		case unix.EINVAL, unix.EBADF, unix.ENOTSOCK:
			return fmt.Errorf("accept connection: %w", errno)
		default:
			return nil // none, or one that failed before it was accepted
		}
		v := &s.visits[s.free.pop()]
		v.fd, v.got, v.unsent, v.events, v.proven = n, 0, nil, 0, false
		v.since = s.run.now()
		if err := s.turn(v); err != nil { // its request may be there already
			return err
		}
	}
	return nil
}

// evict makes room: the connection that has been without the token for longest
// goes, or if there is none, the first.
func (s *httpServer) evict() {
	oldest := &s.visits[0]
	for i := range s.visits {
		v := &s.visits[i]
		if !v.proven && (oldest.proven || v.since < oldest.since) {
			oldest = v
		}
	}
	s.end(oldest)
}

// starve makes room where descriptors or memory lack: the connection that has been without
// the token for longest goes.
func (s *httpServer) starve(errno syscall.Errno) {
	if s.exhausted != nil {
		s.exhausted(errno)
	}
	var oldest *httpVisit
	for i := range s.visits {
		if v := &s.visits[i]; v.fd >= 0 && !v.proven && (oldest == nil || v.since < oldest.since) {
			oldest = v
		}
	}
	if oldest != nil {
		s.end(oldest)
	}
}

// turn reads once from a connection, or sends on.
func (s *httpServer) turn(v *httpVisit) error {
	if v.fd < 0 {
		return nil // it ended within this round
	}
	if len(v.unsent) > 0 {
		return s.flush(v)
	}
	n, errno := recv(v.fd, v.request[v.got:], unix.MSG_DONTWAIT)
	switch {
	case again(errno):
		return s.watch(v, unix.EPOLLIN)
	case errno != 0 || n == 0:
		s.end(v)
		return nil
	}
	v.got += n
	came := v.request[:v.got]
	if !v.proven && s.fallback != nil && came[0] == '{' && s.fallback(v.fd, came) {
		return s.give(v)
	}
	switch {
	case bytes.Equal(came, s.last):
		return s.answer(v, s.lastRead)
	case bytes.HasSuffix(came, []byte("\r\n\r\n")):
		return s.read(v, came)
	case v.got == len(v.request) || bytes.Contains(came, []byte("\r\n\r\n")):
		return s.answer(v, httpRequest{closes: true})
	}
	return s.watch(v, unix.EPOLLIN)
}

// read understands a request that differs from the last one.
func (s *httpServer) read(v *httpVisit, came []byte) error {
	request := readHTTPRequest(came, s.token)
	if request.known {
		s.last = append(s.last[:0], came...)
		s.lastRead = request
	}
	return s.answer(v, request)
}

// answer answers a request.
func (s *httpServer) answer(v *httpVisit, request httpRequest) error {
	v.got, v.closes, v.unsent = 0, request.closes, s.keeping
	switch {
	case !request.known:
		v.unsent = s.refusal
		if v.proven {
			s.proven--
			v.proven = false
		}
		return s.flush(v)
	case request.closes:
		v.unsent = s.closing
	}
	s.over = request.ends
	if !request.ends {
		s.served.Transactions++
	}
	if !v.proven {
		v.proven = true
		s.proven++
		if err := s.meet(v); err != nil {
			return err
		}
	}
	return s.flush(v)
}

// meet takes the first request of a connection that has the token.
func (s *httpServer) meet(v *httpVisit) (err error) {
	s.lastReceived = s.run.now()
	if s.limit == unset {
		s.limit = s.lastReceived + s.window.limit() + drainLimit
		s.served.Congestion, err = congestion(v.fd)
	}
	return err
}

// flush sends what is left of the response. A client that is gone sends no
// more.
func (s *httpServer) flush(v *httpVisit) error {
	n, errno := send(v.fd, v.unsent, unix.MSG_DONTWAIT)
	if errno != 0 && !again(errno) {
		s.end(v)
		return nil
	}
	if v.unsent = v.unsent[n:]; len(v.unsent) > 0 {
		return s.watch(v, unix.EPOLLOUT)
	}
	if v.closes {
		s.end(v)
		return nil
	}
	return s.watch(v, unix.EPOLLIN)
}

// watch waits for the next request, or for room to send on.
func (s *httpServer) watch(v *httpVisit, events uint32) error {
	if v.events == events {
		return nil
	}
	isNew := v.events == 0
	v.events = events
	return s.set.watch(v.fd, v.index, events, isNew)
}

// end closes a connection. One without the token is counted as unauthenticated.
func (s *httpServer) end(v *httpVisit) {
	if v.proven {
		s.proven--
	} else {
		s.served.Unauthenticated++
	}
	closeQuickly(v.fd)
	v.fd = -1
	s.free.push(v.index)
}

// give releases a connection that was kept aside, for the caller to serve. It stays
// open.
func (s *httpServer) give(v *httpVisit) error {
	if v.events != 0 {
		if err := unix.EpollCtl(s.set.fd, unix.EPOLL_CTL_DEL, v.fd, nil); err != nil {
			return fmt.Errorf("take connection out of epoll: %w", err)
		}
	}
	v.fd = -1
	s.free.push(v.index)
	return nil
}

// look ends, once a tick, what has lasted too long.
func (s *httpServer) look(now time.Duration) error {
	for i := range s.visits {
		if v := &s.visits[i]; v.fd >= 0 && !v.proven && now-v.since > greetingLimit {
			s.end(v)
		}
	}
	if s.proven > 0 {
		s.lastReceived = now
	}
	if s.limit == unset && now > s.until {
		return fmt.Errorf("wait for the client: %w", errSilent)
	}
	if s.limit != unset && (now > s.limit || now-s.lastReceived > drainLimit) {
		return fmt.Errorf("the client did not end the run; see whether it still runs")
	}
	return nil
}

// close refuses the connections that still wait, here or in the kernel's queue, and closes all
// connections.
func (s *httpServer) close() {
	for range 4 * maxFlows / acceptRound {
		if s.accept() != nil {
			break
		}
	}
	for i := range s.visits {
		if s.visits[i].fd >= 0 {
			s.end(&s.visits[i])
		}
	}
	s.set.close()
}
