package traffic

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
)

// TLSMode is what a transaction of tls is.
type TLSMode string

// The modes.
const (
	TLSHandshake TLSMode = "handshake" // a connection with a full handshake, a request, its response
	TLSResume    TLSMode = "resume"    // the same with the session of the connection before it
	TLSBulk      TLSMode = "bulk"      // a message of a lasting connection's stream
)

// TLS is connections of TLS 1.3 (RFC 8446), as Go's crypto/tls makes them by default. The
// greeting goes ahead of the handshake, in the clear, so that a peer without the token
// costs the server no cryptography. The client verifies the server's certificate against
// the run's root. It owns the window, and receives the data in every mode.
type TLS struct {
	Window Window
	Mode   TLSMode // default TLSHandshake
	Token  Token
	Flows  int // connections at the same time; default 1, at most 1024
	Size   int // bytes of a response, or of a message of the stream, at most MaxBody; default 1024

	// Of CallTLS only:
	Groups []tls.CurveID // key exchanges that the client offers; nil: Go's
	// Path is what a server that is not ours, and knows no greeting, is asked for by HTTP/1.0;
	// it closes the connection after its response. Its certificate is of the run's root.
	Path string
}

// tlsRequest is the whole of a request to a server of ours.
const tlsRequest = "?"

// checked fills the defaults in and refuses what can't be asked.
func (c TLS) checked() (TLS, error) {
	c.Mode = cmp.Or(c.Mode, TLSHandshake)
	c.Flows = cmp.Or(c.Flows, 1)
	c.Size = cmp.Or(c.Size, defaultBody)
	switch {
	case c.Mode != TLSHandshake && c.Mode != TLSResume && c.Mode != TLSBulk:
		return c, fmt.Errorf("mode %q: want %s, %s or %s", c.Mode, TLSHandshake, TLSResume, TLSBulk)
	case c.Flows < 1 || c.Flows > maxFlows:
		return c, fmt.Errorf("%d flows: want 1 to %d", c.Flows, maxFlows)
	case c.Size < 1 || c.Size > MaxBody:
		return c, fmt.Errorf("messages of %d bytes: want 1 to %d", c.Size, MaxBody)
	case c.Path != "" && (c.Path[0] != '/' || !printable(c.Path) || c.Mode == TLSBulk):
		return c, fmt.Errorf("path %q: it must begin with / and hold neither blanks nor control characters, and %s has none", c.Path, TLSBulk)
	}
	return c, c.Window.check(c.Flows)
}

// CallTLS runs one tls against a ServeTLS, or with a Path against another server.
func CallTLS(ctx context.Context, to netip.AddrPort, c TLS) (_ Transactions, err error) {
	defer during(fmt.Sprintf("call tls at %v", to), &err)
	if c, err = c.checked(); err != nil {
		return Transactions{}, err
	}
	root, err := NewTLSRoot(c.Token)
	if err != nil {
		return Transactions{}, err
	}
	r := startRun(ctx)
	defer r.end()
	clients := make([]*tlsClient, c.Flows)
	doing := repetition{window: c.Window, timed: c.Mode != TLSBulk, passes: tlsPasses}
	defer func() { closeTLS(clients) }()
	for i := range clients {
		clients[i] = newTLSClient(r, to, c, root)
		once := clients[i].transact
		if c.Mode == TLSBulk {
			if err := clients[i].open(); err != nil {
				return Transactions{}, r.cause(err)
			}
			once, doing.passes = clients[i].receive, nil
		}
		doing.once = append(doing.once, once)
	}
	t, err := doing.repeat(r, nil)
	if err != nil {
		return Transactions{}, err
	}
	t.Congestion = clients[0].congestion
	if closeTLS(clients); c.Path == "" {
		return t, endSessions(r, to, c.Token)
	}
	return t, nil
}

