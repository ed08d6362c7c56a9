package servicemesh

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// protocolOfTunnels is HTTP/2: a connection is a stream that CONNECT opens, as in Istio's HBONE.
const protocolOfTunnels = "h2"

// The sizes of ztunnel (its window_size, connection_window_size, frame_size,
// pool_max_streams_per_conn and pool_unused_release_timeout).
const (
	streamWindow = 4 << 20
	tunnelWindow = 16 << 20
	mostFrame    = 1 << 20
	mostStreams  = 100
	unusedFor    = 5 * time.Minute
)

// outboundByTunnel carries a connection of the container by a tunnel to the relay of its
// destination's host.
func (c *relayed) outboundByTunnel(app *net.TCPConn) {
	defer app.Close()
	to, err := originalDestination(app)
	if err != nil {
		reset(app)
		return
	}
	if !c.member(to.Addr()) {
		far, err := c.place.dial(netip.Addr{}, false, to)
		if err != nil {
			reset(app)
			return
		}
		defer far.Close()
		relay(app, far, func() { reset(app, far) })
		return
	}
	if err := c.pool.carry(app, to); err != nil {
		reset(app)
	}
}

// carry is one stream of a tunnel, from its opening to its end.
func (p *pool) carry(app *net.TCPConn, to netip.AddrPort) error {
	tunnel, err := p.reserve(to.Addr())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	sent := &body{conn: app, ended: make(chan struct{})}
	request := (&http.Request{
		Method: http.MethodConnect, URL: &url.URL{Host: to.String()}, Host: to.String(), Header: http.Header{}, Body: sent,
	}).WithContext(ctx)
	response, err := tunnel.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // the stream has ended, or is reset by this
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("open tunnel to %s: %s", to, response.Status)
	}
	if err := copyAll(app, response.Body); err != nil {
		return err
	}
	if err := app.CloseWrite(); err != nil {
		return err
	}
	<-sent.ended
	return nil
}

// body is what a container sends, as the body of a request: the transport reads it until it
// ends, and closes it then or when the stream has ended.
type body struct {
	conn  *net.TCPConn
	ended chan struct{}
	once  sync.Once
}

func (b *body) Read(p []byte) (int, error) { return b.conn.Read(p) }

// Close ends a Read that waits. What the other end sent is still to be written.
func (b *body) Close() error {
	b.once.Do(func() { close(b.ended) })
	return b.conn.SetReadDeadline(time.Now())
}

// pool is the tunnels of one container, by destination. Istio keeps them apart too by what they
// come from and go to: their two ends have the identities of the containers.
type pool struct {
	of        *relayed
	transport *http2.Transport

	mu sync.Mutex
	to map[netip.Addr]*tunnels
}

// tunnels are those to one destination.
type tunnels struct {
	mu  sync.Mutex // held while one is made: connections that begin together share it
	all []*http2.ClientConn
}

func newPool(of *relayed) *pool {
	return &pool{
		of: of, to: map[netip.Addr]*tunnels{},
		transport: &http2.Transport{MaxReadFrameSize: mostFrame, IdleConnTimeout: unusedFor, DisableCompression: true},
	}
}

// reserve takes a stream of a tunnel to a destination: of one that has room, else of a new one.
func (p *pool) reserve(to netip.Addr) (*http2.ClientConn, error) {
	p.mu.Lock()
	t, known := p.to[to]
	if !known {
		t = &tunnels{}
		p.to[to] = t
	}
	p.mu.Unlock()

	t.mu.Lock()
	defer t.mu.Unlock()
	for _, tunnel := range t.all {
		if tunnel.ReserveNewRequest() {
			return tunnel, nil
		}
	}
	t.all = slices.DeleteFunc(t.all, func(tunnel *http2.ClientConn) bool { s := tunnel.State(); return s.Closed || s.Closing })
	tunnel, err := p.open(to)
	if err != nil {
		return nil, err
	}
	t.all = append(t.all, tunnel)
	if !tunnel.ReserveNewRequest() {
		return nil, fmt.Errorf("open tunnel to %s: it takes no stream", to)
	}
	return tunnel, nil
}

// open opens a tunnel from the container's namespace to the port of the destination's relay.
func (p *pool) open(to netip.Addr) (*http2.ClientConn, error) {
	far, err := p.of.place.dial(netip.Addr{}, false, netip.AddrPortFrom(to, TunnelPort))
	if err != nil {
		return nil, err
	}
	secure := tls.Client(far, p.of.trust.with(to))
	if err := shake(secure); err != nil {
		return nil, errors.Join(err, far.Close())
	}
	tunnel, err := p.transport.NewClientConn(secure)
	if err != nil {
		return nil, errors.Join(err, far.Close())
	}
	return tunnel, nil
}

// close ends all tunnels, and what they carry.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.to {
		t.mu.Lock()
		for _, tunnel := range t.all {
			tunnel.Close() //nolint:errcheck // the peer may have closed it before
		}
		t.mu.Unlock()
	}
}

// endTunnels is a tunnel of another relay to the container.
func (c *relayed) endTunnels(far *net.TCPConn) {
	defer far.Close()
	source := remote(far)
	secure := tls.Server(far, c.trust.with(source))
	if err := shake(secure); err != nil {
		return // the peer has an alert that says why
	}
	server := http2.Server{
		MaxConcurrentStreams: mostStreams, MaxReadFrameSize: mostFrame,
		MaxUploadBufferPerStream: streamWindow, MaxUploadBufferPerConnection: tunnelWindow,
	}
	server.ServeConn(secure, &http2.ServeConnOpts{
		BaseConfig: &http.Server{ErrorLog: log.New(io.Discard, "", 0)},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c.endStream(w, r, source)
		}),
	})
}

// endStream connects a stream to the container, which sees the address of the other end as the
// connection's source. HTTP/2 as it is in Go ends a stream in both directions when the handler
// returns.
func (c *relayed) endStream(w http.ResponseWriter, r *http.Request, source netip.Addr) {
	to, err := netip.ParseAddrPort(r.Host)
	if err != nil || r.Method != http.MethodConnect || to.Addr() != c.Addr {
		http.Error(w, "this relay connects to "+c.Addr.String()+" only", http.StatusBadRequest)
		return
	}
	app, err := c.place.dial(source, true, to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer app.Close()
	out := flushed{w, http.NewResponseController(w)}
	w.WriteHeader(http.StatusOK)
	if err := out.control.Flush(); err != nil {
		return
	}
	go func() {
		err := copyAll(app, r.Body)
		if err == nil {
			err = app.CloseWrite()
		}
		if err != nil {
			reset(app)
		}
	}()
	if err := copyAll(out, app); err != nil {
		reset(app)
		panic(http.ErrAbortHandler) // the stream is reset
	}
}

// flushed sends on at once what a container has sent.
type flushed struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (f flushed) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err != nil {
		return n, err
	}
	return n, f.control.Flush()
}
