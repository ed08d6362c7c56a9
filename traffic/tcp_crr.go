package traffic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// ServeTCPCRR answers one tcp_crr. It closes each connection first, so that
// the client keeps no port in TIME_WAIT and can reuse them all; a port that
// this end keeps in TIME_WAIT takes a new SYN (tcp_timewait_state_process).
func ServeTCPCRR(ctx context.Context, l *Listener, c RequestResponse) (_ Served, err error) {
	defer during("serve tcp_crr", &err)
	if c, err = c.checkedCRR(); err != nil {
		return Served{}, err
	}
	r := startRun(ctx)
	defer r.end()
	a := newAcceptor(r, l, c.Token, greetingLen+c.Size)
	defer a.close()
	served, err := answerConnections(a, c)
	if err != nil {
		return Served{}, err
	}
	a.close()
	served.Unauthenticated = a.unauthenticated
	return served, nil
}

func (c RequestResponse) checkedCRR() (RequestResponse, error) {
	c.Flows = cmp.Or(c.Flows, 1)
	switch {
	case c.Flows != 1:
		return c, fmt.Errorf("%d flows: tcp_crr is one loop", c.Flows)
	case c.Rate != 0 || c.Spin:
		return c, errors.New("a rate or spinning: tcp_crr is a closed loop that waits")
	}
	return c.checked(1, maxShared)
}

func answerConnections(a *acceptor, c RequestResponse) (Served, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var served Served
	response := randomBytes(c.Size)
	last := -1
	defer func() {
		if last >= 0 {
			closeSocket(last)
		}
	}()
	limit := time.Duration(unset) // until the first connection
	lastReceived, until := limit, a.run.now()+firstFlow
	for !a.run.stopped.Load() {
		fd, first, err := a.admit()
		if err != nil {
			return served, err
		}
		now := a.run.now()
		if fd < 0 {
			if limit == unset && now > until {
				return served, fmt.Errorf("wait for the client: %d unauthenticated peers refused: %w", a.unauthenticated, errSilent)
			}
			if limit != unset && (now > limit || now-lastReceived > drainLimit+c.Window.Slots.rest()) {
				return served, fmt.Errorf("the client did not end the run, after %d answers; see whether it still runs", served.Transactions)
			}
			continue
		}
		if err := setCongestion(fd, c.Window.CC); err != nil {
			closeSocket(fd)
			return served, err
		}
		if lastReceived = now; limit == unset {
			limit = now + c.Window.limit()
			if served.Congestion, err = congestion(fd); err != nil {
				closeSocket(fd)
				return served, err
			}
		}
		// A client that is gone sends nothing more, and that ends the run.
		_, _ = send(fd, response, 0)
		if c.Reset { // the client has reset the one before by now
			fd, last = last, fd
		}
		if fd >= 0 {
			closeSocket(fd)
		}
		if first[greetingLen-1] == verbEnd {
			return served, nil
		}
		served.Transactions++
	}
	return served, fmt.Errorf("wait for the client: %d answers given, %d unauthenticated peers refused: %w", served.Transactions, a.unauthenticated, a.run.cause(context.Canceled))
}

