package udp

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// ServeRR answers one udp_rr, from one socket for all flows.
func ServeRR(ctx context.Context, l *Listener, c traffic.RequestResponse) (_ traffic.Served, err error) {
	defer traffic.During("serve udp_rr", &err)
	if c, err = c.Checked(traffic.HeaderBytes, traffic.MaxDatagram); err != nil {
		return traffic.Served{}, err
	}
	r := traffic.StartRun(ctx)
	defer r.End()
	e := &echoer{run: r, fd: l.fd, token: c.Token, window: c.Window, packet: traffic.Buffer(c.Size)}
	if c.Spin {
		e.flags = unix.MSG_DONTWAIT
	}
	if c.Cut {
		if err := letCut(l.fd); err != nil {
			return traffic.Served{}, err
		}
	}
	if err := e.work(); err != nil {
		return traffic.Served{}, r.Cause(err)
	}
	return traffic.Served{Transactions: e.answered, Unauthenticated: e.unauthenticated}, nil
}

// echoer is the server of udp_rr.
type echoer struct {
	run             *traffic.Run
	fd              int
	token           traffic.Token
	window          traffic.Window
	flags           int // of each receive call
	spins           traffic.Spins
	packet          []byte
	from            address
	answered        int64
	unauthenticated int64
}

func (e *echoer) work() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	unauthenticated, err := answerHello(e.run, e.fd, &e.token, &e.from)
	e.unauthenticated = unauthenticated
	if err != nil {
		return err
	}
	begun := e.run.Now()
	lastReceived := begun // when the client last sent something
	for !e.run.Stopped() {
		before := e.answered
		n, errno := e.exchange()
		if errno != 0 && !traffic.Waited(errno) {
			return fmt.Errorf("receive request after %d answers: %w", e.answered, errno)
		}
		if errno != 0 && e.flags != 0 {
			e.spins.Again()
		}
		now := e.run.Now()
		if errno == 0 {
			ours, done, err := e.answer(n)
			if done || err != nil {
				return err
			}
			if ours {
				lastReceived = now
			}
		}
		if e.answered > before {
			lastReceived = now
		}
		if before == 0 && e.answered > 0 {
			begun = now // a client that is held up before its first request is not silent
		}
		if e.answered > 0 && now-lastReceived > traffic.DrainLimit+e.window.Slots.Silence() || now-begun > e.window.Limit() {
			return fmt.Errorf("the client did not end the run, after %d answers; see whether it still runs", e.answered)
		}
	}
	return context.Canceled
}

// exchange receives and answers as long as each call brings a request, and
// gives what it received last. Once in a while it comes back in any case.
func (e *echoer) exchange() (int, syscall.Errno) {
	for range 64 {
		n, errno := recvFrom(e.fd, e.packet, e.flags, &e.from)
		h, ok := traffic.ParseHeader(e.packet[:n], &e.token)
		if !ok || h.Kind != traffic.KindData {
			return n, errno
		}
		h.Kind = traffic.KindAnswer
		h.Put(e.packet, &e.token)
		if errno := sendTo(e.fd, e.packet[:n], &e.from); errno != 0 {
			h.Kind = traffic.KindData
			h.Put(e.packet, &e.token)
			return n, 0 // answer sends again and names what is wrong
		}
		e.answered++
	}
	return 0, unix.EAGAIN
}

// answer takes the datagram that came, and reports whether it is of the run and
// whether the run is over.
func (e *echoer) answer(n int) (ours, done bool, err error) {
	h, ok := traffic.ParseHeader(e.packet[:n], &e.token)
	switch {
	case !ok:
		e.unauthenticated++
	case h.Kind == traffic.KindHello:
		err = sendKind(e.fd, traffic.KindWelcome, &e.token, &e.from)
	case h.Kind == traffic.KindEnd:
		done, err = true, sendKind(e.fd, traffic.KindEnd, &e.token, &e.from)
	case h.Kind == traffic.KindData:
		traffic.Header{Kind: traffic.KindAnswer, Sequence: h.Sequence}.Put(e.packet, &e.token)
		errno := sendTo(e.fd, e.packet[:n], &e.from)
		if errno != 0 && !traffic.Waited(errno) && errno != unix.ENOBUFS {
			err = fmt.Errorf("answer request after %d answers: %w", e.answered, errno)
		}
		e.answered++
	}
	return ok, done, err
}

