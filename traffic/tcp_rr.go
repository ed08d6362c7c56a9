package traffic

import (
	"context"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A request begins with one of these bytes.
const (
	requestByte = 'r'
	endByte     = 'e' // alone, and the last byte of the flow
)

// ServeTCPRR answers one tcp_rr.
func ServeTCPRR(ctx context.Context, l *Listener, c RequestResponse) (_ Served, err error) {
	defer during("serve tcp_rr", &err)
	if c, err = c.checked(1, maxRequest); err != nil {
		return Served{}, err
	}
	r := startRun(ctx)
	defer r.end()
	a := newAcceptor(r, l, c.Token, greetingLen)
	defer a.close()
	fds, err := a.acceptUnder(c.Window.CC, c.Flows)
	if err != nil {
		return Served{}, err
	}
	name, err := congestion(fds[0])
	if err != nil {
		closeSockets(fds)
		return Served{}, err
	}
	answered, err := answer(r, fds, c)
	if err != nil {
		return Served{}, r.cause(err)
	}
	a.close()
	return Served{Transactions: answered, Unauthenticated: a.unauthenticated, Congestion: name}, nil
}

// answerer is a thread of the server of tcp_rr, with its share of the flows.
type answerer struct {
	run      *run
	flows    []answerFlow
	ended    int
	response []byte
	answered int64
	flags    int // of each receive call of a flow that is alone
	spins    spins
	window   Window
	limit    time.Duration // from the first request on: a client that is held up before it is not silent
}

type answerFlow struct {
	fd      int
	got     int
	request []byte
}

// answer serves the flows on a thread for each CPU that there is.
func answer(r *run, fds []int, c RequestResponse) (answered int64, err error) {
	var threads []*answerer
	for _, share := range distribute(fds, min(len(fds), cpus())) {
		a := &answerer{run: r, response: randomBytes(c.Size), window: c.Window, limit: r.now() + c.Window.limit()}
		if c.Spin {
			a.flags = unix.MSG_DONTWAIT
		}
		for _, fd := range share {
			a.flows = append(a.flows, answerFlow{fd: fd, request: prefaulted(c.Size)})
		}
		threads = append(threads, a)
	}
	err = onThreads(r, len(threads), func(i int) error { return threads[i].work() })
	for _, a := range threads {
		answered += a.answered
		a.close()
	}
	return answered, err
}

func (a *answerer) work() error {
	if len(a.flows) == 1 {
		return a.alone()
	}
	fds := make([]int, len(a.flows))
	for i, f := range a.flows {
		fds[i] = f.fd
	}
	set, err := openPollSet(fds)
	if err != nil {
		return err
	}
	defer closeSocket(set.fd)
	for a.ended < len(a.flows) {
		ready, err := set.wait(a.flags != 0)
		if err != nil {
			return err
		}
		for _, event := range ready {
			f := &a.flows[event.Fd]
			n, errno := recv(f.fd, f.request[f.got:], unix.MSG_DONTWAIT)
			if err := a.turn(int(event.Fd), n, errno); err != nil {
				return err
			}
		}
		if len(ready) == 0 {
			if err := a.quiet(); err != nil {
				return err
			}
		}
	}
	return nil
}

// alone waits in the receive call of the only flow, without a timeout.
func (a *answerer) alone() error {
	f := &a.flows[0]
	if err := setTimeout(f.fd, 0); err != nil {
		return err
	}
	if err := a.begin(f); err != nil {
		return err
	}
	watch := startGuard(a.run, []int{f.fd}, a.limit)
	defer watch.end()
	for a.ended == 0 {
		n, errno := a.exchange(f)
		if err := a.turn(0, n, errno); err != nil {
			return err
		}
	}
	return nil
}

// begin takes what comes first on the only flow.
func (a *answerer) begin(f *answerFlow) error {
	watch := startGuard(a.run, []int{f.fd}, a.limit)
	defer watch.end()
	for a.ended == 0 && a.answered == 0 {
		n, errno := recv(f.fd, f.request[f.got:], a.flags)
		if err := a.turn(0, n, errno); err != nil {
			return err
		}
	}
	return nil
}

// exchange receives and answers as long as each call takes just one request,
// and gives what it received last.
func (a *answerer) exchange(f *answerFlow) (int, syscall.Errno) {
	for {
		n, errno := recv(f.fd, f.request[f.got:], a.flags)
		if n < len(f.request) || f.request[0] != requestByte {
			return n, errno
		}
		if m, errno := send(f.fd, a.response, 0); m < len(a.response) {
			if errno != 0 || sendAll(a.run, f.fd, a.response[m:]) != nil {
				return n, 0 // turn sends again and names what is wrong
			}
		}
		a.answered++
	}
}

// turn takes what was received on flow i and answers a whole request.
func (a *answerer) turn(i, n int, errno syscall.Errno) error {
	f := &a.flows[i]
	switch {
	case again(errno):
		return a.quiet()
	case errno != 0:
		return fmt.Errorf("receive request on flow %d after %d answers: %w; see what the client reported", i+1, a.answered, errno)
	case n == 0 && a.quiet() != nil: // the guard shut the connection
		return a.quiet()
	case n == 0:
		return fmt.Errorf("the client closed flow %d in the middle of the run, after %d answers; see what it reported", i+1, a.answered)
	}
	f.got += n
	if f.request[0] == endByte {
		a.end(f)
		return nil
	}
	if f.got < len(f.request) {
		return nil
	}
	f.got = 0
	if a.answered == 0 {
		a.limit = a.run.now() + a.window.limit()
	}
	if err := sendAll(a.run, f.fd, a.response); err != nil {
		return fmt.Errorf("answer on flow %d after %d answers: %w; see what the client reported", i+1, a.answered, err)
	}
	if a.answered++; a.answered%64 == 0 || a.run.stopped.Load() {
		return a.quiet()
	}
	return nil
}

// end closes a flow whose client reported that it is done. Closing takes it out
// of the poll set.
func (a *answerer) end(f *answerFlow) {
	a.ended++
	closeSocket(f.fd)
	f.fd = -1
}

// close closes the flows that have not ended.
func (a *answerer) close() {
	for _, f := range a.flows {
		if f.fd >= 0 {
			closeSocket(f.fd)
		}
	}
}

// quiet ends what has lasted too long.
func (a *answerer) quiet() error {
	if a.flags != 0 {
		a.spins.again()
	}
	switch {
	case a.run.stopped.Load():
		return context.Canceled
	case a.run.now() > a.limit:
		return fmt.Errorf("the client did not end the run, after %d answers; see whether it still runs", a.answered)
	}
	return nil
}

// CallTCPRR runs one tcp_rr against a ServeTCPRR.
func CallTCPRR(ctx context.Context, to netip.AddrPort, c RequestResponse) (_ Transactions, err error) {
	defer during("call tcp_rr", &err)
	if c, err = c.checked(1, maxRequest); err != nil {
		return Transactions{}, err
	}
	r := startRun(ctx)
	defer r.end()
	fds, err := dialFlows(r, to, c.Token, c.Flows, c.Window.CC)
	if err != nil {
		return Transactions{}, err
	}
	defer closeSockets(fds)
	name, err := congestion(fds[0])
	if err != nil {
		return Transactions{}, err
	}
	request := append([]byte{requestByte}, randomBytes(c.Size-1)...)
	var loops []loop
	var flows []openFlow
	for _, fd := range fds {
		if c.Rate > 0 {
			flows = append(flows, newOpenFlow(fd, nil, request))
			continue
		}
		loops = append(loops, loop{fd: fd, dialogue: &tcpDialogue{fd: fd, request: request, response: prefaulted(c.Size)}})
	}
	c.Timeout = 0
	t, err := callLoops(r, c, loops, flows)
	if err == nil {
		err = endFlows(r, fds)
	}
	if err != nil {
		return Transactions{}, err
	}
	t.Congestion = name
	return t, nil
}

// endFlows reports to the server that the run is over, after the requests that are
// still open, and waits until it has closed.
func endFlows(r *run, fds []int) error {
	for _, fd := range fds {
		if err := sendAll(r, fd, []byte{endByte}); err != nil {
			return fmt.Errorf("end flow: %w; see what the server reported", err)
		}
		if err := unix.Shutdown(fd, unix.SHUT_WR); err != nil {
			return fmt.Errorf("end flow: %w", err)
		}
	}
	limit := r.now() + drainLimit
	for _, fd := range fds {
		awaitClose(r, fd, limit)
	}
	return nil
}

// tcpDialogue is a flow of tcp_rr.
type tcpDialogue struct {
	fd       int
	got      int
	request  []byte
	response []byte
}

func (d *tcpDialogue) ask(r *run) (int, error) { return d.fd, sendAll(r, d.fd, d.request) }

func (d *tcpDialogue) receive(flags int) (bool, error) {
	return d.received(recv(d.fd, d.response[d.got:], flags))
}

func (d *tcpDialogue) received(n int, errno syscall.Errno) (bool, error) {
	switch {
	case again(errno):
		return false, errQuiet
	case errno != 0:
		return false, errno
	case n == 0:
		return false, errPeerClosed
	}
	if d.got += n; d.got < len(d.response) {
		return false, nil
	}
	d.got = 0
	return true, nil
}

func (d *tcpDialogue) exchange(c *closedLoop, l *loop) (bool, error) {
	for {
		n, errno := recv(d.fd, d.response[d.got:], c.flags)
		if n < len(d.response) || !c.pass(l, c.run.now()) {
			return d.received(n, errno)
		}
		if n, errno := send(d.fd, d.request, 0); n < len(d.request) {
			if errno != 0 && !again(errno) {
				return false, errno
			}
			if err := sendAll(c.run, d.fd, d.request[n:]); err != nil {
				return false, err
			}
		}
	}
}
