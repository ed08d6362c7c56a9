// Package tls is the loops of tls, handshakes and streams of crypto/tls.
package tls

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// Mode is what a transaction of tls is.
type Mode string

// The modes.
const (
	Handshake Mode = "handshake" // a connection with a full handshake, a request, its response
	Resume    Mode = "resume"    // the same with the session of the connection before it
	Bulk      Mode = "bulk"      // a message of a lasting connection's stream
)

// Options are those of connections of TLS 1.3 (RFC 8446), as Go's crypto/tls makes them by default. The
// greeting goes ahead of the handshake, in the clear, so that a peer without the token
// costs the server no cryptography. The client verifies the server's certificate against
// the run's root. It owns the window, and receives the data in every mode.
type Options struct {
	Window traffic.Window
	Mode   Mode // default Handshake
	Token  traffic.Token
	Flows  int // connections at the same time; default 1, at most 1024
	Size   int // bytes of a response, or of a message of the stream, at most MaxBody; default 1024

	// Of Call only:
	Groups []tls.CurveID // key exchanges that the client offers; nil: Go's
	// Path is what a server that is not ours, and knows no greeting, is asked for by HTTP/1.0;
	// it closes the connection after its response. Its certificate is of the run's root.
	Path string
}

// request is the whole of a request to a server of ours.
const request = "?"

// checked fills the defaults in and refuses what can't be asked.
func (c Options) checked() (Options, error) {
	c.Mode = cmp.Or(c.Mode, Handshake)
	c.Flows = cmp.Or(c.Flows, 1)
	c.Size = cmp.Or(c.Size, traffic.DefaultBody)
	switch {
	case c.Mode != Handshake && c.Mode != Resume && c.Mode != Bulk:
		return c, fmt.Errorf("mode %q: want %s, %s or %s", c.Mode, Handshake, Resume, Bulk)
	case c.Flows < 1 || c.Flows > traffic.MaxFlows:
		return c, fmt.Errorf("%d flows: want 1 to %d", c.Flows, traffic.MaxFlows)
	case c.Size < 1 || c.Size > traffic.MaxBody:
		return c, fmt.Errorf("messages of %d bytes: want 1 to %d", c.Size, traffic.MaxBody)
	case c.Path != "" && (c.Path[0] != '/' || !traffic.Printable(c.Path) || c.Mode == Bulk):
		return c, fmt.Errorf("path %q: it must begin with / and hold neither blanks nor control characters, and %s has none", c.Path, Bulk)
	}
	return c, c.Window.Check(c.Flows)
}

// Call runs one tls against a Serve, or with a Path against another server.
func Call(ctx context.Context, to netip.AddrPort, c Options) (_ traffic.Transactions, err error) {
	defer traffic.During(fmt.Sprintf("call tls at %v", to), &err)
	if c, err = c.checked(); err != nil {
		return traffic.Transactions{}, err
	}
	root, err := NewRoot(c.Token)
	if err != nil {
		return traffic.Transactions{}, err
	}
	r := traffic.StartRun(ctx)
	defer r.End()
	clients := make([]*client, c.Flows)
	doing := traffic.Repetition{Window: c.Window, Timed: c.Mode != Bulk, Passes: passes}
	defer func() { closeAll(clients) }()
	for i := range clients {
		clients[i] = newClient(r, to, c, root)
		once := clients[i].transact
		if c.Mode == Bulk {
			if err := clients[i].open(); err != nil {
				return traffic.Transactions{}, r.Cause(err)
			}
			once, doing.Passes = clients[i].receive, nil
		}
		doing.Once = append(doing.Once, once)
	}
	t, err := doing.Repeat(r, nil)
	if err != nil {
		return traffic.Transactions{}, err
	}
	t.Congestion = clients[0].congestion
	if closeAll(clients); c.Path == "" {
		return t, traffic.EndSessions(r, to, c.Token)
	}
	return t, nil
}

// passes reports whether the next connection may succeed after an error. A certificate
// stays what it is, and ports do not come back soon.
func passes(err error) bool {
	certificate := new(tls.CertificateVerificationError)
	return !errors.As(err, &certificate) && !errors.Is(err, unix.EADDRNOTAVAIL) && !errors.Is(err, traffic.ErrAnswer)
}

