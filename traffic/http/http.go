// Package http is the loops of http, requests of HTTP/1.1.
package http

import (
	"cmp"
	"fmt"
	"net/netip"
	"time"

	"tare/traffic"
)

// Mode is what a request of http costs in connections.
type Mode string

// The modes.
const (
	KeepAlive Mode = "keepalive" // all requests on the same connections
	CloseEach Mode = "close"     // a connection for each request
)

// Options are those of GET requests of HTTP/1.1 and their responses (RFC 9112), one
// outstanding on each connection. The client owns the window.
//
// Without a Rate it is a closed loop: a connection sends its next request when
// its response is whole. With one it is an open loop: requests fall due at even
// steps, whatever the server does, and each is sent on the first connection
// that is free.
type Options struct {
	Window      traffic.Window
	Mode        Mode // default KeepAlive
	Connections int  // default 10, at most 1024

	// Token is the run's. Serve answers no request without it. A client
	// without one talks to any server, and does not report the end of the run to it.
	Token *traffic.Token

	Size int // bytes of a response's body; Serve only, at most MaxBody; default 1024

	// Of Call only:
	Rate float64 // requests/s of an open loop, 1 or more; 0: closed loop
	Path string  // default "/"
	Host string  // default: the server's address
}

// Calls is the client's outcome. It counts the responses that ended inside
// the window, of any status.
type Calls struct {
	Count   int64
	Elapsed time.Duration
	Bytes   int64 // of these responses, headers included

	// Latency is the response time. In a closed loop it is that of the
	// responses counted, from before the send call (of a request that had to
	// open its connection: before the connect call) to the whole response. It
	// is what it is: a closed loop asks less while the server stalls, and no
	// arithmetic brings the missing requests back.
	//
	// In an open loop it is that of the requests that fell due inside the
	// window, from the instant they were due. One that was not answered within
	// two seconds after the window counts as having taken until then.
	Latency *traffic.Histogram

	// Of an open loop only:
	Service    *traffic.Histogram // the same requests from before the send call, if answered
	Sent       int64              // requests sent inside the window
	Unanswered int64              // that fell due inside it and got no response in time

	NotOK      map[int]int64    // responses by status, those of 200 to 299 left out
	Reconnects int64            // KeepAlive: connections that the server ended and that were opened again
	Resets     int64            // CloseEach: connections that the server did not close, so that this end reset them
	Failures   map[string]int64 // requests and connections that failed, by cause
	Congestion string           // the congestion control read back
	Series     []traffic.Point
	traffic.Taken
}

// Rate is the responses per second.
func (c Calls) Rate() float64 { return float64(c.Count) / c.Elapsed.Seconds() }

const (
	maxTarget = 4 << 10 // bytes of path and host
)

// checked fills the defaults in and refuses what can't be asked.
func (c Options) checked() (Options, error) {
	c.Connections = cmp.Or(c.Connections, traffic.DefaultConnections)
	c.Size = cmp.Or(c.Size, traffic.DefaultBody)
	c.Mode = cmp.Or(c.Mode, KeepAlive)
	c.Path = cmp.Or(c.Path, "/")
	switch {
	case c.Mode != KeepAlive && c.Mode != CloseEach:
		return c, fmt.Errorf("mode %q: want %s or %s", c.Mode, KeepAlive, CloseEach)
	case c.Connections < 1 || c.Connections > traffic.MaxFlows:
		return c, fmt.Errorf("%d connections: want 1 to %d", c.Connections, traffic.MaxFlows)
	case c.Size < 1 || c.Size > traffic.MaxBody:
		return c, fmt.Errorf("a body of %d bytes: want 1 to %d", c.Size, traffic.MaxBody)
	case c.Rate != 0 && !(c.Rate >= 1 && c.Rate <= 1e9):
		return c, fmt.Errorf("a rate of %v requests/s: want 1 to 1e9", c.Rate)
	case c.Path[0] != '/' || !traffic.Printable(c.Path):
		return c, fmt.Errorf("path %q: it must begin with / and hold neither blanks nor control characters; write them as %%20", c.Path)
	case !traffic.Printable(c.Host):
		return c, fmt.Errorf("host %q: it must hold neither blanks nor control characters", c.Host)
	case len(c.Path)+len(c.Host) > maxTarget:
		return c, fmt.Errorf("path and host of %d bytes: want %d at most", len(c.Path)+len(c.Host), maxTarget)
	}
	return c, c.Window.Check(1)
}

// Parts of a request that both ends of a run know.
const (
	tokenHeader = "X-Tare-Token"
	// endMethod is the method of the last request: the run is over.
	endMethod = "DELETE"
)

// request is the bytes of one request.
func (c Options) request(method string, to netip.AddrPort, closes bool) []byte {
	host := cmp.Or(c.Host, to.String())
	text := method + " " + c.Path + " HTTP/1.1\r\nHost: " + host + "\r\n"
	if c.Token != nil {
		text += tokenHeader + ": " + c.Token.Hex() + "\r\n"
	}
	if closes {
		text += "Connection: close\r\n"
	}
	return []byte(text + "\r\n")
}
