// Package tcpcrr is the loops of tcp_crr, a connection for each request.
package tcpcrr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// Serve answers one tcp_crr. It closes each connection first, so that
// the client keeps no port in TIME_WAIT and can reuse them all; a port that
// this end keeps in TIME_WAIT takes a new SYN (tcp_timewait_state_process).
func Serve(ctx context.Context, l *traffic.Listener, c traffic.RequestResponse) (_ traffic.Served, err error) {
	defer traffic.During("serve tcp_crr", &err)
	if c, err = checked(c); err != nil {
		return traffic.Served{}, err
	}
	r := traffic.StartRun(ctx)
	defer r.End()
	a := traffic.NewAcceptor(r, l, c.Token, traffic.GreetingLen+c.Size)
	defer a.Close()
	served, err := answerConnections(r, a, c)
	if err != nil {
		return traffic.Served{}, err
	}
	a.Close()
	served.Unauthenticated = a.Unauthenticated
	return served, nil
}

// checked fills the defaults in and refuses what can't be asked.
func checked(c traffic.RequestResponse) (traffic.RequestResponse, error) {
	c.Flows = cmp.Or(c.Flows, 1)
	switch {
	case c.Flows != 1:
		return c, fmt.Errorf("%d flows: tcp_crr is one loop", c.Flows)
	case c.Rate != 0 || c.Spin:
		return c, errors.New("a rate or spinning: tcp_crr is a closed loop that waits")
	}
	return c.Checked(1, traffic.MaxShared)
}

func answerConnections(r *traffic.Run, a *traffic.Acceptor, c traffic.RequestResponse) (traffic.Served, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var served traffic.Served
	response := traffic.RandomPayload(c.Size)
	last := -1
	defer func() {
		if last >= 0 {
			traffic.CloseSocket(last)
		}
	}()
	limit := time.Duration(traffic.Unset) // until the first connection
	lastReceived, until := limit, r.Now()+traffic.FirstFlow
	for !r.Stopped() {
		fd, first, err := a.Admit()
		if err != nil {
			return served, err
		}
		now := r.Now()
		if fd < 0 {
			if limit == traffic.Unset && now > until {
				return served, fmt.Errorf("wait for the client: %d unauthenticated peers refused: %w", a.Unauthenticated, traffic.ErrSilent)
			}
			if limit != traffic.Unset && (now > limit || now-lastReceived > traffic.DrainLimit+c.Window.Slots.Silence()) {
				return served, fmt.Errorf("the client did not end the run, after %d answers; see whether it still runs", served.Transactions)
			}
			continue
		}
		if err := traffic.SetCongestion(fd, c.Window.CC); err != nil {
			traffic.CloseSocket(fd)
			return served, err
		}
		if lastReceived = now; limit == traffic.Unset {
			limit = now + c.Window.Limit()
			if served.Congestion, err = traffic.Congestion(fd); err != nil {
				traffic.CloseSocket(fd)
				return served, err
			}
		}
		// A client that is gone sends nothing more, and that ends the run.
		_, _ = traffic.Send(fd, response, 0)
		if c.Reset { // the client has reset the one before by now
			fd, last = last, fd
		}
		if fd >= 0 {
			traffic.CloseSocket(fd)
		}
		if first[traffic.GreetingLen-1] == traffic.VerbEnd {
			return served, nil
		}
		served.Transactions++
	}
	return served, fmt.Errorf("wait for the client: %d answers given, %d unauthenticated peers refused: %w", served.Transactions, a.Unauthenticated, r.Cause(context.Canceled))
}