// tlsPasses reports whether the next connection may succeed after an error. A certificate
// stays what it is, and ports do not come back soon.
func tlsPasses(err error) bool {
	certificate := new(tls.CertificateVerificationError)
	return !errors.As(err, &certificate) && !errors.Is(err, unix.EADDRNOTAVAIL) && !errors.Is(err, errAnswer)
}

// errAnswer is of a response that is not the one that is due.
var errAnswer = errors.New("another response than the one that is due")

// tlsClient is one flow of tls.
type tlsClient struct {
	run        *run
	to         netip.AddrPort
	cc         string // congestion control to set; empty: none
	mode       TLSMode
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

func newTLSClient(r *run, to netip.AddrPort, c TLS, root TLSRoot) *tlsClient {
	k := &tlsClient{
		run: r, to: to, cc: c.Window.CC, mode: c.Mode, greeting: greeting(c.Token, verbFlow), request: []byte(tlsRequest), response: prefaulted(c.Size + 1),
		config: root.trusting(),
	}
	k.config.CurvePreferences = c.Groups
	if c.Mode == TLSResume {
		k.config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	}
	if c.Path != "" {
		k.foreign, k.greeting, k.request, k.response = true, nil, []byte("GET "+c.Path+" HTTP/1.0\r\n\r\n"), prefaulted(MaxBody)
	}
	return k
}

// connect opens a connection, shakes hands and sends the request.
func (k *tlsClient) connect() (conn *tls.Conn, fd int, err error) {
	if fd, err = dial(k.run, k.to, k.cc); err != nil {
		return nil, -1, err
	}
	conn = tls.Client(&blockingConn{run: k.run, fd: fd, first: k.greeting[:len(k.greeting):len(k.greeting)]}, k.config)
	if k.congestion == "" {
		k.congestion, err = congestion(fd)
	}
	if err == nil {
		err = conn.Handshake()
	}
	if err == nil {
		_, err = conn.Write(k.request)
	}
	if resumed := conn.ConnectionState().DidResume; err == nil && k.mode == TLSResume && k.done > 0 && !resumed {
		err = fmt.Errorf("%w: the server did not resume the session", errAnswer)
	}
	if err != nil {
		closeSocket(fd)
		return nil, -1, err
	}
	return conn, fd, nil
}

// transact is a whole connection, which the server closes first, so that its port is free
// for the next.
func (k *tlsClient) transact() (answered time.Duration, err error) {
	conn, fd, err := k.connect()
	if err != nil {
		return 0, err
	}
	defer closeSocket(fd)
	got := 0
	for got < len(k.response) {
		n, err := conn.Read(k.response[got:])
		if n > 0 {
			got, answered = got+n, k.run.now()
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
		awaitClose(k.run, fd, k.run.now()+grace)
	}
	k.done++
	return answered, nil
}

// due is the error of a response that is not the one that is due.
func (k *tlsClient) due(came []byte) error {
	size := len(k.response) - 1
	switch {
	case !k.foreign && len(came) != size:
		return fmt.Errorf("%w: %d bytes, not %d; give both ends the same size", errAnswer, len(came), size)
	case k.foreign && !bytes.HasPrefix(came, []byte("HTTP/1.0 200")) && !bytes.HasPrefix(came, []byte("HTTP/1.1 200")):
		return fmt.Errorf("%w: %.24q", errAnswer, came)
	}
	return nil
}

// open begins the stream of a lasting connection.
func (k *tlsClient) open() (err error) {
	k.lasting, k.fd, err = k.connect()
	return err
}

// receive takes one message of the stream.
func (k *tlsClient) receive() (answered time.Duration, err error) {
	_, err = io.ReadFull(k.lasting, k.response[:len(k.response)-1])
	return 0, err
}

// closeTLS ends what lasts, with a reset, which leaves the port to the next run.
func closeTLS(clients []*tlsClient) {
	for _, k := range clients {
		if k != nil && k.lasting != nil {
			abort(k.fd)
			k.lasting = nil
		}
	}
}
