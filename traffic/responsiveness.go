package traffic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"runtime"
	"slices"
	"time"
)

// Responsiveness is round trips a minute under working conditions, after
// draft-ietf-ippm-responsiveness-09: connections of HTTP/2 over TLS 1.3 on which the server
// sends without end, and requests for one byte beside them, each on a new connection (foreign
// probes) and on those of the load. The client owns the window. The greeting goes ahead of TLS.
//
// It differs from the draft in that all connections of the load begin at once, and the window
// has a length: the draft adds one connection after another, and ends when the values are
// stable.
type Responsiveness struct {
	Token  Token
	Window Window // without Slots: a queue needs longer than a slot to fill
	Flows  int    // connections of the load; default 4, at most MaxLoads
}

// The draft's parameters.
const (
	MaxLoads = 16 // MNP
	// probeGap is the least time between two foreign probes, and between two on the load (MPS).
	probeGap = time.Second / 100
	// probeShare is the most of the path's capacity that probes use (PTC), at so many bits for
	// one of each kind.
	probeShare = 0.05
	probeBits  = 8 * (5000 + 1000)
	// keptShare is the share of the values, from the smallest on, whose mean is taken (TMP).
	keptShare = 0.95
)

const defaultLoads = 4

// checked fills the defaults in and refuses what can't be asked.
func (c Responsiveness) checked() (Responsiveness, error) {
	c.Flows = cmp.Or(c.Flows, defaultLoads)
	switch {
	case c.Window.Slots != nil:
		return c, errors.New("slots: responsiveness is measured in windows")
	case c.Flows < 1 || c.Flows > MaxLoads:
		return c, fmt.Errorf("%d flows: want 1 to %d", c.Flows, MaxLoads)
	}
	return c, c.Window.check(c.Flows)
}

// ProbeTimes are what the probes of a window took, each the mean of the fastest 95 %.
type ProbeTimes struct {
	TCP    time.Duration // foreign: the handshake of TCP
	TLS    time.Duration // foreign: the handshake of TLS 1.3, one round trip
	HTTP   time.Duration // foreign: the request, until all of its response
	Loaded time.Duration // the same on a connection of the load
}

// PerMinute is the responsiveness that they come to, in round trips a minute: the mean of that
// of the foreign probes and of that on the load.
func (t ProbeTimes) PerMinute() float64 {
	foreign := (t.TCP + t.TLS + t.HTTP).Minutes() / 3
	return (1/foreign + 1/t.Loaded.Minutes()) / 2
}

// ResponsivenessCalls is the client's outcome.
type ResponsivenessCalls struct {
	ProbeTimes
	Foreign, OnLoad int                // probes whose times are in it
	Unanswered      int                // of them, those that were ended 2 s after the window; they count as so long
	Received        *TCPStreamReceived // the load
	Congestion      string             // the congestion control read back
}

// CallResponsiveness runs one Responsiveness against a ServeResponsiveness.
func CallResponsiveness(ctx context.Context, to netip.AddrPort, c Responsiveness) (_ ResponsivenessCalls, err error) {
	defer during(fmt.Sprintf("call responsiveness at %v", to), &err)
	if c, err = c.checked(); err != nil {
		return ResponsivenessCalls{}, err
	}
	runtime.LockOSThread() // connections are opened in the namespace of this thread
	defer runtime.UnlockOSThread()
	r := startRun(ctx)
	defer r.end()
	client, err := newWebClient(r, to, c.Token)
	if err != nil {
		return ResponsivenessCalls{}, err
	}
	load, err := openLoad(client, c)
	if err != nil {
		return ResponsivenessCalls{}, r.cause(err)
	}
	defer load.close()
	calls := ResponsivenessCalls{}
	if calls.Congestion, err = congestion(load.flows[0].fd); err != nil {
		return ResponsivenessCalls{}, err
	}
	probes := newProbes(client, load)
	if calls.Received, err = load.carry(probes.launch); err != nil {
		return ResponsivenessCalls{}, r.cause(err)
	}
	if err := probes.sum(&calls); err != nil {
		return ResponsivenessCalls{}, err
	}
	load.close()
	return calls, endSessions(r, to, c.Token)
}

// trimmedMean is the mean of the fastest 95 % of times, at least of one; it sorts them.
func trimmedMean(times []time.Duration) time.Duration {
	slices.Sort(times)
	kept := times[:int(math.Ceil(keptShare*float64(len(times))))]
	var sum time.Duration
	for _, t := range kept {
		sum += t
	}
	return sum / time.Duration(len(kept))
}