// Call runs one tcp_crr against a Serve: connect, one request, one
// response, FIN from the server, close; with Reset, RST from the client.
func Call(ctx context.Context, to netip.AddrPort, c traffic.RequestResponse) (_ traffic.Transactions, err error) {
	defer traffic.During("call tcp_crr", &err)
	if c, err = checked(c); err != nil {
		return traffic.Transactions{}, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := traffic.StartRun(ctx)
	defer r.End()
	k, err := newClient(r, to, c)
	if err != nil {
		return traffic.Transactions{}, err
	}
	series := traffic.StartSampler(r, k.meter)
	err = k.work()
	t := traffic.Transactions{Series: series.Finish()}
	if err != nil {
		return traffic.Transactions{}, r.Cause(err)
	}
	t.Count, t.Elapsed, t.RTT = k.meter.Counted(), k.meter.Elapsed(), k.rtt
	t.Taken.Add(k.meter)
	if k.all != nil {
		t.RTT = k.all
	}
	t.Failures, t.Congestion = k.failures.Named(), k.congestion
	return t, nil
}

// client is the client of tcp_crr.
type client struct {
	run      *traffic.Run
	family   int
	to       unix.Sockaddr
	meter    *traffic.Meter
	rtt      *traffic.Histogram // of the window, or of the slot under way
	all      *traffic.Histogram // of all slots; nil: all of the window counts
	request  []byte
	response []byte
	reset    bool
	cc       string // to set; empty: none
	failures traffic.Failures

	congestion string
	succeeded  time.Duration // when a transaction last did
}

func newClient(r *traffic.Run, to netip.AddrPort, c traffic.RequestResponse) (*client, error) {
	family, sa, err := traffic.SocketAddress(to)
	if err != nil {
		return nil, err
	}
	k := &client{
		run: r, family: family, to: sa, meter: traffic.NewMeter(traffic.NewTimetable(c.Window, 1)), rtt: traffic.NewHistogram(),
		request:  append(traffic.Greeting(c.Token, traffic.VerbFlow), traffic.RandomPayload(c.Size)...),
		response: traffic.Buffer(c.Size + 1), // the FIN may come in the same call
		reset:    c.Reset, cc: c.Window.CC,
	}
	if c.Window.Slots != nil {
		t, err := traffic.TakeTurns(r, c.Window.Slots)
		if err != nil {
			return nil, err
		}
		k.all = traffic.NewHistogram()
		k.meter.CountSlots(t, true, k.rtt, k.all)
	}
	return k, nil
}

// work runs transactions until the window has closed.
func (k *client) work() (err error) {
	restore, err := traffic.SharpenSleep()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restore()) }()
	k.succeeded = k.run.Now()
	for k.meter.Phase() != traffic.Closed && !k.run.Stopped() {
		k.succeeded += k.meter.AwaitSlot(k.run)
		begun := k.run.Now()
		answered, step, err := k.transact()
		now := k.run.Now()
		if err == nil {
			k.succeeded = now
			if k.meter.Step(traffic.Event{At: now, N: 1}) {
				k.rtt.Record(answered - begun)
			}
			continue
		}
		if errors.Is(err, unix.EADDRNOTAVAIL) { // connect(2): no port is left
			return fmt.Errorf("%s: %w", step, traffic.ErrPortsUsed)
		}
		if k.meter.Phase() == traffic.Open {
			k.failures.Add(step, err)
		}
		k.meter.Step(traffic.Event{At: now})
		if now-k.succeeded > traffic.DrainLimit {
			return fmt.Errorf("no connection succeeded for %v: %s: %w; see whether the server runs with the same token", traffic.DrainLimit, step, err)
		}
		traffic.Sleep(time.Millisecond) // a refusal is quick: do not flood
	}
	k.meter.KeepSlot()
	if k.run.Stopped() {
		return context.Canceled
	}
	k.request[traffic.GreetingLen-1] = traffic.VerbEnd
	if _, step, err := k.transact(); err != nil {
		return fmt.Errorf("end the run: %s: %w", step, err)
	}
	return nil
}

// transact runs one transaction. It gives when the response was whole, or
// which step failed.
func (k *client) transact() (answered time.Duration, step string, err error) {
	fd, err := traffic.OpenSocket(k.family, unix.SOCK_STREAM)
	if err != nil {
		return 0, "open", err
	}
	defer traffic.CloseSocket(fd)
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return 0, "open", err
	}
	if err := traffic.SetCongestion(fd, k.cc); err != nil {
		return 0, "open", err
	}
	if err := traffic.Connect(k.run, fd, k.to); err != nil {
		return 0, "connect", err
	}
	if k.congestion == "" {
		if k.congestion, err = traffic.Congestion(fd); err != nil {
			return 0, "connect", err
		}
	}
	if err := traffic.SendAll(k.run, fd, k.request); err != nil {
		return 0, "send", err
	}
	return k.receive(fd)
}

var errTooMuch = errors.New("more than the response came")

// receive reads the response and the server's FIN.
func (k *client) receive(fd int) (answered time.Duration, step string, err error) {
	limit := k.run.Now() + traffic.Grace
	size := len(k.response) - 1
	for got := 0; ; {
		n, errno := traffic.Receive(fd, k.response[got:], 0)
		now := k.run.Now()
		switch {
		case errno != 0 && !traffic.Waited(errno):
			return 0, "receive", errno
		case traffic.Waited(errno) && (now > limit || k.run.Stopped()):
			return 0, "receive", traffic.ErrSilent
		case traffic.Waited(errno):
			continue
		case n == 0 && got == size && !k.reset:
			return answered, "", nil
		case n == 0:
			return 0, "receive", traffic.ErrPeerClosed
		}
		if got += n; got > size {
			return 0, "receive", errTooMuch
		}
		if got == size {
			if answered = now; k.reset {
				return answered, "", traffic.ResetOnClose(fd)
			}
		}
	}
}
