package traffic

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A request of a TCP flow begins with one of these bytes.
const (
	RequestByte = 'r'
	EndByte     = 'e' // alone, and the last byte of the flow
)

// answerer is a thread that answers, with its share of the flows.
type answerer struct {
	run      *Run
	flows    []answerFlow
	ended    int
	response []byte
	answered int64
	flags    int // of each receive call of a flow that is alone
	spins    Spins
	window   Window
	limit    time.Duration // from the first request on: a client that is held up before it is not silent
}

type answerFlow struct {
	fd      int
	got     int
	request []byte
}

// Answer answers each request of c.Size bytes on the flows, on a thread for each CPU that there is, until
// their clients end them. It closes the flows.
func Answer(r *Run, fds []int, c RequestResponse) (answered int64, err error) {
	var threads []*answerer
	for _, share := range Distribute(fds, min(len(fds), CPUs())) {
		a := &answerer{run: r, response: RandomPayload(c.Size), window: c.Window, limit: r.Now() + c.Window.Limit()}
		if c.Spin {
			a.flags = unix.MSG_DONTWAIT
		}
		for _, fd := range share {
			a.flows = append(a.flows, answerFlow{fd: fd, request: Buffer(c.Size)})
		}
		threads = append(threads, a)
	}
	err = OnThreads(r, len(threads), func(i int) error { return threads[i].work() })
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
	set, err := OpenPollSet(fds)
	if err != nil {
		return err
	}
	defer set.Close()
	for a.ended < len(a.flows) {
		ready, err := set.Wait(a.flags != 0)
		if err != nil {
			return err
		}
		for _, event := range ready {
			f := &a.flows[event.Fd]
			n, errno := Receive(f.fd, f.request[f.got:], unix.MSG_DONTWAIT)
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
	if err := SetTimeout(f.fd, 0); err != nil {
		return err
	}
	if err := a.begin(f); err != nil {
		return err
	}
	watch := StartGuard(a.run, []int{f.fd}, a.limit)
	defer watch.End()
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
	watch := StartGuard(a.run, []int{f.fd}, a.limit)
	defer watch.End()
	for a.ended == 0 && a.answered == 0 {
		n, errno := Receive(f.fd, f.request[f.got:], a.flags)
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
		n, errno := Receive(f.fd, f.request[f.got:], a.flags)
		if n < len(f.request) || f.request[0] != RequestByte {
			return n, errno
		}
		if m, errno := Send(f.fd, a.response, 0); m < len(a.response) {
			if errno != 0 || SendAll(a.run, f.fd, a.response[m:]) != nil {
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
	case Waited(errno):
		return a.quiet()
	case errno != 0:
		return fmt.Errorf("receive request on flow %d after %d answers: %w; see what the client reported", i+1, a.answered, errno)
	case n == 0 && a.quiet() != nil: // the guard shut the connection
		return a.quiet()
	case n == 0:
		return fmt.Errorf("the client closed flow %d in the middle of the run, after %d answers; see what it reported", i+1, a.answered)
	}
	f.got += n
	if f.request[0] == EndByte {
		a.end(f)
		return nil
	}
	if f.got < len(f.request) {
		return nil
	}
	f.got = 0
	if a.answered == 0 {
		a.limit = a.run.Now() + a.window.Limit()
	}
	if err := SendAll(a.run, f.fd, a.response); err != nil {
		return fmt.Errorf("answer on flow %d after %d answers: %w; see what the client reported", i+1, a.answered, err)
	}
	if a.answered++; a.answered%64 == 0 || a.run.Stopped() {
		return a.quiet()
	}
	return nil
}

// end closes a flow whose client reported that it is done. Closing takes it out
// of the poll set.
func (a *answerer) end(f *answerFlow) {
	a.ended++
	CloseSocket(f.fd)
	f.fd = -1
}

// close closes the flows that have not ended.
func (a *answerer) close() {
	for _, f := range a.flows {
		if f.fd >= 0 {
			CloseSocket(f.fd)
		}
	}
}

// quiet ends what has lasted too long.
func (a *answerer) quiet() error {
	if a.flags != 0 {
		a.spins.Again()
	}
	switch {
	case a.run.Stopped():
		return context.Canceled
	case a.run.Now() > a.limit:
		return fmt.Errorf("the client did not end the run, after %d answers; see whether it still runs", a.answered)
	}
	return nil
}

// EndFlows reports to the server that the run is over, after the requests that are
// still open, and waits until it has closed.
func EndFlows(r *Run, fds []int) error {
	for _, fd := range fds {
		if err := SendAll(r, fd, []byte{EndByte}); err != nil {
			return fmt.Errorf("end flow: %w; see what the server reported", err)
		}
		if err := unix.Shutdown(fd, unix.SHUT_WR); err != nil {
			return fmt.Errorf("end flow: %w", err)
		}
	}
	limit := r.Now() + DrainLimit
	for _, fd := range fds {
		AwaitClose(r, fd, limit)
	}
	return nil
}

// TCPDialogue is a flow whose requests are all the same bytes, and its responses as many.
type TCPDialogue struct {
	FD       int
	Got      int
	Request  []byte
	Response []byte
}

// Ask sends the request.
func (d *TCPDialogue) Ask(r *Run) (int, error) { return d.FD, SendAll(r, d.FD, d.Request) }

// Receive receives once.
func (d *TCPDialogue) Receive(flags int) (bool, error) {
	return d.Received(Receive(d.FD, d.Response[d.Got:], flags))
}

// Received takes what a call on the socket gave, and reports whether the response is now whole.
func (d *TCPDialogue) Received(n int, errno syscall.Errno) (bool, error) {
	switch {
	case Waited(errno):
		return false, ErrQuiet
	case errno != 0:
		return false, errno
	case n == 0:
		return false, ErrPeerClosed
	}
	if d.Got += n; d.Got < len(d.Response) {
		return false, nil
	}
	d.Got = 0
	return true, nil
}

// Exchange receives and sends until the window has an edge or a response is not whole in one call.
func (d *TCPDialogue) Exchange(c *ClosedLoop, l *Loop) (bool, error) {
	for {
		n, errno := Receive(d.FD, d.Response[d.Got:], c.Flags)
		if n < len(d.Response) || !c.Pass(l, c.Run.Now()) {
			return d.Received(n, errno)
		}
		if n, errno := Send(d.FD, d.Request, 0); n < len(d.Request) {
			if errno != 0 && !Waited(errno) {
				return false, errno
			}
			if err := SendAll(c.Run, d.FD, d.Request[n:]); err != nil {
				return false, err
			}
		}
	}
}