// CallRR runs one udp_rr against a ServeRR.
func CallRR(ctx context.Context, to netip.AddrPort, c traffic.RequestResponse) (_ traffic.Transactions, err error) {
	defer traffic.During("call udp_rr", &err)
	if c, err = c.Checked(traffic.HeaderBytes, traffic.MaxDatagram); err != nil {
		return traffic.Transactions{}, err
	}
	r := traffic.StartRun(ctx)
	defer r.End()
	var fds []int
	defer func() { traffic.CloseSockets(fds) }()
	var loops []traffic.Loop
	var flows []traffic.OpenFlow
	for range c.Flows {
		fd, err := dialPackets(r, to, &c.Token)
		if err != nil {
			return traffic.Transactions{}, err
		}
		fds = append(fds, fd)
		if c.Cut {
			if err := letCut(fd); err != nil {
				return traffic.Transactions{}, err
			}
		}
		if c.Rate > 0 {
			flows = append(flows, traffic.NewOpenFlow(fd, &c.Token, traffic.RandomPayload(c.Size)))
			continue
		}
		loops = append(loops, traffic.Loop{FD: fd, Dialogue: &udpDialogue{
			fd: fd, token: c.Token, request: traffic.RandomPayload(c.Size), response: traffic.Buffer(c.Size),
		}})
	}
	if err := r.Rest(c.Window.Idle); err != nil {
		return traffic.Transactions{}, err
	}
	t, err := traffic.CallLoops(r, c, loops, flows)
	if err == nil {
		err = endConfirmed(r, fds[0], &c.Token)
	}
	if err != nil {
		return traffic.Transactions{}, err
	}
	return t, nil
}

// udpDialogue is a flow of udp_rr.
type udpDialogue struct {
	fd       int
	token    traffic.Token
	sequence int64 // of the open request
	request  []byte
	response []byte
}

// Ask sends a request. One that the machine itself drops is lost like any
// other.
func (d *udpDialogue) Ask(*traffic.Run) (int, error) {
	d.sequence++
	traffic.Header{Kind: traffic.KindData, Sequence: d.sequence}.Put(d.request, &d.token)
	_, errno := traffic.Send(d.fd, d.request, 0)
	if errno != 0 && !traffic.Waited(errno) && errno != unix.ENOBUFS && errno != unix.EMSGSIZE {
		return d.fd, errno
	}
	return d.fd, nil
}

// Receive skips answers that come too late: their request counts as lost.
func (d *udpDialogue) Receive(flags int) (bool, error) {
	return d.received(traffic.Receive(d.fd, d.response, flags))
}

func (d *udpDialogue) received(n int, errno syscall.Errno) (bool, error) {
	switch {
	case traffic.Waited(errno):
		return false, traffic.ErrQuiet
	case errno == unix.EMSGSIZE: // the path turned out narrower
		return false, nil
	case errno != 0:
		return false, errno
	}
	return d.answered(n), nil
}

// answered reports whether the datagram that came is the open request's answer.
func (d *udpDialogue) answered(n int) bool {
	h, ok := traffic.ParseHeader(d.response[:n], &d.token)
	return ok && h.Kind == traffic.KindAnswer && h.Sequence == d.sequence
}

func (d *udpDialogue) Exchange(c *traffic.ClosedLoop, l *traffic.Loop) (bool, error) {
	for {
		n, errno := traffic.Receive(d.fd, d.response, c.Flags)
		if errno != 0 || !d.answered(n) || !c.Pass(l, c.Run.Now()) {
			return d.received(n, errno)
		}
		l.Last = l.First
		if _, err := d.Ask(c.Run); err != nil {
			return false, err
		}
	}
}
