package udp

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// receiving is what the receiving threads of one run share.
type receiving struct {
	run      *traffic.Run
	token    traffic.Token
	size     int // bytes of each datagram
	flows    int
	threads  int
	table    *traffic.Timetable
	unclosed atomic.Int32 // threads whose window has not closed
}

// receiveThread is one receiving thread: a socket, and the flows that the kernel
// hands to it.
type receiveThread struct {
	*receiving
	number int // of the thread
	fd     int
	intake *intake
	flow   []inflow // lane n is at n/threads

	meter           *traffic.Meter
	delays          *delayMeter // nil: not measured
	unauthenticated int64
	messages        int64 // that brought something; with UDP_GRO each may hold several datagrams

	ended      int           // flows that the sender has ended
	notifyAt   time.Duration // when to send the sender something next
	quietSince time.Duration
	failure    error
	drops      [2]uint32 // of the socket, at the window's edges
	blind      bool      // its kernel counts no drops: gVisor's
}

// inflow is one flow as it arrives.
type inflow struct {
	from      address
	sequences *sequences
	ended     bool // the sender reported it
}

// lifeSign is how often a receiver shows its sender that it is there.
const lifeSign = 250 * time.Millisecond

func newReceiving(r *traffic.Run, token traffic.Token, w traffic.Window, size, flows, threads int) *receiving {
	s := &receiving{run: r, token: token, size: size, flows: flows, threads: threads, table: traffic.NewTimetable(w, threads)}
	s.unclosed.Store(int32(threads))
	return s
}

// thread is the receiver of the lanes that fall to socket fd, number n.
func (s *receiving) thread(n, fd int, in *intake, delays *delayMeter) *receiveThread {
	u := &receiveThread{receiving: s, number: n, fd: fd, intake: in, delays: delays, meter: traffic.NewMeter(s.table)}
	u.flow = make([]inflow, (s.flows-n+s.threads-1)/s.threads)
	for i := range u.flow {
		u.flow[i].sequences = newSequences()
	}
	return u
}

// meet waits for the hello of each of the thread's flows.
func (u *receiveThread) meet() error {
	limit, met := u.run.Now()+traffic.FirstFlow, false
	var from address
	for missing := len(u.flow); missing > 0; {
		lane, unauthenticated, err := awaitHello(u.run, u.fd, &u.token, &from, limit)
		u.unauthenticated += unauthenticated
		if err != nil && met {
			return fmt.Errorf("wait for all flows: %d of %d sent no hello: %w", missing, len(u.flow), err)
		}
		if err != nil {
			return err
		}
		i := int(lane) / u.threads
		if i >= len(u.flow) {
			return u.tooMany(lane)
		}
		if u.flow[i].from.length == 0 {
			missing--
		}
		u.flow[i].from = from
		limit, met = u.run.Now()+2*traffic.Grace, true
	}
	return nil
}

func (u *receiveThread) tooMany(lane uint16) error {
	return fmt.Errorf("flow %d came, where %d are served: give both ends the same number of flows", lane+1, u.flows)
}

func (u *receiveThread) fail(err error) {
	if u.failure == nil {
		u.failure = err
	}
}

// receive runs until the window has closed and nothing more is on its way.
func (u *receiveThread) receive() error {
	if err := u.meet(); err != nil {
		return err
	}
	if err := u.beginSlots(); err != nil {
		return err
	}
	u.quietSince = u.run.Now()
	limit := u.quietSince + u.table.Limit()
	for u.failure == nil && !u.run.Stopped() {
		n, errno := u.intake.take(u.fd)
		now := u.run.Now()
		if errno != 0 && !traffic.Waited(errno) {
			return fmt.Errorf("receive datagrams: %w", errno)
		}
		arrived := u.account(n)
		if u.intake.sieve != nil {
			arrived += u.intake.sieve.take(u.flow[0].sequences)
		}
		u.messages += int64(n)
		if arrived > 0 {
			u.quietSince = now
		}
		u.step(traffic.Event{At: now, N: arrived, More: u.more(n, now)})
		done, err := u.over(now, limit)
		if done || err != nil {
			return err
		}
	}
	if u.failure != nil {
		return u.failure
	}
	return context.Canceled
}

// beginSlots makes the thread count by slots, where the run has them. It then waits
// longer for data, so that it does not wake in the slots of others.
func (u *receiveThread) beginSlots() error {
	if u.table.Slots == nil {
		return nil
	}
	t, err := traffic.TakeTurns(u.run, u.table.Slots)
	if err != nil {
		return err
	}
	u.meter.CountSlots(t, u.number == 0, nil, nil)
	for i := range u.flow { // lost is what is missing of all that was sent
		u.flow[i].sequences.open()
	}
	if u.drops[traffic.Opening], err = u.readDrops(); err != nil {
		return err
	}
	return traffic.SetTimeout(u.fd, traffic.StallLimit/16)
}

// step takes an event, and marks the window's edges for all that is counted
// but by the meter. The socket's drops are read before the window's owner is
// called, which takes its time.
func (u *receiveThread) step(e traffic.Event) {
	before := u.meter.Phase()
	var drops uint32
	read := func() {
		var err error
		if drops, err = u.readDrops(); err != nil {
			u.fail(err)
		}
	}
	if u.meter.AtEdge(e.At) || before == traffic.Idle && e.N > 0 {
		read()
	}
	u.meter.Step(e)
	if u.meter.Phase() == before || u.meter.Phase() < traffic.Open {
		return
	}
	if u.table.Slots != nil { // their edges are none of the run's but for the last
		if u.meter.Phase() != traffic.Closed {
			return
		}
		read()
	}
	for i := range u.flow {
		if u.meter.Phase() == traffic.Open {
			u.flow[i].sequences.open()
		} else {
			u.flow[i].sequences.close()
		}
	}
	if u.meter.Phase() == traffic.Open {
		u.drops[traffic.Opening] = drops
		return
	}
	u.drops[traffic.Closing] = drops
	u.unclosed.Add(-1)
	u.notifyAt = e.At
}

