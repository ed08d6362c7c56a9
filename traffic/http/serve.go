package http

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// Serve answers one http: a fixed body to every request that carries the
// run's token, on one thread. All others get status 403 and are counted as
// unauthenticated, and so are connections that send no request within a second.
func Serve(ctx context.Context, l *traffic.Listener, c Options) (_ traffic.Served, err error) {
	defer traffic.During("serve http", &err)
	c, err = c.checked()
	if err == nil && c.Token == nil {
		err = traffic.ErrNoToken
	}
	if err != nil {
		return traffic.Served{}, err
	}
	r := traffic.StartRun(ctx)
	defer r.End()
	s, err := newServer(r, l, c)
	if err != nil {
		return traffic.Served{}, err
	}
	defer s.close()
	if err := s.work(); err != nil {
		return traffic.Served{}, fmt.Errorf("%d answers given, %d unauthenticated peers refused: %w", s.served.Transactions, s.served.Unauthenticated, r.Cause(err))
	}
	s.close()
	return s.served, nil
}

const (
	requestRoom  = 8 << 10 // bytes of a request's header
	listenerName = -1      // of the listener in the poll set
	acceptRound  = 16      // connections accepted at a time
)

// server is the server of http.
type server struct {
	run       *traffic.Run
	listener  int
	fallback  traffic.Fallback // may be nil; no request of HTTP begins as what it keeps
	set       *poll
	exhausted func(error) // may be nil
	token     []byte
	keeping   []byte // the response on a connection that stays open
	closing   []byte // and on one that ends
	refusal   []byte
	visits    []visit
	free      queue

	// A client sends the same request again and again: the last request with the
	// token is read once.
	last     []byte
	lastRead request

	window       traffic.Window
	served       traffic.Served
	proven       int           // connections with the token that are open
	lastReceived time.Duration // when one of them last was
	limit        time.Duration // of the whole run; unset before the first request
	looked       time.Duration
	until        time.Duration // the first request with the token must have come
	over         bool
}

// visit is one connection of the server, or the place of one.
type visit struct {
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

func newServer(r *traffic.Run, l *traffic.Listener, c Options) (*server, error) {
	places := c.Connections + traffic.MaxPending
	set, err := openPoll(places)
	if err != nil {
		return nil, err
	}
	// A connection that is gone before it is accepted delays no other.
	err = unix.SetNonblock(l.Descriptor(), true)
	if err == nil {
		err = set.watch(l.Descriptor(), listenerName, unix.EPOLLIN, true)
	}
	if err != nil {
		set.close()
		return nil, err
	}
	body := traffic.RandomPayload(c.Size)
	s := &server{
		run: r, listener: l.Descriptor(), fallback: l.Fallback(), exhausted: l.Exhausted, set: set, token: []byte(c.Token.Hex()), window: c.Window,
		keeping: response("200 OK", "keep-alive", body), closing: response("200 OK", "close", body),
		refusal: response("403 Forbidden", "close", []byte("This port answers one run of tare only.\n")),
		visits:  make([]visit, places), free: newQueue(places), last: make([]byte, 0, requestRoom),
		lastReceived: traffic.Unset, limit: traffic.Unset, until: r.Now() + traffic.FirstFlow,
	}
	for i := range s.visits {
		s.visits[i] = visit{index: i, fd: -1, request: make([]byte, requestRoom)}
		s.free.push(i)
	}
	return s, nil
}

// response is a whole response.
func response(status, connection string, body []byte) []byte {
	return append([]byte("HTTP/1.1 "+status+"\r\nContent-Type: application/octet-stream\r\nContent-Length: "+
		strconv.Itoa(len(body))+"\r\nConnection: "+connection+"\r\n\r\n"), body...)
}

func (s *server) work() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for !s.over {
		if s.run.Stopped() {
			return fmt.Errorf("wait for the client: %w", context.Canceled)
		}
		ready, err := s.set.wait(traffic.Tick)
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
		if now := s.run.Now(); now-s.looked >= traffic.Tick {
			s.looked = now
			if err := s.look(now); err != nil {
				return err
			}
		}
	}
	return nil
}

// accept takes the connections that wait, a round of them at most.
func (s *server) accept() error {
	for range acceptRound {
		if s.free.empty() {
			s.evict()
		}
		n, errno := traffic.Syscall(unix.SYS_ACCEPT4, uintptr(s.listener), 0, 0, unix.SOCK_CLOEXEC, 0, 0)
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
		v.since = s.run.Now()
		if err := s.turn(v); err != nil { // its request may be there already
			return err
		}
	}
	return nil
}

// evict makes room: the connection that has been without the token for longest
// goes, or if there is none, the first.
func (s *server) evict() {
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
func (s *server) starve(errno syscall.Errno) {
	if s.exhausted != nil {
		s.exhausted(errno)
	}
	var oldest *visit
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
func (s *server) turn(v *visit) error {
	if v.fd < 0 {
		return nil // it ended within this round
	}
	if len(v.unsent) > 0 {
		return s.flush(v)
	}
	n, errno := traffic.Receive(v.fd, v.request[v.got:], unix.MSG_DONTWAIT)
	switch {
	case traffic.Waited(errno):
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
		return s.answer(v, request{closes: true})
	}
	return s.watch(v, unix.EPOLLIN)
}

// read understands a request that differs from the last one.
func (s *server) read(v *visit, came []byte) error {
	request := readRequest(came, s.token)
	if request.known {
		s.last = append(s.last[:0], came...)
		s.lastRead = request
	}
	return s.answer(v, request)
}

// answer answers a request.
func (s *server) answer(v *visit, request request) error {
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
func (s *server) meet(v *visit) (err error) {
	s.lastReceived = s.run.Now()
	if s.limit == traffic.Unset {
		s.limit = s.lastReceived + s.window.Limit() + traffic.DrainLimit
		s.served.Congestion, err = traffic.Congestion(v.fd)
	}
	return err
}

// flush sends what is left of the response. A client that is gone sends no
// more.
func (s *server) flush(v *visit) error {
	n, errno := traffic.Send(v.fd, v.unsent, unix.MSG_DONTWAIT)
	if errno != 0 && !traffic.Waited(errno) {
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
func (s *server) watch(v *visit, events uint32) error {
	if v.events == events {
		return nil
	}
	isNew := v.events == 0
	v.events = events
	return s.set.watch(v.fd, v.index, events, isNew)
}

// end closes a connection. One without the token is counted as unauthenticated.
func (s *server) end(v *visit) {
	if v.proven {
		s.proven--
	} else {
		s.served.Unauthenticated++
	}
	traffic.CloseQuickly(v.fd)
	v.fd = -1
	s.free.push(v.index)
}

// give releases a connection that was kept aside, for the caller to serve. It stays
// open.
func (s *server) give(v *visit) error {
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
func (s *server) look(now time.Duration) error {
	for i := range s.visits {
		if v := &s.visits[i]; v.fd >= 0 && !v.proven && now-v.since > traffic.GreetingLimit {
			s.end(v)
		}
	}
	if s.proven > 0 {
		s.lastReceived = now
	}
	if s.limit == traffic.Unset && now > s.until {
		return fmt.Errorf("wait for the client: %w", traffic.ErrSilent)
	}
	if s.limit != traffic.Unset && (now > s.limit || now-s.lastReceived > traffic.DrainLimit) {
		return fmt.Errorf("the client did not end the run; see whether it still runs")
	}
	return nil
}

// close refuses the connections that still wait, here or in the kernel's queue, and closes all
// connections.
func (s *server) close() {
	for range 4 * traffic.MaxFlows / acceptRound {
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
