package traffic

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"golang.org/x/net/http2"
)

// What is asked for: one byte, and data without end.
const (
	smallPath = "/small"
	largePath = "/large"
)

// webClient makes connections of HTTP/2 over TLS 1.3 to one server.
type webClient struct {
	run       *run
	to        netip.AddrPort
	greeting  []byte
	config    *tls.Config
	transport *http2.Transport
}

func newWebClient(r *run, to netip.AddrPort, token Token) (*webClient, error) {
	root, err := NewTLSRoot(token)
	if err != nil {
		return nil, err
	}
	w := &webClient{
		run: r, to: to, greeting: greeting(token, verbFlow), transport: &http2.Transport{DisableCompression: true}, config: root.trusting(),
	}
	w.config.NextProtos = []string{http2.NextProtoTLS}
	return w, nil
}

// shake greets the server and shakes hands.
func (w *webClient) shake(ctx context.Context, socket net.Conn) (*tls.Conn, error) {
	conn := tls.Client(&greetingConn{Conn: socket, first: w.greeting}, w.config)
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("shake hands: %w", err)
	}
	return conn, nil
}

// ask sends a request.
func (w *webClient) ask(ctx context.Context, conn *http2.ClientConn, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+tlsName+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept-Encoding", "identity")
	response, err := conn.RoundTrip(request)
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", path, err)
	}
	if response.StatusCode != http.StatusOK {
		closeBody(response)
		return nil, fmt.Errorf("ask for %s: %w: status %d", path, errAnswer, response.StatusCode)
	}
	return response, nil
}

// small asks for one byte, and gives how long its response took.
func (w *webClient) small(ctx context.Context, conn *http2.ClientConn) (time.Duration, error) {
	begun := w.run.now()
	response, err := w.ask(ctx, conn, smallPath)
	if err != nil {
		return w.run.now() - begun, err
	}
	defer closeBody(response)
	n, err := io.Copy(io.Discard, response.Body)
	took := w.run.now() - begun
	if err == nil && n != 1 {
		err = fmt.Errorf("%w: %d bytes, not 1", errAnswer, n)
	}
	return took, err
}

// closeBody ends a response.
func closeBody(response *http.Response) {
	_ = response.Body.Close() // it fails only where the connection has ended
}

// greetingConn is a connection on which the greeting goes ahead of what is sent first, in the
// same call.
type greetingConn struct {
	net.Conn
	first []byte
}

// Write sends all of p.
func (c *greetingConn) Write(p []byte) (int, error) {
	if c.first == nil {
		return c.Conn.Write(p)
	}
	first := len(c.first)
	n, err := c.Conn.Write(append(c.first[:first:first], p...))
	c.first = nil
	return max(n-first, 0), err
}

// reset closes a connection with a reset, which leaves its port to the next.
func reset(socket net.Conn) {
	if tcp, ok := socket.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // an error leaves an ordinary close
	}
	socket.Close()
}
