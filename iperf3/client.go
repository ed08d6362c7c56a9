package iperf3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// Run runs one test against the iperf3 server at to. It ends within the test's
// time and some seconds, whatever the server does.
func Run(ctx context.Context, to netip.AddrPort, test Test) (Outcome, error) {
	test, err := test.checked()
	if err != nil {
		return Outcome{}, fmt.Errorf("run iperf3 test: %w", err)
	}
	dialer := net.Dialer{Timeout: patience}
	conn, err := dialer.DialContext(ctx, "tcp", to.String())
	if err != nil {
		return Outcome{}, fmt.Errorf("run iperf3 test: %w; see whether an iperf3 server listens there", err)
	}
	c := &client{to: to, test: test, control: newControl(ctx, conn.(*net.TCPConn)), cookie: newCookie()}
	defer c.control.close()
	defer func() { closeFlows(c.flows) }()
	out, err := c.run(ctx)
	if ctx.Err() != nil {
		err = fmt.Errorf("stopped: %w", context.Cause(ctx))
	}
	if err != nil {
		if c.transfer != nil {
			c.transfer.stop()
		}
		if c.agreed {
			err = errors.Join(err, ignoreClosed(c.control.sendState(clientTerminate)))
		}
		return Outcome{}, fmt.Errorf("run iperf3 test with %v: %w", to, err)
	}
	return out, nil
}

// ignoreClosed drops what goes wrong with a peer that is already gone.
func ignoreClosed(err error) error {
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// client is one test at the client's end.
type client struct {
	to       netip.AddrPort
	test     Test
	control  *control
	cookie   cookie
	p        parameters
	flows    []*flow
	agreed   bool // the server took the parameters
	transfer *transfer
	waited   time.Duration // for the last datagrams, before the server knew of the end
	out      Outcome
}

func (c *client) run(ctx context.Context) (Outcome, error) {
	if err := c.agree(ctx); err != nil {
		return Outcome{}, err
	}
	c.transfer = newTransfer(c.p, c.flows, true)
	if err := c.expect(testStart, "its start of the test"); err != nil {
		return Outcome{}, err
	}
	c.out.Started = time.Now()
	if err := c.expect(testRunning, "its signal to send"); err != nil {
		return Outcome{}, err
	}
	if err := c.transfer.start(); err != nil {
		return Outcome{}, err
	}
	if err := c.measure(ctx); err != nil {
		return Outcome{}, err
	}
	return c.exchange()
}

// agree introduces the client, and opens the flows that the server waits for.
func (c *client) agree(ctx context.Context) error {
	if err := c.control.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := c.control.conn.Write(c.cookie[:]); err != nil {
		return fmt.Errorf("introduce this client: %w", err)
	}
	if err := c.expect(paramExchange, "a word of welcome; see whether it is an iperf3 server"); err != nil {
		return err
	}
	mss, err := segmentSize(c.control.conn)
	if err != nil {
		return err
	}
	c.p = c.test.parameters()
	c.p.fill(mss)
	c.test.Size = int(c.p.Len)
	if err := c.control.sendJSON(c.p); err != nil {
		return err
	}
	if err := c.expect(createStreams, "its consent to the parameters"); err != nil {
		return err
	}
	c.agreed = true
	for i := range c.p.flows() {
		f, err := dialFlow(ctx, c.to, c.p, c.cookie)
		if err != nil {
			return fmt.Errorf("open flow %d of %d: %w", i+1, c.p.flows(), err)
		}
		c.flows = append(c.flows, f)
	}
	numberFlows(c.flows, c.p, true)
	return c.describe(mss)
}

// describe notes what the outcome holds of the test's beginning.
func (c *client) describe(mss int) (err error) {
	c.out = Outcome{Test: c.test, Server: c.to, Cookie: c.cookie.String(), MSS: mss}
	first := c.flows[0].socket
	if !c.test.UDP {
		if c.out.Congestion, err = traffic.Congestion(first); err != nil {
			return err
		}
	}
	if c.out.SendBuffer, err = unix.GetsockoptInt(first, unix.SOL_SOCKET, unix.SO_SNDBUF); err == nil {
		c.out.ReadBuffer, err = unix.GetsockoptInt(first, unix.SOL_SOCKET, unix.SO_RCVBUF)
	}
	return err
}

// segmentSize is the MSS of a connection.
func segmentSize(conn syscall.Conn) (mss int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Control(func(fd uintptr) {
		mss, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_MAXSEG)
	})
	if err = errors.Join(failed, err); err != nil {
		return 0, fmt.Errorf("read TCP_MAXSEG: %w", err)
	}
	return mss, nil
}

// expect waits for the server's next state, which must be this one.
func (c *client) expect(want state, what string) error {
	got, err := c.control.receiveState(patience)
	if err != nil {
		return fmt.Errorf("wait for %s: %w", what, err)
	}
	return c.check(got, want)
}