// client is one flow of tls.
type client struct {
	run        *traffic.Run
	to         netip.AddrPort
	cc         string // congestion control to set; empty: none
	mode       Mode
	config     *tls.Config
	foreign    bool // the server is not ours
	greeting   []byte
	request    []byte
	response   []byte // room for the response, and for one byte more
	lasting    *tls.Conn
	fd         int // of lasting
	done       int64
	congestion string
}

func newClient(r *traffic.Run, to netip.AddrPort, c Options, root Root) *client {
	k := &client{
		run: r, to: to, cc: c.Window.CC, mode: c.Mode, greeting: traffic.Greeting(c.Token, traffic.VerbFlow), request: []byte(request), response: traffic.Buffer(c.Size + 1),
		config: root.trusting(),
	}
	k.config.CurvePreferences = c.Groups
	if c.Mode == Resume {
		k.config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	}
	if c.Path != "" {
		k.foreign, k.greeting, k.request, k.response = true, nil, []byte("GET "+c.Path+" HTTP/1.0\r\n\r\n"), traffic.Buffer(traffic.MaxBody)
	}
	return k
}

// connect opens a connection, shakes hands and sends the request.
func (k *client) connect() (conn *tls.Conn, fd int, err error) {
	if fd, err = traffic.Dial(k.run, k.to, k.cc); err != nil {
		return nil, -1, err
	}
	conn = tls.Client(&blockingConn{run: k.run, fd: fd, first: k.greeting[:len(k.greeting):len(k.greeting)]}, k.config)
	if k.congestion == "" {
		k.congestion, err = traffic.Congestion(fd)
	}
	if err == nil {
		err = conn.Handshake()
	}
	if err == nil {
		_, err = conn.Write(k.request)
	}
	if resumed := conn.ConnectionState().DidResume; err == nil && k.mode == Resume && k.done > 0 && !resumed {
		err = fmt.Errorf("%w: the server did not resume the session", traffic.ErrAnswer)
	}
	if err != nil {
		traffic.CloseSocket(fd)
		return nil, -1, err
	}
	return conn, fd, nil
}

// transact is a whole connection, which the server closes first, so that its port is free
// for the next.
func (k *client) transact() (answered time.Duration, err error) {
	conn, fd, err := k.connect()
	if err != nil {
		return 0, err
	}
	defer traffic.CloseSocket(fd)
	got := 0
	for got < len(k.response) {
		n, err := conn.Read(k.response[got:])
		if n > 0 {
			got, answered = got+n, k.run.Now()
		}
		if errors.Is(err, io.EOF) || k.foreign && errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return 0, err
		}
	}
	if err := k.due(k.response[:got]); err != nil {
		return 0, err
	}
	if !k.foreign { // some wait for the client
		traffic.AwaitClose(k.run, fd, k.run.Now()+traffic.Grace)
	}
	k.done++
	return answered, nil
}

// due is the error of a response that is not the one that is due.
func (k *client) due(came []byte) error {
	size := len(k.response) - 1
	switch {
	case !k.foreign && len(came) != size:
		return fmt.Errorf("%w: %d bytes, not %d; give both ends the same size", traffic.ErrAnswer, len(came), size)
	case k.foreign && !bytes.HasPrefix(came, []byte("HTTP/1.0 200")) && !bytes.HasPrefix(came, []byte("HTTP/1.1 200")):
		return fmt.Errorf("%w: %.24q", traffic.ErrAnswer, came)
	}
	return nil
}

// open begins the stream of a lasting connection.
func (k *client) open() (err error) {
	k.lasting, k.fd, err = k.connect()
	return err
}

// receive takes one message of the stream.
func (k *client) receive() (answered time.Duration, err error) {
	_, err = io.ReadFull(k.lasting, k.response[:len(k.response)-1])
	return 0, err
}

// closeAll ends what lasts, with a reset, which leaves the port to the next run.
func closeAll(clients []*client) {
	for _, k := range clients {
		if k != nil && k.lasting != nil {
			traffic.Abort(k.fd)
			k.lasting = nil
		}
	}
}
