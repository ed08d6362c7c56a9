package traffic

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// RequestResponse is a closed loop of requests and responses: tcp_rr, tcp_crr
// or udp_rr. The client owns the window.
type RequestResponse struct {
	Token  Token
	Window Window
	Flows  int // connections that each run a loop; default 1; tcp_crr: always 1

	// Size is the payload bytes of a request and of a response. Default 1 for
	// TCP; tcp_crr sends the greeting of 17 bytes before the request. A
	// datagram carries its header: default and least HeaderBytes for UDP.
	Size int

	// Timeout is how long a request of udp_rr may be unanswered before it is
	// counted as lost and sent again. Default 100 ms. TCP has its own.
	Timeout time.Duration
}

// Transactions is the client's outcome. It counts the transactions that ended
// inside the window.
type Transactions struct {
	Count   int64
	Elapsed time.Duration

	// RTT is the full round trip of each of them, from before the request's
	// send call to its whole response; for tcp_crr from before the connect
	// call. A request that was lost and sent again counts from its first
	// sending.
	RTT *Histogram

	Lost       int64            // requests of udp_rr that nobody answered in time
	Failures   map[string]int64 // connections of tcp_crr that failed, by cause
	Congestion string           // of TCP, the congestion control read back
	Series     []Point
}

// Rate is the transactions per second.
func (t Transactions) Rate() float64 { return float64(t.Count) / t.Elapsed.Seconds() }

// Served is the server's outcome: all that it answered, window or not.
type Served struct {
	Transactions int64
	Strangers    int64  // connections or datagrams without the token
	Congestion   string // of TCP, the congestion control read back
}

const (
	defaultTimeout = 100 * time.Millisecond
	maxRequest     = 1 << 20
	// maxShared is the largest request with several flows: one that both
	// sockets' buffers hold, since one thread serves all flows and may not
	// wait for one of them.
	maxShared = 16 << 10
)

// checked fills the defaults in, for requests of least to most bytes.
func (c RequestResponse) checked(least, most int) (RequestResponse, error) {
	c.Flows = orDefault(c.Flows, 1)
	c.Size = orDefault(c.Size, least)
	c.Timeout = orDefault(c.Timeout, defaultTimeout)
	if c.Flows > 1 {
		most = min(most, maxShared)
	}
	switch {
	case c.Flows < 1 || c.Flows > maxFlows:
		return c, fmt.Errorf("%d flows: want 1 to %d", c.Flows, maxFlows)
	case c.Size < least || c.Size > most:
		return c, fmt.Errorf("requests of %d bytes on %d flows: want %d to %d", c.Size, c.Flows, least, most)
	case c.Timeout < tick || c.Timeout > time.Second:
		return c, fmt.Errorf("timeout of %v: want %v to 1s", c.Timeout, tick)
	}
	return c, c.Window.check(c.Flows)
}

// dialogue is the client's side of one flow.
type dialogue interface {
	// ask sends a new request.
	ask(r *run) error
	// hear receives once, and tells whether the response is now whole. A wait
	// that ended without data is errQuiet.
	hear(flags int) (bool, error)
}

// errQuiet says that a wait ended without an event.
var errQuiet = errors.New("nothing came")

// loop is a dialogue and its open request.
type loop struct {
	dialogue
	first time.Duration // when the open request was sent first
	last  time.Duration // and last
}

// closedLoop runs the dialogues until the window has closed.
type closedLoop struct {
	run     *run
	loops   []loop
	table   *timetable
	meter   *meter
	rtt     *Histogram
	timeout time.Duration // zero: requests are never lost
	lost    int64
	looked  time.Duration // when all flows were looked at
	limit   time.Duration
}

// call runs the dialogues on fds through the window.
func call(r *run, w Window, fds []int, dialogues []dialogue, timeout time.Duration) (Transactions, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	table := newTimetable(w, 1)
	c := &closedLoop{run: r, table: table, meter: newMeter(table), rtt: NewHistogram(), timeout: timeout}
	for _, d := range dialogues {
		c.loops = append(c.loops, loop{dialogue: d})
	}
	series := startSampler(r, table, c.meter)
	c.limit = r.now() + table.limit()
	err := c.work(fds)
	t := Transactions{Series: series.finish()}
	if err != nil {
		return Transactions{}, r.cause(err)
	}
	t.Count, t.Elapsed, t.RTT, t.Lost = c.meter.counted, c.meter.elapsed(), c.rtt, c.lost
	return t, nil
}