// CallTCPCRR runs one tcp_crr against a ServeTCPCRR: connect, one request, one
// response, FIN from the server, close; with Reset, RST from the client.
func CallTCPCRR(ctx context.Context, to netip.AddrPort, c RequestResponse) (_ Transactions, err error) {
	defer during("call tcp_crr", &err)
	if c, err = c.checkedCRR(); err != nil {
		return Transactions{}, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := startRun(ctx)
	defer r.end()
	k, err := newCRRClient(r, to, c)
	if err != nil {
		return Transactions{}, err
	}
	series := startSampler(r, k.table, k.meter)
	err = k.work()
	t := Transactions{Series: series.finish()}
	if err != nil {
		return Transactions{}, r.cause(err)
	}
	t.Count, t.Elapsed, t.RTT = k.meter.counted, k.meter.elapsed(), k.rtt
	t.Taken.add(k.meter)
	if k.all != nil {
		t.RTT = k.all
	}
	t.Failures, t.Congestion = k.failures.named(), k.congestion
	return t, nil
}

// crrClient is the client of tcp_crr.
type crrClient struct {
	run      *run
	family   int
	to       unix.Sockaddr
	table    *timetable
	meter    *meter
	rtt      *Histogram // of the window, or of the slot under way
	all      *Histogram // of all slots; nil: all of the window counts
	request  []byte
	response []byte
	reset    bool
	cc       string // to set; empty: none
	failures failures

	congestion string
	succeeded  time.Duration // when a transaction last did
}

func newCRRClient(r *run, to netip.AddrPort, c RequestResponse) (*crrClient, error) {
	family, sa, err := socketAddress(to)
	if err != nil {
		return nil, err
	}
	table := newTimetable(c.Window, 1)
	k := &crrClient{
		run: r, family: family, to: sa, table: table, meter: newMeter(table), rtt: NewHistogram(),
		request:  append(greeting(c.Token, verbFlow), randomBytes(c.Size)...),
		response: prefaulted(c.Size + 1), // the FIN may come in the same call
		reset:    c.Reset, cc: c.Window.CC,
	}
	if c.Window.Slots != nil {
		t, err := takeTurns(r, c.Window.Slots)
		if err != nil {
			return nil, err
		}
		k.all = NewHistogram()
		k.meter.countSlots(t, true, k.rtt, k.all)
	}
	return k, nil
}

// work runs transactions until the window has closed.
func (k *crrClient) work() (err error) {
	restore, err := sharpenSleep()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restore()) }()
	k.succeeded = k.run.now()
	for k.meter.phase != closed && !k.run.stopped.Load() {
		k.awaitSlot()
		begun := k.run.now()
		answered, step, err := k.transact()
		now := k.run.now()
		if err == nil {
			k.succeeded = now
			if k.meter.step(event{at: now, n: 1}) {
				k.rtt.Record(answered - begun)
			}
			continue
		}
		if errors.Is(err, unix.EADDRNOTAVAIL) { // connect(2): no port is left
			return fmt.Errorf("%s: %w", step, errPortsUsed)
		}
		if k.meter.phase == open {
			k.failures.add(step, err)
		}
		k.meter.step(event{at: now})
		if now-k.succeeded > drainLimit {
			return fmt.Errorf("no connection succeeded for %v: %s: %w; see whether the server runs with the same token", drainLimit, step, err)
		}
		sleep(time.Millisecond) // a refusal is quick: do not flood
	}
	k.meter.keepSlot()
	if k.run.stopped.Load() {
		return context.Canceled
	}
	k.request[greetingLen-1] = verbEnd
	if _, step, err := k.transact(); err != nil {
		return fmt.Errorf("end the run: %s: %w", step, err)
	}
	return nil
}

// awaitSlot waits for the run's turn, where it has turns.
func (k *crrClient) awaitSlot() {
	now := k.run.now()
	if !k.meter.atRest(now) {
		return
	}
	k.meter.keepSlot()
	k.meter.slots.rest(k.run)
	k.succeeded += k.run.now() - now
}

// transact runs one transaction. It gives when the response was whole, or
// which step failed.
func (k *crrClient) transact() (answered time.Duration, step string, err error) {
	fd, err := openSocket(k.family, unix.SOCK_STREAM)
	if err != nil {
		return 0, "open", err
	}
	defer closeSocket(fd)
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return 0, "open", err
	}
	if err := setCongestion(fd, k.cc); err != nil {
		return 0, "open", err
	}
	if err := connect(k.run, fd, k.to); err != nil {
		return 0, "connect", err
	}
	if k.congestion == "" {
		if k.congestion, err = congestion(fd); err != nil {
			return 0, "connect", err
		}
	}
	if err := sendAll(k.run, fd, k.request); err != nil {
		return 0, "send", err
	}
	return k.receive(fd)
}

var errTooMuch = errors.New("more than the response came")

// receive reads the response and the server's FIN.
func (k *crrClient) receive(fd int) (answered time.Duration, step string, err error) {
	limit := k.run.now() + grace
	size := len(k.response) - 1
	for got := 0; ; {
		n, errno := recv(fd, k.response[got:], 0)
		now := k.run.now()
		switch {
		case errno != 0 && !again(errno):
			return 0, "receive", errno
		case again(errno) && (now > limit || k.run.stopped.Load()):
			return 0, "receive", errSilent
		case again(errno):
			continue
		case n == 0 && got == size && !k.reset:
			return answered, "", nil
		case n == 0:
			return 0, "receive", errPeerClosed
		}
		if got += n; got > size {
			return 0, "receive", errTooMuch
		}
		if got == size {
			if answered = now; k.reset {
				return answered, "", resetOnClose(fd)
			}
		}
	}
}

// resetOnClose makes closing the connection end it at once by RST, at both
// ends, without TIME_WAIT.
func resetOnClose(fd int) error {
	if err := unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}); err != nil {
		return fmt.Errorf("set linger: %w", err)
	}
	return nil
}
