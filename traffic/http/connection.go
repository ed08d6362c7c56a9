package http

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// conn is one connection of the client, or the place of one.
type conn struct {
	index  int
	fd     int // -1: none
	events uint32
	state  connState
	once   bool // it was established before
	served int  // responses on it
	unsent int  // bytes of the request
	parser parser
	due    time.Duration // when the open request of an open loop was due
	begun  time.Duration // before its connect or send call
	since  time.Duration // when the state began, or the server last sent something in it
}

type connState int

const (
	resting    connState = iota // free; a connection that the server has ended may be missing
	connecting                  // without a request
	asking                      // a request is being sent or waits for its response
	ending                      // waits for the server's FIN
	failed                      // waits before it tries again
)

// The events of a connection (epoll_ctl(2)): received bytes and the server's FIN,
// and while there is something to send, room for it.
const (
	toReceive = unix.EPOLLIN | unix.EPOLLRDHUP
	toSend    = unix.EPOLLOUT
)

// begin makes a place ready: an open loop first opens its lasting connections,
// so that no request of the window pays for it.
func (h *client) begin(c *conn, now time.Duration) {
	if h.arrivals == nil || h.mode == CloseEach {
		h.next(c, now)
		return
	}
	c.state, c.since = connecting, now
	if err := h.open(c); err != nil {
		h.fail(c, "connect", err, now)
		return
	}
	h.watch(c, toReceive|toSend)
}

// next makes a connection free for its next request.
func (h *client) next(c *conn, now time.Duration) {
	c.state = resting
	if h.arrivals != nil && h.arrivals.start == traffic.Unset {
		h.arrivals.start = now
	}
	h.free.push(c.index)
}

// ask sends the request that was due.
func (h *client) ask(c *conn, now time.Duration) {
	if h.meter.Phase() == traffic.Open {
		h.calls.Sent++
	}
	c.begun = now
	h.repeat(c, now)
}

// repeat sends the open request, on a new connection if there is none.
func (h *client) repeat(c *conn, now time.Duration) {
	c.state, c.since, c.unsent = asking, now, len(h.request)
	c.parser.reset()
	if c.fd < 0 {
		if err := h.open(c); err != nil {
			h.fail(c, "connect", err, now)
			return
		}
	}
	h.flush(c)
}

// open begins a connection.
func (h *client) open(c *conn) (err error) {
	if c.fd, err = h.dialer.dial(); err != nil {
		return err
	}
	if h.mode == KeepAlive {
		if c.once && h.meter.Phase() == traffic.Open {
			h.calls.Reconnects++
		}
		// A request is one segment and waits for nothing; a proxy may differ.
		if err := unix.SetsockoptInt(c.fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
			return err
		}
	}
	if h.calls.Congestion == "" {
		h.calls.Congestion, err = traffic.Congestion(c.fd)
	}
	c.once, c.served, c.events = true, 0, 0
	return err
}

// watch asks for events of a connection.
func (h *client) watch(c *conn, events uint32) {
	if c.events == events {
		return
	}
	if err := h.set.watch(c.fd, c.index, events, c.events == 0); err != nil {
		h.broken = err
	}
	c.events = events
}

// flush sends what is left of the request. A connection that is not
// established yet takes nothing (EAGAIN).
func (h *client) flush(c *conn) {
	n, errno := traffic.Send(c.fd, h.request[len(h.request)-c.unsent:], unix.MSG_DONTWAIT)
	switch {
	case traffic.Waited(errno):
	case errno != 0:
		h.lose(c, h.step(c, "send"), errno)
		return
	}
	if c.unsent -= n; c.unsent > 0 {
		h.watch(c, toReceive|toSend)
		return
	}
	h.watch(c, toReceive)
}

// step names what a connection failed at: what seems to be another step is
// still the connect while a new connection has taken nothing.
func (h *client) step(c *conn, other string) string {
	if c.served == 0 && c.unsent == len(h.request) {
		return "connect"
	}
	return other
}

// turn takes the events of a connection.
func (h *client) turn(c *conn, events uint32) {
	if c.fd < 0 {
		return // it ended within this round
	}
	if c.state == connecting {
		h.connected(c)
		return
	}
	if events&toSend != 0 && c.state == asking && c.unsent > 0 {
		h.flush(c)
	}
	if c.fd >= 0 && events&^toSend != 0 {
		h.receive(c, events&unix.EPOLLRDHUP != 0)
	}
}