// check returns an error for a state of the server that is not the expected one.
func (c *client) check(got, want state) error {
	switch got {
	case want:
		return nil
	case accessDenied:
		return errors.New("the server is busy with another test: try again when that is over")
	case serverTerminate:
		return errors.New("the server was ended: start it again")
	case serverError:
		return c.serverError()
	}
	return fmt.Errorf("the server sent %#x where iperf3 sends %d: see what listens there", byte(got), want)
}

// measure lets the test run to its end.
func (c *client) measure(ctx context.Context) error {
	t := c.transfer
	next := c.listen()
	watch := newStall(c.p, t)
	ends := t.omit + c.test.Duration
	for steps := 1; ; {
		due, opens := c.nextReading(&steps)
		atEnd := c.test.Duration > 0 && due >= ends
		if atEnd {
			due = ends
		}
		wake := min(due-t.now(), stallStep)
		select {
		case <-time.After(max(wake, 0)):
		case <-t.spent:
			return c.end(next)
		case err := <-t.failure:
			return c.serverReason(next, err)
		case got := <-next:
			return c.interrupted(got)
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := watch.check(t); err != nil {
			return err
		}
		if t.now() < due {
			continue
		}
		if atEnd {
			return c.end(next)
		}
		if err := c.step(opens); err != nil {
			return err
		}
		if !opens {
			steps++
		}
	}
}

// nextReading returns when to read the counters next, and whether the figures
// begin there. Steps count from the last such time.
func (c *client) nextReading(steps *int) (due time.Duration, opens bool) {
	t := c.transfer
	opening, _ := t.watched.window()
	if t.omit > 0 && !opening.opens {
		due = time.Duration(*steps) * c.test.Interval
		if due >= t.omit {
			*steps = 1
			return t.omit, true
		}
		return due, false
	}
	return opening.at + time.Duration(*steps)*c.test.Interval, false
}

// step takes a reading and hands on the interval that it closes.
func (c *client) step(opens bool) error {
	if err := c.transfer.read(opens); err != nil {
		return err
	}
	c.note()
	return nil
}

// note adds the interval that the last reading closed.
func (c *client) note() {
	i := c.transfer.interval()
	c.out.Intervals = append(c.out.Intervals, i)
	if c.test.Each != nil {
		c.test.Each(i)
	}
}

// received is the server's next state, or why there is none.
type received struct {
	state state
	err   error
}

// listen receives the server's next state during the test.
func (c *client) listen() <-chan received {
	next := make(chan received, 1)
	go func() {
		got, err := c.control.receiveState(0)
		next <- received{got, err}
	}()
	return next
}

// interrupted names what ended a test before its time.
func (c *client) interrupted(got received) error {
	if got.err != nil {
		return fmt.Errorf("the server went away in the middle of the test: %w", got.err)
	}
	if err := c.check(got.state, testEnd); err != nil {
		return err
	}
	return errors.New("the server ended the test, which is for the client to do: see whether it is iperf3")
}

// serverReason is the server's own reason if it sends one, else err: what happened to
// a flow.
func (c *client) serverReason(next <-chan received, err error) error {
	select {
	case got := <-next:
		if got.err == nil {
			return c.interrupted(got)
		}
	case <-time.After(patience / 50):
	}
	return err
}

// end ends the test, and waits for the server to have noticed.
func (c *client) end(next <-chan received) error {
	t := c.transfer
	if t.limited && !c.test.UDP {
		c.awaitAcknowledged()
	}
	if err := t.rest(); err != nil {
		return err
	}
	c.note()
	used, err := processUsage()
	if err != nil {
		return err
	}
	c.out.CPU = used.since(t.cpu)
	if !c.test.Reverse && (c.test.UDP || t.limited) {
		// The server counts no more once it knows, even what it has not read yet.
		c.waited = quietTime(c.roundTrip())
		time.Sleep(c.waited)
	}
	if err := c.control.sendState(testEnd); err != nil {
		return err
	}
	select {
	case got := <-next:
		if got.err != nil {
			return fmt.Errorf("wait for the server to end the test: %w", got.err)
		}
		return c.check(got.state, exchangeResults)
	case <-time.After(exchangePatience):
		return fmt.Errorf("wait for the server to end the test: %w within %v", errSilent, exchangePatience)
	}
}

// roundTrip is that of the control connection; 0 if the kernel does not report it.
func (c *client) roundTrip() (rtt time.Duration) {
	raw, err := c.control.conn.SyscallConn()
	if err != nil {
		return 0
	}
	if raw.Control(func(fd uintptr) {
		if info, failed := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); failed == nil {
			rtt = time.Duration(info.Rtt) * time.Microsecond
		}
	}) != nil {
		return 0
	}
	return min(rtt, time.Second)
}

// awaitAcknowledged waits until the server has all of a test of so many bytes:
// its time is that of their delivery.
func (c *client) awaitAcknowledged() {
	last, since := -1, time.Now()
	for time.Since(since) < patience {
		queued := c.transfer.queued()
		if queued == 0 {
			return
		}
		if queued != last {
			last, since = queued, time.Now()
		}
		time.Sleep(200 * time.Microsecond)
	}
}