// readDrops is how many datagrams the socket has dropped, where its kernel counts them.
func (u *receiveThread) readDrops() (uint32, error) {
	drops, err := socketDrops(u.fd)
	if errors.Is(err, unix.ENOPROTOOPT) {
		u.blind = true
		return 0, nil
	}
	return drops, err
}

// more reports whether the socket may hold more than the n messages that came.
// A call for one datagram does not show it, so at an edge it looks.
func (u *receiveThread) more(n int, now time.Duration) bool {
	if full := u.intake.full(); n < full || full > 1 || !u.meter.AtEdge(now) {
		return n == full
	}
	waits := [1]unix.PollFd{{Fd: int32(u.fd), Events: unix.POLLIN}}
	ready, err := unix.Poll(waits[:], 0)
	return err == nil && ready > 0
}

// account takes the n messages that the batch holds, and gives how many
// datagrams of data were in them.
func (u *receiveThread) account(n int) (data int64) {
	b := u.intake.batch
	for i := range n {
		p, size := b.packet(i), b.segment(i)
		for size > 0 && len(p) > size {
			data += u.one(p[:size], i)
			p = p[size:]
		}
		data += u.one(p, i)
	}
	return data
}

// one takes a datagram, of message i, and gives 1 if it is data.
func (u *receiveThread) one(p []byte, i int) int64 {
	h, ok := traffic.ParseHeader(p, &u.token)
	if !ok {
		u.unauthenticated++
		return 0
	}
	at := int(h.Lane) / u.threads
	if at >= len(u.flow) {
		u.fail(u.tooMany(h.Lane))
		return 0
	}
	switch h.Kind {
	case traffic.KindData:
		if len(p) != u.size || u.intake.batch.truncated(i) {
			u.fail(fmt.Errorf("datagrams of another size than %d bytes came: give both ends the same size", u.size))
			return 0
		}
		first := u.flow[at].sequences.see(h.Sequence)
		if first && u.delays != nil && u.meter.Phase() != traffic.Closed {
			if err := u.delays.take(u.intake.batch, i, h.Sent, u.meter.Phase() == traffic.Open); err != nil {
				u.fail(err)
			}
		}
		return 1
	case traffic.KindHello: // the welcome was lost
		u.sendKind(traffic.KindWelcome, &u.flow[at])
	case traffic.KindProbe:
		u.sendKind(traffic.KindProof, &u.flow[at])
	case traffic.KindEnd:
		if f := &u.flow[at]; !f.ended {
			f.ended = true
			u.ended++
		}
	}
	return 0
}

func (u *receiveThread) sendKind(k traffic.Kind, f *inflow) {
	if err := sendKind(u.fd, k, &u.token, &f.from); err != nil {
		u.fail(err)
	}
}

// over reports whether the run is over at now, or what is wrong with it.
func (u *receiveThread) over(now, limit time.Duration) (bool, error) {
	// Longer than a queue on the path holds a datagram, and than a CPU lets its
	// backlog wait while another CPU has delivered what was sent later.
	const settle = 10 * traffic.Tick
	quiet := now - u.quietSince
	quiet -= u.table.Slots.Silence() // a pause between two slots is no silence
	u.notifySender(now)
	if u.meter.Phase() == traffic.Closed {
		ended := u.ended == len(u.flow)
		settled := quiet >= settle && (ended || u.unclosed.Load() == 0)
		return ended && u.complete() || settled || now > u.meter.To()+traffic.DrainLimit, nil
	}
	switch {
	case u.ended > 0:
		return false, errors.New("the sender ended before the window closed; see what it reported")
	case quiet > traffic.Grace && u.meter.Sum() == 0:
		return false, fmt.Errorf("the sender sent its hello, but none of its datagrams of %d bytes came within %v; see whether the path carries that size, and what the sender reported", u.size, traffic.Grace)
	case quiet > traffic.DrainLimit && u.meter.Sum() > 0:
		return false, fmt.Errorf("the sender fell silent after %d datagrams; see whether it still runs and whether the path still passes packets", u.meter.Sum())
	case now > limit:
		return false, fmt.Errorf("the sender did not fill the window within %v; see what it reported", u.table.Limit())
	}
	return false, nil
}

// complete reports whether nothing of the window is missing.
func (u *receiveThread) complete() bool {
	for i := range u.flow {
		if u.flow[i].sequences.lost() > 0 {
			return false
		}
	}
	return true
}

// notifySender reports to the sender, again and again until it ends, that all windows
// have closed, and before that a few times a second that this end is there.
func (u *receiveThread) notifySender(now time.Duration) {
	if now < u.notifyAt {
		return
	}
	what := traffic.KindWelcome
	u.notifyAt = now + lifeSign
	if u.meter.Phase() == traffic.Closed {
		u.notifyAt = now + traffic.Tick/2
	}
	if u.unclosed.Load() == 0 {
		what = traffic.KindStop
	}
	for i := range u.flow {
		if f := &u.flow[i]; !f.ended {
			u.sendKind(what, f)
		}
	}
}