// connected takes the outcome of a connect.
func (h *client) connected(c *conn) {
	now := h.run.Now()
	value, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && value != 0 {
		err = syscall.Errno(value)
	}
	if err != nil {
		h.fail(c, "connect", err, now)
		return
	}
	h.watch(c, toReceive)
	h.next(c, now)
}

// receive receives once. fin: the server's FIN has arrived, too.
func (h *client) receive(c *conn, fin bool) {
	n, errno := traffic.Receive(c.fd, h.buffer, unix.MSG_DONTWAIT)
	came := h.buffer[:n]
	switch {
	case traffic.Waited(errno):
		return
	case errno != 0:
		h.lose(c, "receive", errno)
		return
	case n == 0:
		h.ended(c)
		return
	case c.state != asking:
		h.unasked(c)
		return
	}
	rest, whole, err := c.parser.feed(came)
	if err == nil && len(rest) > 0 {
		err, came = errUnasked, rest
	}
	switch {
	case err != nil && traffic.LocalAddress(c.fd) == h.to:
		// Where no process listens, a port of this host can meet itself: both ends
		// of the connection are this one (RFC 9293, 3.5, figure 7).
		h.fail(c, "connect", unix.ECONNREFUSED, h.run.Now())
	case err != nil:
		h.broken = h.notHTTP(err, came)
	case whole:
		h.answered(c, fin && n < len(h.buffer))
	default:
		c.since = h.run.Now()
		h.lastReceived = c.since
	}
}

var errUnasked = errors.New("more came than was asked for")

// unasked handles bytes that answer no request: a server may report that it
// waits no longer (status 408) before it ends a connection.
func (h *client) unasked(c *conn) {
	if c.state == ending {
		h.fail(c, "receive", errUnasked, h.run.Now())
		return
	}
	h.drop(c)
	if h.meter.Phase() == traffic.Open {
		h.failures.Add("receive", errUnasked)
	}
}

// answered handles a complete response and sends the next request.
func (h *client) answered(c *conn, fin bool) {
	now := h.run.Now()
	h.lastReceived = now
	h.record(c, now)
	if h.token && c.parser.status == 403 {
		h.broken = errRefused
		return
	}
	c.served++
	switch {
	case fin:
		h.drop(c)
	case h.mode == KeepAlive && c.parser.keeps() && c.unsent == 0:
	case c.parser.keeps():
		h.reset(c, now)
		return
	default:
		// The end that closes first keeps the port for a minute (TIME_WAIT):
		// leave that to the server, which announced that it closes.
		c.state, c.since = ending, now
		return
	}
	h.next(c, now)
}

// reset ends a connection that the server keeps open.
func (h *client) reset(c *conn, now time.Duration) {
	if h.meter.Phase() == traffic.Open {
		h.calls.Resets++
	}
	traffic.Abort(c.fd)
	c.fd = -1
	h.next(c, now)
}

// ended takes the server's FIN.
func (h *client) ended(c *conn) {
	switch {
	case c.state == ending:
		h.drop(c)
		h.next(c, h.run.Now())
	case c.state == resting: // it is opened again when it is needed
		h.drop(c)
	case c.parser.state == untilClose:
		h.answered(c, true)
	default:
		h.lose(c, "receive", traffic.ErrPeerClosed)
	}
}

// lose takes the loss of a connection. A server may end a lasting one at any
// time; a request that met this end is sent again, once, on a new connection
// (RFC 9112, 9.3.1).
func (h *client) lose(c *conn, step string, err error) {
	now := h.run.Now()
	switch {
	case c.state == ending:
		h.drop(c)
		h.next(c, now)
	case c.state == resting:
		h.drop(c)
	case c.served > 0 && c.parser.size == 0:
		h.drop(c)
		h.repeat(c, now)
	default:
		h.fail(c, step, err, now)
	}
}

// fail counts a request or connection that failed, and tries again after a
// tick: a refusal is quick, and a flood of them measures nothing. Without a
// port left the run ends: it would measure the wait for one.
func (h *client) fail(c *conn, step string, err error, now time.Duration) {
	h.drop(c)
	c.state, c.since = failed, now
	h.trouble = fmt.Errorf("%s: %w", step, err)
	if errors.Is(err, traffic.ErrPortsUsed) {
		h.broken = h.trouble
	}
	if h.meter.Phase() == traffic.Open {
		h.failures.Add(step, err)
	}
}

// drop closes a connection. Closing takes it out of the poll set.
func (h *client) drop(c *conn) {
	if c.fd >= 0 {
		traffic.CloseQuickly(c.fd)
	}
	c.fd = -1
}
