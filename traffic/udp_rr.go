package traffic

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"

	"golang.org/x/sys/unix"
)

// ServeUDPRR answers one udp_rr, from one socket for all flows.
func ServeUDPRR(ctx context.Context, l *PacketListener, c RequestResponse) (Served, error) {
	c, err := c.checked(HeaderBytes, MaxDatagram)
	if err != nil {
		return Served{}, fmt.Errorf("serve udp_rr: %w", err)
	}
	r := startRun(ctx)
	defer r.end()
	e := &echoer{run: r, fd: l.fd, token: c.Token, window: c.Window, packet: touched(c.Size)}
	if err := e.work(); err != nil {
		return Served{}, fmt.Errorf("serve udp_rr: %w", r.cause(err))
	}
	return Served{Transactions: e.answered, Strangers: e.strangers}, nil
}

// echoer is the server of udp_rr.
type echoer struct {
	run       *run
	fd        int
	token     Token
	window    Window
	packet    []byte
	from      address
	answered  int64
	strangers int64
}

func (e *echoer) work() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	strangers, err := answerHello(e.run, e.fd, &e.token, &e.from)
	e.strangers = strangers
	if err != nil {
		return err
	}
	begun := e.run.now()
	heard := begun // when the client was last heard
	for !e.run.stopped.Load() {
		n, errno := recvFrom(e.fd, e.packet, &e.from)
		if errno != 0 && !again(errno) {
			return fmt.Errorf("receive request after %d answers: %w", e.answered, errno)
		}
		now := e.run.now()
		if errno == 0 {
			ours, done, err := e.answer(n)
			if done || err != nil {
				return err
			}
			if ours {
				heard = now
			}
		}
		if now-heard > drainLimit || now-begun > e.window.limit() {
			return fmt.Errorf("the client did not end the run, after %d answers; see whether it still runs", e.answered)
		}
	}
	return context.Canceled
}

// answer takes the datagram that came, and tells whether it is of the run and
// whether the run is over.
func (e *echoer) answer(n int) (ours, done bool, err error) {
	h, ok := parseHeader(e.packet[:n], &e.token)
	switch {
	case !ok:
		e.strangers++
	case h.kind == kindHello:
		err = tell(e.fd, kindWelcome, &e.token, &e.from)
	case h.kind == kindEnd:
		done = true
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
func CallUDPRR(ctx context.Context, to netip.AddrPort, c RequestResponse) (Transactions, error) {
	c, err := c.checked(HeaderBytes, MaxDatagram)
	if err != nil {
		return Transactions{}, fmt.Errorf("call udp_rr: %w", err)
	}
	r := startRun(ctx)
	defer r.end()
	var fds []int
	defer func() { closeSockets(fds) }()
	var dialogues []dialogue
	for range c.Flows {
		fd, err := dialPackets(r, to, &c.Token)
		if err != nil {
			return Transactions{}, fmt.Errorf("call udp_rr: %w", err)
		}
		fds = append(fds, fd)
		dialogues = append(dialogues, &udpDialogue{
			fd: fd, token: c.Token, request: randomBytes(c.Size), response: touched(c.Size),
		})
	}
	t, err := call(r, c.Window, fds, dialogues, c.Timeout)
	if err == nil {
		err = end(fds[0], &c.Token)
	}
	if err != nil {
		return Transactions{}, fmt.Errorf("call udp_rr: %w", err)
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
func (d *udpDialogue) ask(*run) error {
	d.sequence++
	header{kind: kindData, sequence: d.sequence}.put(d.request, &d.token)
	_, errno := send(d.fd, d.request, 0)
	if errno != 0 && !again(errno) && errno != unix.ENOBUFS && errno != unix.EMSGSIZE {
		return errno
	}
	return nil
}

// hear passes over answers that come too late: their request counts as lost.
func (d *udpDialogue) hear(flags int) (bool, error) {
	n, errno := recv(d.fd, d.response, flags)
	switch {
	case again(errno):
		return false, errQuiet
	case errno == unix.EMSGSIZE: // the path turned out narrower
		return false, nil
	case errno != 0:
		return false, errno
	}
	h, ok := parseHeader(d.response[:n], &d.token)
	return ok && h.kind == kindAnswer && h.sequence == d.sequence, nil
}
