package traffic

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// A request begins with one of these bytes.
const (
	requestByte = 'r'
	endByte     = 'e' // alone, and the last byte of the flow
)

// ServeTCPRR answers one tcp_rr.
func ServeTCPRR(ctx context.Context, l *Listener, c RequestResponse) (Served, error) {
	c, err := c.checked(1, maxRequest)
	if err != nil {
		return Served{}, fmt.Errorf("serve tcp_rr: %w", err)
	}
	r := startRun(ctx)
	defer r.end()
	d := openDoor(r, l, c.Token, greetingLen)
	defer d.shut()
	fds, err := d.admitFlows(c.Flows)
	if err != nil {
		return Served{}, fmt.Errorf("serve tcp_rr: %w", err)
	}
	a := &answerer{run: r, response: randomBytes(c.Size), limit: r.now() + c.Window.limit()}
	for _, fd := range fds {
		a.flows = append(a.flows, answerFlow{fd: fd, request: touched(c.Size)})
	}
	defer a.close()
	name, err := congestion(fds[0])
	if err != nil {
		return Served{}, fmt.Errorf("serve tcp_rr: %w", err)
	}
	if err := a.work(fds); err != nil {
		return Served{}, fmt.Errorf("serve tcp_rr: %w", r.cause(err))
	}
	d.shut()
	return Served{Transactions: a.answered, Strangers: d.strangers, Congestion: name}, nil
}

// answerer is the server of tcp_rr: one thread for all flows.
type answerer struct {
	run      *run
	flows    []answerFlow
	ended    int
	response []byte
	answered int64
	limit    time.Duration
}

type answerFlow struct {
	fd      int
	got     int
	request []byte
}

func (a *answerer) work(fds []int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if len(fds) == 1 {
		for a.ended == 0 {
			if err := a.turn(0, 0); err != nil {
				return err
			}
		}
		return nil
	}
	set, err := openPollSet(fds)
	if err != nil {
		return err
	}
	defer closeSocket(set.fd)
	for a.ended < len(fds) {
		ready, err := set.wait()
		if err != nil {
			return err
		}
		for _, event := range ready {
			if err := a.turn(int(event.Fd), unix.MSG_DONTWAIT); err != nil {
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

// turn receives once on flow i and answers a whole request.
func (a *answerer) turn(i, flags int) error {
	f := &a.flows[i]
	n, errno := recv(f.fd, f.request[f.got:], flags)
	switch {
	case again(errno):
		return a.quiet()
	case errno != 0:
		return fmt.Errorf("receive request on flow %d after %d answers: %w; see what the client reported", i+1, a.answered, errno)
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
	if err := sendAll(a.run, f.fd, a.response); err != nil {
		return fmt.Errorf("answer on flow %d after %d answers: %w; see what the client reported", i+1, a.answered, err)
	}
	if a.answered++; a.answered%64 == 0 || a.run.stopped.Load() {
		return a.quiet()
	}
	return nil
}

// end closes a flow whose client said that it is done. Closing takes it out
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
	switch {
	case a.run.stopped.Load():
		return context.Canceled
	case a.run.now() > a.limit:
		return fmt.Errorf("the client did not end the run, after %d answers; see whether it still runs", a.answered)
	}
	return nil
}

// CallTCPRR runs one tcp_rr against a ServeTCPRR.
func CallTCPRR(ctx context.Context, to netip.AddrPort, c RequestResponse) (Transactions, error) {
	c, err := c.checked(1, maxRequest)
	if err != nil {
		return Transactions{}, fmt.Errorf("call tcp_rr: %w", err)
	}
	r := startRun(ctx)
	defer r.end()
	fds, err := dialFlows(r, to, c.Token, c.Flows)
	if err != nil {
		return Transactions{}, fmt.Errorf("call tcp_rr: %w", err)
	}
	defer closeSockets(fds)
	name, err := congestion(fds[0])
	if err != nil {
		return Transactions{}, fmt.Errorf("call tcp_rr: %w", err)
	}
	request := append([]byte{requestByte}, randomBytes(c.Size-1)...)
	var dialogues []dialogue
	for _, fd := range fds {
		dialogues = append(dialogues, &tcpDialogue{fd: fd, request: request, response: touched(c.Size)})
	}
	t, err := call(r, c.Window, fds, dialogues, 0)
	if err == nil {
		err = endFlows(r, fds)
	}
	if err != nil {
		return Transactions{}, fmt.Errorf("call tcp_rr: %w", err)
	}
	t.Congestion = name
	return t, nil
}

// endFlows tells the server that the run is over, after the requests that are
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

func (d *tcpDialogue) ask(r *run) error { return sendAll(r, d.fd, d.request) }

func (d *tcpDialogue) hear(flags int) (bool, error) {
	n, errno := recv(d.fd, d.response[d.got:], flags)
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
