package traffic

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// httpStall is how long the server may send nothing on any connection, which
// ends the run, or on a single one, which is a failure of its request.
const httpStall = grace

// CallHTTP runs one http against any server of HTTP/1.1, on one thread. It
// fails within five seconds when the server does not answer, or answers with
// something else than HTTP.
func CallHTTP(ctx context.Context, to netip.AddrPort, c HTTP) (_ HTTPCalls, err error) {
	defer during(fmt.Sprintf("call http at %v", to), &err)
	if c, err = c.checked(); err != nil {
		return HTTPCalls{}, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := startRun(ctx)
	defer r.end()
	h, err := newHTTPClient(r, to, c)
	if err != nil {
		return HTTPCalls{}, err
	}
	defer h.close()
	restore, err := sharpenSleep()
	if err != nil {
		return HTTPCalls{}, err
	}
	series := startSampler(r, h.table, h.meter)
	err = errors.Join(h.work(), restore())
	points := series.finish()
	if err == nil && c.Token != nil {
		h.close() // the server sees their ends before that of the run
		err = endHTTP(r, to, c)
	}
	if err != nil {
		return HTTPCalls{}, r.cause(err)
	}
	calls := h.calls
	calls.Count, calls.Elapsed, calls.Series = h.meter.counted, h.meter.elapsed(), points
	if h.all != nil {
		calls.Latency = h.all
		calls.Taken.add(h.meter)
	}
	calls.Failures, calls.NotOK = h.failures.named(), h.notOK()
	return calls, nil
}

// httpClient is the client of http: one thread for all connections.
type httpClient struct {
	run      *run
	to       netip.AddrPort
	dialer   *dialer
	mode     HTTPMode
	token    bool // a refusal ends the run
	request  []byte
	table    *timetable
	meter    *meter
	arrivals *arrivals // nil: a closed loop
	set      *httpPoll
	buffer   []byte
	conns    []httpConn
	free     queue // connections that may take a request

	calls        HTTPCalls
	all          *Histogram // latencies of all slots, those of calls being of the slot under way; nil: all of the window counts
	statuses     [1000]int64
	failures     failures
	lastReceived time.Duration // when the server last sent something, or no request was open
	limit        time.Duration // of the whole run
	looked       time.Duration
	trouble      error // the last failure
	broken       error // what ends the run
}

func newHTTPClient(r *run, to netip.AddrPort, c HTTP) (*httpClient, error) {
	dialer, err := newDialer(to)
	if err != nil {
		return nil, err
	}
	set, err := openHTTPPoll(c.Connections)
	if err != nil {
		return nil, err
	}
	table := newTimetable(c.Window, 1)
	h := &httpClient{
		run: r, to: netip.AddrPortFrom(to.Addr().Unmap(), to.Port()), dialer: dialer, mode: c.Mode, token: c.Token != nil,
		request: c.request("GET", to, c.Mode == CloseEach),
		table:   table, meter: newMeter(table), set: set, buffer: prefaulted(64 << 10),
		conns: make([]httpConn, c.Connections), free: newQueue(c.Connections),
	}
	h.calls.Latency = NewHistogram()
	if c.Rate > 0 {
		h.arrivals = newArrivals(c.Rate)
		h.calls.Service = NewHistogram()
	}
	for i := range h.conns {
		h.conns[i].fd, h.conns[i].index = -1, i
	}
	if c.Window.Slots != nil {
		t, err := takeTurns(r, c.Window.Slots)
		if err != nil {
			set.close()
			return nil, err
		}
		h.all = NewHistogram()
		h.meter.countSlots(t, true, h.calls.Latency, h.all)
	}
	return h, nil
}

// work runs the requests until the window has closed and those that are open,
// or fell due inside it, are answered.
func (h *httpClient) work() error {
	now := h.run.now()
	h.lastReceived, h.looked, h.limit = now, now, now+h.table.limit()
	for i := range h.conns {
		h.begin(&h.conns[i], now)
	}
	for h.broken == nil && !h.over() {
		h.awaitSlot()
		h.dispatch(h.run.now())
		ready, err := h.set.wait(h.pause())
		if err != nil {
			return err
		}
		for _, event := range ready {
			h.turn(&h.conns[event.Fd], event.Events)
		}
		if now = h.run.now(); now-h.looked >= tick {
			h.looked = now
			h.look(now)
			h.meter.step(event{at: now})
		}
	}
	h.meter.keepSlot()
	return h.broken
}

// awaitSlot waits for the run's turn, where it has turns and every request is
// answered.
func (h *httpClient) awaitSlot() {
	if h.meter.atRest(h.run.now()) && !h.asking() {
		h.meter.keepSlot()
		h.meter.slots.rest(h.run)
	}
}

// over reports whether the run has ended: the window has closed, and what was asked is
// answered, or will not be.
func (h *httpClient) over() bool {
	if h.run.stopped.Load() {
		h.broken = context.Canceled
		return true
	}
	if h.meter.phase != closed {
		return false
	}
	if h.arrivals != nil {
		h.arrivals.stop = h.meter.to
	}
	now := h.run.now()
	if now < h.meter.to+drainLimit && (h.due() != unset || h.asking()) {
		return false
	}
	h.giveUp(now)
	return true
}

// due is when the next request falls due; unset after the last. In a closed
// loop one is due whenever a connection is free and it is the run's turn.
func (h *httpClient) due() time.Duration {
	switch {
	case h.arrivals != nil:
		return h.arrivals.due()
	case h.meter.phase == closed:
		return unset
	case h.meter.slots != nil:
		return h.meter.slots.from
	}
	return 0
}

// asking reports whether a request waits for its response.
func (h *httpClient) asking() bool {
	for i := range h.conns {
		if h.conns[i].state == asking {
			return true
		}
	}
	return false
}

// giveUp counts what an open loop got no answer to as having taken until now.
func (h *httpClient) giveUp(now time.Duration) {
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
	for due := h.arrivals.due(); due != unset; due = h.arrivals.due() {
		h.arrivals.take()
		late(due)
	}
}

// pause is how long the next wait may last.
func (h *httpClient) pause() time.Duration {
	due := h.due()
	if due == unset || h.free.empty() {
		return tick
	}
	return min(max(due-h.run.now(), 0), tick)
}

// dispatch sends what is due on the connections that are free. All that a
// round of events has freed send one after the other: a server that wakes up
// finds several requests, and sleeps less often.
func (h *httpClient) dispatch(now time.Duration) {
	for due := h.due(); due <= now && !h.free.empty(); due = h.due() {
		if h.arrivals != nil {
			h.arrivals.take()
		}
		h.ask(&h.conns[h.free.pop()], due, h.run.now())
	}
}

// record takes a whole response.
func (h *httpClient) record(c *httpConn, now time.Duration) {
	inside := h.meter.step(event{at: now, n: 1})
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
func (h *httpClient) inWindow(due time.Duration) bool {
	switch h.meter.phase {
	case open:
		return due >= h.meter.from
	case closed:
		return due >= h.meter.from && due < h.meter.to
	}
	return false
}

// look sees, once a tick, what has waited for too long.
func (h *httpClient) look(now time.Duration) {
	waits := h.due() <= now
	for i := range h.conns {
		c := &h.conns[i]
		waits = waits || c.state == asking || c.state == connecting || c.state == failed
		switch {
		case c.state == failed && now >= c.since+tick:
			h.begin(c, now)
		case c.state == connecting && now-c.since > httpStall:
			h.fail(c, "connect", errSilent, now)
		case c.state == asking && now-c.since > httpStall:
			h.fail(c, h.step(c, "receive"), errSilent, now)
		case c.state == ending && now-c.since > greetingLimit:
			h.reset(c, now)
		}
	}
	if !waits {
		h.lastReceived = now
	}
	switch {
	case h.broken != nil:
	case now-h.lastReceived > httpStall:
		h.broken = h.stalled()
	case now > h.limit && h.meter.phase == idle:
		h.broken = fmt.Errorf("the server began to answer, but no response was whole within %v; ask for smaller ones, or measure for longer", h.table.limit())
	}
}

// stalled is the error of a server that answers no more.
func (h *httpClient) stalled() error {
	trouble := h.trouble
	if trouble == nil {
		trouble = errSilent
	}
	if h.meter.sum == 0 {
		return fmt.Errorf("no request was answered for %v: %w; see whether a server of HTTP runs there and can be reached", httpStall, trouble)
	}
	return fmt.Errorf("the server answered %d requests and then none for %v: %w; see whether it still runs", h.meter.sum, httpStall, trouble)
}

// notHTTP is the error of a server whose bytes are no response.
func (h *httpClient) notHTTP(err error, came []byte) error {
	const enough = 24
	return fmt.Errorf("response %d is not HTTP/1.1: %w: %.*q; see what listens at this address", h.meter.sum+1, err, enough+2, came[:min(len(came), enough)])
}

// notOK gives the counts of the statuses that are no success.
func (h *httpClient) notOK() map[int]int64 {
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
func (h *httpClient) close() {
	for i := range h.conns {
		if c := &h.conns[i]; c.fd >= 0 {
			abort(c.fd)
			c.fd = -1
		}
	}
	h.set.close()
}

// endHTTP reports the end of the run to a server of ours.
func endHTTP(r *run, to netip.AddrPort, c HTTP) error {
	family, sa, err := socketAddress(to)
	if err != nil {
		return err
	}
	fd, err := openSocket(family, unix.SOCK_STREAM)
	if err != nil {
		return err
	}
	defer closeSocket(fd)
	err = connect(r, fd, sa)
	if err == nil {
		err = sendAll(r, fd, c.request(httpEnd, to, true))
	}
	if err != nil {
		return fmt.Errorf("end the run: %w; see what the server reported", err)
	}
	awaitClose(r, fd, r.now()+drainLimit)
	return nil
}

var errRefused = errors.New("the server refused the run's token (status 403); give both ends the same one")
