package traffic

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// ServeUDPRR answers one udp_rr, from one socket for all flows.
func ServeUDPRR(ctx context.Context, l *PacketListener, c RequestResponse) (_ Served, err error) {
	defer during("serve udp_rr", &err)
	if c, err = c.checked(HeaderBytes, MaxDatagram); err != nil {
		return Served{}, err
	}
	r := startRun(ctx)
	defer r.end()
	e := &echoer{run: r, fd: l.fd, token: c.Token, window: c.Window, packet: prefaulted(c.Size)}
	if c.Spin {
		e.flags = unix.MSG_DONTWAIT
	}
	if err := e.work(); err != nil {
		return Served{}, r.cause(err)
	}
	return Served{Transactions: e.answered, Unauthenticated: e.unauthenticated}, nil
}

// echoer is the server of udp_rr.
type echoer struct {
	run             *run
	fd              int
	token           Token
	window          Window
	flags           int // of each receive call
	spins           spins
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
	begun := e.run.now()
	lastReceived := begun // when the client last sent something
	for !e.run.stopped.Load() {
		before := e.answered
		n, errno := e.exchange()
		if errno != 0 && !again(errno) {
			return fmt.Errorf("receive request after %d answers: %w", e.answered, errno)
		}
		if errno != 0 && e.flags != 0 {
			e.spins.again()
		}
		now := e.run.now()
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
		if e.answered > 0 && now-lastReceived > drainLimit+e.window.Slots.rest() || now-begun > e.window.limit() {
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
		h, ok := parseHeader(e.packet[:n], &e.token)
		if !ok || h.kind != kindData {
			return n, errno
		}
		h.kind = kindAnswer
		h.put(e.packet, &e.token)
		if errno := sendTo(e.fd, e.packet[:n], &e.from); errno != 0 {
			h.kind = kindData
			h.put(e.packet, &e.token)
			return n, 0 // answer sends again and names what is wrong
		}
		e.answered++
	}
	return 0, unix.EAGAIN
}

// answer takes the datagram that came, and reports whether it is of the run and
// whether the run is over.
func (e *echoer) answer(n int) (ours, done bool, err error) {
	h, ok := parseHeader(e.packet[:n], &e.token)
	switch {
	case !ok:
		e.unauthenticated++
	case h.kind == kindHello:
		err = sendKind(e.fd, kindWelcome, &e.token, &e.from)
	case h.kind == kindEnd:
		done, err = true, sendKind(e.fd, kindEnd, &e.token, &e.from)
	case h.kind == kindData:
		header{kind: kindAnswer, sequence: h.sequence}.put(e.packet, &e.token)
		errno := sendTo(e.fd, e.packet[:n], &e.from)
		if errno != 0 && !again(errno) && errno != unix.ENOBUFS {
			err = fmt.Errorf("answer request after %d answers: %w", e.answered, errno)
		}
		e.answered++
	}
	return ok, done, err
}

// CallUDPRR runs one udp_rr against a ServeUDPRR.
func CallUDPRR(ctx context.Context, to netip.AddrPort, c RequestResponse) (_ Transactions, err error) {
	defer during("call udp_rr", &err)
	if c, err = c.checked(HeaderBytes, MaxDatagram); err != nil {
		return Transactions{}, err
	}
	r := startRun(ctx)
	defer r.end()
	var fds []int
	defer func() { closeSockets(fds) }()
	var loops []loop
	var flows []openFlow
	for range c.Flows {
		fd, err := dialPackets(r, to, &c.Token)
		if err != nil {
			return Transactions{}, err
		}
		fds = append(fds, fd)
		if c.Rate > 0 {
			flows = append(flows, newOpenFlow(fd, &c.Token, randomBytes(c.Size)))
			continue
		}
		loops = append(loops, loop{fd: fd, dialogue: &udpDialogue{
			fd: fd, token: c.Token, request: randomBytes(c.Size), response: prefaulted(c.Size),
		}})
	}
	t, err := callLoops(r, c, loops, flows)
	if err == nil {
		err = endConfirmed(r, fds[0], &c.Token)
	}
	if err != nil {
		return Transactions{}, err
	}
	return t, nil
}

// udpDialogue is a flow of udp_rr.
type udpDialogue struct {
	fd       int
	token    Token
	sequence int64 // of the open request
	request  []byte
	response []byte
}

// ask sends a request. One that the machine itself drops is lost like any
// other.
func (d *udpDialogue) ask(*run) (int, error) {
	d.sequence++
	header{kind: kindData, sequence: d.sequence}.put(d.request, &d.token)
	_, errno := send(d.fd, d.request, 0)
	if errno != 0 && !again(errno) && errno != unix.ENOBUFS && errno != unix.EMSGSIZE {
		return d.fd, errno
	}
	return d.fd, nil
}

// receive skips answers that come too late: their request counts as lost.
func (d *udpDialogue) receive(flags int) (bool, error) {
	return d.received(recv(d.fd, d.response, flags))
}

func (d *udpDialogue) received(n int, errno syscall.Errno) (bool, error) {
	switch {
	case again(errno):
		return false, errQuiet
	case errno == unix.EMSGSIZE: // the path turned out narrower
		return false, nil
	case errno != 0:
		return false, errno
	}
	return d.answered(n), nil
}

// answered reports whether the datagram that came is the open request's answer.
func (d *udpDialogue) answered(n int) bool {
	h, ok := parseHeader(d.response[:n], &d.token)
	return ok && h.kind == kindAnswer && h.sequence == d.sequence
}

func (d *udpDialogue) exchange(c *closedLoop, l *loop) (bool, error) {
	for {
		n, errno := recv(d.fd, d.response, c.flags)
		if errno != 0 || !d.answered(n) || !c.pass(l, c.run.now()) {
			return d.received(n, errno)
		}
		l.last = l.first
		if _, err := d.ask(c.run); err != nil {
			return false, err
		}
	}
}