func (c *closedLoop) work(fds []int) error {
	now := c.run.now()
	for i := range c.loops {
		if err := c.ask(&c.loops[i], now); err != nil {
			return err
		}
	}
	if len(fds) == 1 {
		return c.alone()
	}
	return c.together(fds)
}

// alone waits in the receive call of the only flow.
func (c *closedLoop) alone() error {
	for c.meter.phase != closed {
		if err := c.turn(&c.loops[0], 0); err != nil {
			return err
		}
	}
	return nil
}

// together waits for all flows at once, on one thread.
func (c *closedLoop) together(fds []int) error {
	set, err := openPollSet(fds)
	if err != nil {
		return err
	}
	defer closeSocket(set.fd)
	for c.meter.phase != closed {
		ready, err := set.wait()
		if err != nil {
			return err
		}
		for _, event := range ready {
			if err := c.turn(&c.loops[event.Fd], unix.MSG_DONTWAIT); err != nil {
				return err
			}
		}
		if now := c.run.now(); now-c.looked >= tick {
			c.looked = now
			if err := c.look(now); err != nil {
				return err
			}
		}
	}
	return nil
}

// look sees which flows have waited for long, once a tick.
func (c *closedLoop) look(now time.Duration) error {
	for i := range c.loops {
		if err := c.quiet(&c.loops[i], now); err != nil {
			return err
		}
	}
	return nil
}

// turn receives once on a flow, and asks again if its response is whole.
func (c *closedLoop) turn(l *loop, flags int) error {
	whole, err := l.hear(flags)
	now := c.run.now()
	switch {
	case err == errQuiet:
		return c.quiet(l, now)
	case err != nil:
		return fmt.Errorf("receive response %d: %w; see what the server reported", c.meter.sum+1, err)
	case c.run.stopped.Load():
		return context.Canceled
	case !whole:
		return nil
	}
	if c.meter.step(event{at: now, n: 1}) {
		c.rtt.Record(now - l.first)
	}
	if c.meter.phase == closed {
		return nil
	}
	return c.ask(l, now)
}

func (c *closedLoop) ask(l *loop, now time.Duration) error {
	l.first, l.last = now, now
	return c.send(l)
}

func (c *closedLoop) send(l *loop) error {
	if err := l.ask(c.run); err != nil {
		return fmt.Errorf("send request %d: %w; see what the server reported", c.meter.sum+1, err)
	}
	return nil
}

// quiet takes a wait that brought nothing: it sends a lost request again and
// ends what has lasted too long.
func (c *closedLoop) quiet(l *loop, now time.Duration) error {
	c.meter.step(event{at: now})
	switch {
	case c.run.stopped.Load():
		return context.Canceled
	case c.meter.phase == closed:
		return nil
	case now > c.limit:
		return fmt.Errorf("the server answered %d requests and then no more; see whether it still runs", c.meter.sum)
	case c.timeout == 0 || now-l.last < c.timeout:
		return nil
	}
	if c.meter.phase == open {
		c.lost++
	}
	l.last = now
	return c.send(l)
}

// pollSet waits for several sockets at once (epoll, level-triggered). The Fd
// of an event is the socket's index.
type pollSet struct {
	fd     int
	events []unix.EpollEvent
}

func openPollSet(fds []int) (*pollSet, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("open epoll: %w", err)
	}
	for i, each := range fds {
		event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)}
		if err := unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, each, &event); err != nil {
			closeSocket(fd)
			return nil, fmt.Errorf("add flow to epoll: %w", err)
		}
	}
	return &pollSet{fd: fd, events: make([]unix.EpollEvent, min(len(fds), 64))}, nil
}

// wait gives the sockets that have something, none after a tick.
func (s *pollSet) wait() ([]unix.EpollEvent, error) {
	n, errno := blocking(unix.SYS_EPOLL_PWAIT, uintptr(s.fd), uintptr(unsafe.Pointer(&s.events[0])),
		uintptr(len(s.events)), uintptr(tick/time.Millisecond), 0, 0)
	if errno != 0 && errno != unix.EINTR {
		return nil, fmt.Errorf("wait for flows: %w", errno)
	}
	return s.events[:max(n, 0)], nil
}
