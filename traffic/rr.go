package traffic

import (
	"cmp"
	"fmt"
	"time"
)

// RequestResponse is a closed loop of requests and responses: tcp_rr, tcp_crr
// or udp_rr. The client owns the window.
type RequestResponse struct {
	Token  Token
	Window Window
	Flows  int // connections that each run a loop; default 1; tcp_crr: always 1

	// Size is the payload bytes of a request and of a response. Default 1 for
	// TCP; tcp_crr sends the greeting of 17 bytes before the request. A
	// datagram carries its header: default and least HeaderBytes for UDP.
	Size int

	// Spin makes both ends ask the kernel again and again instead of waiting in
	// it: give each its own CPU.
	Spin bool

	// Rate makes it an open loop: so many requests a second over all flows
	// together, each sent when it is due, whether or not the ones before it are
	// answered. Zero: a closed loop. Not for tcp_crr.
	Rate float64

	// OwnCPU: the client has a CPU apart from the server's, so that an
	// open loop may spin before a request is due.
	OwnCPU bool

	// Reset makes the client of tcp_crr end each connection by RST. Both ends
	// must agree on it.
	Reset bool

	// Cut lets datagrams of udp_rr travel in fragments, without the flag that forbids it.
	Cut bool

	// Unrecorded leaves the histogram and the series out, to measure what they
	// cost. Only a single closed loop of tcp_rr supports it.
	Unrecorded bool

	// Steps keeps each round trip of an open loop, for percentiles over time.
	Steps bool

	// Timeout is how long a request of udp_rr may be unanswered before it is
	// counted as lost and sent again. Default 100 ms. TCP has its own.
	Timeout time.Duration
}

// Transactions is the client's outcome. It counts the transactions that ended
// inside the window.
type Transactions struct {
	Count   int64
	Elapsed time.Duration

	// RTT is the full round trip of each of them, from before the request's
	// send call to its whole response; for tcp_crr from before the connect
	// call. A request that was lost and sent again counts from its first
	// sending. In an open loop it is the response time: from when the request
	// was due, and it holds the requests that were left without an answer too.
	RTT *Histogram

	// Of an open loop:
	Service *Histogram // from before the request's send call
	Offered float64    // requests sent per second inside the window
	Trips   []Trips    // of loaded_rr, by the window's intervals

	Lost       int64            // requests of udp_rr and dns that were not answered in time
	Failures   map[string]int64 // connections of tcp_crr that failed, by cause
	Congestion string           // of TCP, the congestion control read back
	Series     []Point
	Taken
}

// Rate is the transactions per second.
func (t Transactions) Rate() float64 { return float64(t.Count) / t.Elapsed.Seconds() }

// Served is the server's outcome: all that it answered, window or not.
type Served struct {
	Transactions    int64
	Unauthenticated int64  // connections or datagrams without the token
	Congestion      string // of TCP, the congestion control read back
}

const (
	// DefaultTimeout is how long a request of UDP waits for its response.
	DefaultTimeout = 100 * time.Millisecond
	// MaxRequest is the largest request of one flow, in bytes.
	MaxRequest = 1 << 20
	maxRate    = 1e7 // requests a second
	// MaxShared is the largest request with several flows: one that both
	// sockets' buffers hold, since one thread serves all flows and may not
	// wait for one of them.
	MaxShared = 16 << 10
)

// Checked fills the defaults in, for requests of least to most bytes.
func (c RequestResponse) Checked(least, most int) (RequestResponse, error) {
	c.Flows = cmp.Or(c.Flows, 1)
	c.Size = cmp.Or(c.Size, least)
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	if c.Flows > 1 {
		most = min(most, MaxShared)
	}
	switch {
	case c.Flows < 1 || c.Flows > MaxFlows:
		return c, fmt.Errorf("%d flows: want 1 to %d", c.Flows, MaxFlows)
	case c.Size < least || c.Size > most:
		return c, fmt.Errorf("requests of %d bytes on %d flows: want %d to %d", c.Size, c.Flows, least, most)
	case !(c.Rate >= 0 && c.Rate <= maxRate):
		return c, fmt.Errorf("rate of %g requests a second: want up to %g", c.Rate, maxRate)
	case c.Timeout < Tick || c.Timeout > time.Second:
		return c, fmt.Errorf("timeout of %v: want %v to 1s", c.Timeout, Tick)
	}
	return c, c.Window.Check(c.Flows)
}
