package http

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// stallLimit is how long the server may send nothing on any connection, which
// ends the run, or on a single one, which is a failure of its request.
const stallLimit = traffic.Grace

// Call runs one http against any server of HTTP/1.1, on one thread. It
// fails within five seconds when the server does not answer, or answers with
// something else than HTTP.
func Call(ctx context.Context, to netip.AddrPort, c Options) (_ Calls, err error) {
	defer traffic.During(fmt.Sprintf("call http at %v", to), &err)
	if c, err = c.checked(); err != nil {
		return Calls{}, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := traffic.StartRun(ctx)
	defer r.End()
	h, err := newClient(r, to, c)
	if err != nil {
		return Calls{}, err
	}
	defer h.close()
	restore, err := traffic.SharpenSleep()
	if err != nil {
		return Calls{}, err
	}
	series := traffic.StartSampler(r, h.meter)
	err = errors.Join(h.work(), restore())
	points := series.Finish()
	if err == nil && c.Token != nil {
		h.close() // the server sees their ends before that of the run
		err = endRun(r, to, c)
	}
	if err != nil {
		return Calls{}, r.Cause(err)
	}
	calls := h.calls
	calls.Count, calls.Elapsed, calls.Series = h.meter.Counted(), h.meter.Elapsed(), points
	if h.all != nil {
		calls.Latency = h.all
		calls.Taken.Add(h.meter)
	}
	calls.Failures, calls.NotOK = h.failures.Named(), h.notOK()
	return calls, nil
}

// client is the client of http: one thread for all connections.
type client struct {
	run      *traffic.Run
	to       netip.AddrPort
	dialer   *dialer
	mode     Mode
	token    bool // a refusal ends the run
	request  []byte
	table    *traffic.Timetable
	meter    *traffic.Meter
	arrivals *arrivals // nil: a closed loop
	set      *poll
	buffer   []byte
	conns    []conn
	free     queue // connections that may take a request

	calls        Calls
	all          *traffic.Histogram // latencies of all slots, those of calls being of the slot under way; nil: all of the window counts
	statuses     [1000]int64
	failures     traffic.Failures
	lastReceived time.Duration // when the server last sent something, or no request was open
	limit        time.Duration // of the whole run
	looked       time.Duration
	trouble      error // the last failure
	broken       error // what ends the run
}

func newClient(r *traffic.Run, to netip.AddrPort, c Options) (*client, error) {
	dialer, err := newDialer(to)
	if err != nil {
		return nil, err
	}
	set, err := openPoll(c.Connections)
	if err != nil {
		return nil, err
	}
	table := traffic.NewTimetable(c.Window, 1)
	h := &client{
		run: r, to: netip.AddrPortFrom(to.Addr().Unmap(), to.Port()), dialer: dialer, mode: c.Mode, token: c.Token != nil,
		request: c.request("GET", to, c.Mode == CloseEach),
		table:   table, meter: traffic.NewMeter(table), set: set, buffer: traffic.Buffer(64 << 10),
		conns: make([]conn, c.Connections), free: newQueue(c.Connections),
	}
	h.calls.Latency = traffic.NewHistogram()
	if c.Rate > 0 {
		h.arrivals = newArrivals(c.Rate)
		h.calls.Service = traffic.NewHistogram()
	}
	for i := range h.conns {
		h.conns[i].fd, h.conns[i].index = -1, i
	}
	if c.Window.Slots != nil {
		t, err := traffic.TakeTurns(r, c.Window.Slots)
		if err != nil {
			set.close()
			return nil, err
		}
		h.all = traffic.NewHistogram()
		h.meter.CountSlots(t, true, h.calls.Latency, h.all)
	}
	return h, nil
}

// work runs the requests until the window has closed and those that are open,
// or fell due inside it, are answered.
func (h *client) work() error {
	now := h.run.Now()
	h.lastReceived, h.looked, h.limit = now, now, now+h.table.Limit()
	for i := range h.conns {
		h.begin(&h.conns[i], now)
	}
	for h.broken == nil && !h.over() {
		if h.meter.AtRest(h.run.Now()) && !h.asking() {
			h.meter.AwaitSlot(h.run)
		}
		h.dispatch(h.run.Now())
		ready, err := h.set.wait(h.pause())
		if err != nil {
			return err
		}
		for _, event := range ready {
			h.turn(&h.conns[event.Fd], event.Events)
		}
		if now = h.run.Now(); now-h.looked >= traffic.Tick {
			h.looked = now
			h.look(now)
			h.meter.Step(traffic.Event{At: now})
		}
	}
	h.meter.KeepSlot()
	return h.broken
}

// over reports whether the run has ended: the window has closed, and what was asked is
// answered, or will not be.
func (h *client) over() bool {
	if h.run.Stopped() {
		h.broken = context.Canceled
		return true
	}
	if h.meter.Phase() != traffic.Closed {
		return false
	}
	if h.arrivals != nil {
		h.arrivals.stop = h.meter.To()
	}
	now := h.run.Now()
	if now < h.meter.To()+traffic.DrainLimit && (h.due() != traffic.Unset || h.asking()) {
		return false
	}
	h.giveUp(now)
	return true
}

// due is when the next request falls due; unset after the last. In a closed
// loop one is due whenever a connection is free and it is the run's turn.
func (h *client) due() time.Duration {
	switch {
	case h.arrivals != nil:
		return h.arrivals.due()
	case h.meter.Phase() == traffic.Closed:
		return traffic.Unset
	}
	return h.meter.SendsFrom()
}

// asking reports whether a request waits for its response.
func (h *client) asking() bool {
	for i := range h.conns {
		if h.conns[i].state == asking {
			return true
		}
	}
	return false
}

// giveUp counts what an open loop got no answer to as having taken until now.
func (h *client) giveUp(now time.Duration) {
	if h.arrivals == nil {
		return
	}
	late := func(due time.Duration) {
		if h.inWindow(due) {
			h.calls.Unanswered++
			h.calls.Latency.Record(now - due)
		}
	}
	for i := range h.conns {
		if c := &h.conns[i]; c.state == asking {
			late(c.due)
		}
	}
	for due := h.arrivals.due(); due != traffic.Unset; due = h.arrivals.due() {
		h.arrivals.take()
		late(due)
	}
}

// pause is how long the next wait may last.
func (h *client) pause() time.Duration {
	due := h.due()
	if due == traffic.Unset || h.free.empty() {
		return traffic.Tick
	}
	return min(max(due-h.run.Now(), 0), traffic.Tick)
}

// dispatch sends what is due on the connections that are free. All that a
// round of events has freed send one after the other: a server that wakes up
// finds several requests, and sleeps less often.
func (h *client) dispatch(now time.Duration) {
	for due := h.due(); due <= now && !h.free.empty(); due = h.due() {
		if h.arrivals != nil {
			h.arrivals.take()
		}
		c := &h.conns[h.free.pop()]
		c.due = due
		h.ask(c, h.run.Now())
	}
}

// record takes a whole response.
func (h *client) record(c *conn, now time.Duration) {
	inside := h.meter.Step(traffic.Event{At: now, N: 1})
	if inside {
		h.calls.Bytes += c.parser.size
		h.statuses[c.parser.status]++
	}
	switch {
	case h.arrivals == nil && inside:
		h.calls.Latency.Record(now - c.begun)
	case h.arrivals != nil && h.inWindow(c.due):
		h.calls.Latency.Record(now - c.due)
		h.calls.Service.Record(now - c.begun)
	}
}

// inWindow reports whether a request that has fallen due did so in the window.
func (h *client) inWindow(due time.Duration) bool {
	switch h.meter.Phase() {
	case traffic.Open:
		return due >= h.meter.From()
	case traffic.Closed:
		return due >= h.meter.From() && due < h.meter.To()
	}
	return false
}

// look sees, once a tick, what has waited for too long.
func (h *client) look(now time.Duration) {
	waits := h.due() <= now
	for i := range h.conns {
		c := &h.conns[i]
		waits = waits || c.state == asking || c.state == connecting || c.state == failed
		switch {
		case c.state == failed && now >= c.since+traffic.Tick:
			h.begin(c, now)
		case c.state == connecting && now-c.since > stallLimit:
			h.fail(c, "connect", traffic.ErrSilent, now)
		case c.state == asking && now-c.since > stallLimit:
			h.fail(c, h.step(c, "receive"), traffic.ErrSilent, now)
		case c.state == ending && now-c.since > traffic.GreetingLimit:
			h.reset(c, now)
		}
	}
	if !waits {
		h.lastReceived = now
	}
	switch {
	case h.broken != nil:
	case now-h.lastReceived > stallLimit:
		h.broken = h.stalled()
	case now > h.limit && h.meter.Phase() == traffic.Idle:
		h.broken = fmt.Errorf("the server began to answer, but no response was whole within %v; ask for smaller ones, or measure for longer", h.table.Limit())
	}
}

// stalled is the error of a server that answers no more.
func (h *client) stalled() error {
	trouble := h.trouble
	if trouble == nil {
		trouble = traffic.ErrSilent
	}
	if h.meter.Sum() == 0 {
		return fmt.Errorf("no request was answered for %v: %w; see whether a server of HTTP runs there and can be reached", stallLimit, trouble)
	}
	return fmt.Errorf("the server answered %d requests and then none for %v: %w; see whether it still runs", h.meter.Sum(), stallLimit, trouble)
}

// notHTTP is the error of a server whose bytes are no response.
func (h *client) notHTTP(err error, came []byte) error {
	const enough = 24
	return fmt.Errorf("response %d is not HTTP/1.1: %w: %.*q; see what listens at this address", h.meter.Sum()+1, err, enough+2, came[:min(len(came), enough)])
}

// notOK gives the counts of the statuses that are no success.
func (h *client) notOK() map[int]int64 {
	counts := map[int]int64{}
	for status, n := range h.statuses {
		if n > 0 && (status < 200 || status > 299) {
			counts[status] = n
		}
	}
	return counts
}

// close ends all connections, with a reset, which leaves the ports to the next
// run.
func (h *client) close() {
	for i := range h.conns {
		if c := &h.conns[i]; c.fd >= 0 {
			traffic.Abort(c.fd)
			c.fd = -1
		}
	}
	h.set.close()
}

// endRun reports the end of the run to a server of ours.
func endRun(r *traffic.Run, to netip.AddrPort, c Options) error {
	family, sa, err := traffic.SocketAddress(to)
	if err != nil {
		return err
	}
	fd, err := traffic.OpenSocket(family, unix.SOCK_STREAM)
	if err != nil {
		return err
	}
	defer traffic.CloseSocket(fd)
	err = traffic.Connect(r, fd, sa)
	if err == nil {
		err = traffic.SendAll(r, fd, c.request(endMethod, to, true))
	}
	if err != nil {
		return fmt.Errorf("end the run: %w; see what the server reported", err)
	}
	traffic.AwaitClose(r, fd, r.Now()+traffic.DrainLimit)
	return nil
}

var errRefused = errors.New("the server refused the run's token (status 403); give both ends the same one")
