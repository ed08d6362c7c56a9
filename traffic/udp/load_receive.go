package udp

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// ServeLoad receives one sweep.
func ServeLoad(ctx context.Context, l *Listener, s Load) (out LoadReceived, err error) {
	defer traffic.During("serve udp_load", &err)
	if s, err = s.checked(); err != nil {
		return out, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := traffic.StartRun(ctx)
	defer r.End()
	u := &loadReceiver{run: r, fd: l.fd, token: s.Token, size: s.Size, intake: newIntake(Mmsg, s.Size, false), sequences: newSequences(), answer: make([]byte, traffic.HeaderBytes)}
	var first cpuTicks
	if u.cpu, first, err = openCPUReader(); err != nil {
		return out, err
	}
	defer u.cpu.close()
	u.room(s.trials(), len(first.softirq))
	if u.intake.sieve, err = newSieve(u.fd, s.Mode, &u.token, u.size); err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, u.intake.sieve.close()) }()
	unauthenticated, err := answerHello(r, u.fd, &u.token, &u.from)
	u.unauthenticated = unauthenticated
	if err != nil {
		return out, err
	}
	if err := u.receive(); err != nil {
		return out, r.Cause(err)
	}
	return u.outcome()
}

// loadReceiver is the receiving end of a sweep.
type loadReceiver struct {
	run    *traffic.Run
	fd     int
	token  traffic.Token
	size   int
	from   address
	intake *intake
	cpu    *cpuReader

	step      uint16 // the trial under way; 0: none yet
	sequences *sequences
	first     time.Duration // when its first datagram came
	last      time.Duration

	report traffic.Header // the last one
	answer []byte
	points []cpuPoint // the last before the window, then one after each trial
	count  int        // of the trials in points

	total           int64
	duplicates      int64
	unauthenticated int64
	ended           bool
	failure         error
}

// cpuPoint is what the CPUs had spent when a trial was reported.
type cpuPoint struct {
	at    time.Duration
	ticks cpuTicks
}

// room makes the memory for so many trials.
func (u *loadReceiver) room(trials, cpus int) {
	u.points = make([]cpuPoint, trials+1)
	for i := range u.points {
		u.points[i].ticks.softirq = make([]int64, 0, cpus)
	}
}

func (u *loadReceiver) receive() error {
	quietSince := u.run.Now()
	for !u.ended && u.failure == nil && !u.run.Stopped() {
		n, errno := u.intake.take(u.fd)
		now := u.run.Now()
		if u.intake.sieve != nil && u.sift(now) > 0 {
			quietSince = now
		}
		switch {
		case errno != 0 && !traffic.Waited(errno):
			return fmt.Errorf("receive datagrams: %w", errno)
		case n > 0:
			quietSince = now
		case now-quietSince > traffic.Grace:
			return fmt.Errorf("the sender fell silent after %d datagrams of trial %d; see whether it still runs and whether the path still passes packets", u.sequences.unique, u.step)
		}
		for i := range n {
			u.take(i, now)
		}
	}
	switch {
	case u.failure != nil:
		return u.failure
	case u.run.Stopped():
		return context.Canceled
	case u.count == 0:
		return errors.New("the sender ended before its first trial; see what it reported")
	}
	return nil
}

// take takes datagram i of the batch.
func (u *loadReceiver) take(i int, now time.Duration) {
	p := u.intake.batch.packet(i)
	h, ok := traffic.ParseHeader(p, &u.token)
	switch {
	case !ok:
		u.unauthenticated++
	case h.Kind == traffic.KindHello: // the welcome was lost
		u.fail(sendKind(u.fd, traffic.KindWelcome, &u.token, &u.from))
	case h.Kind == traffic.KindProbe:
		u.fail(sendKind(u.fd, traffic.KindProof, &u.token, &u.from))
	case h.Kind == traffic.KindEnd:
		u.ended = true
		u.fail(sendKind(u.fd, traffic.KindEnd, &u.token, &u.from))
	case h.Kind == traffic.KindData && (len(p) != u.size || u.intake.batch.truncated(i)):
		u.fail(fmt.Errorf("datagrams of another size than %d bytes came: give both ends the same size", u.size))
	case h.Kind == traffic.KindData:
		u.begin(h.Lane, now)
		if h.Lane == u.step {
			u.sequences.see(h.Sequence)
			u.last = now
		}
	case h.Kind == traffic.KindMark:
		u.begin(h.Lane, now)
		if h.Lane == u.step {
			u.mark(h, now)
		}
	}
}

// sift takes what the sieve has counted, and gives how many datagrams of the trial under way
// were new.
func (u *loadReceiver) sift(now time.Duration) uint64 {
	c := u.intake.sieve.read()
	if c.lane == 0 || c.lane < uint64(u.step) {
		return 0
	}
	u.begin(uint16(c.lane), now)
	all := u.sequences
	fresh := c.unique + c.duplicates - uint64(all.unique+all.duplicates)
	all.unique, all.duplicates, all.reordered = int64(c.unique), int64(c.duplicates), int64(c.reordered)
	if fresh > 0 {
		u.last, u.first = now, now-c.took()
	}
	return fresh
}

func (u *loadReceiver) fail(err error) {
	if u.failure == nil {
		u.failure = err
	}
}

// begin makes lane the trial under way, unless it is or was so already.
func (u *loadReceiver) begin(lane uint16, now time.Duration) {
	if lane > u.step {
		u.step, u.first, u.last = lane, now, now
		u.sequences.restart()
	}
}

// mark answers the sender's mark once the trial's datagrams are there, or none
// has come for a while.
func (u *loadReceiver) mark(h traffic.Header, now time.Duration) {
	const settle = 5 * time.Millisecond
	if u.report.Lane != u.step {
		if u.sequences.unique < h.Sequence && now-u.last < settle {
			return // the sender asks again
		}
		u.close(h.Sent != 0)
	}
	u.report.Put(u.answer, &u.token)
	if errno := sendTo(u.fd, u.answer, &u.from); errno != 0 && !traffic.Waited(errno) && errno != unix.ENOBUFS {
		u.fail(fmt.Errorf("report trial %d: %w", u.step, errno))
	}
}

// close ends the trial under way. The CPUs are read while the sender waits for
// the report, so that reading them is not part of any load.
func (u *loadReceiver) close(counts bool) {
	u.report = traffic.Header{Kind: traffic.KindReport, Lane: u.step, Sequence: u.sequences.unique, Sent: int64(u.last - u.first)}
	if counts {
		u.total += u.sequences.unique
		u.duplicates += u.sequences.duplicates
		u.count++
	}
	if u.count == len(u.points) {
		u.fail(fmt.Errorf("more than %d trials came: give both ends the same window", len(u.points)-1))
		return
	}
	point := &u.points[u.count]
	point.at = u.run.Now()
	if err := u.cpu.read(&point.ticks); err != nil {
		u.fail(err)
	}
}

func (u *loadReceiver) outcome() (LoadReceived, error) {
	out := LoadReceived{Datagrams: u.total, Duplicates: u.duplicates, Unauthenticated: u.unauthenticated}
	cpus := len(u.points[0].ticks.softirq)
	out.Softirq = make([][]float64, cpus)
	for i := range u.count {
		before, after := u.points[i], u.points[i+1]
		if len(after.ticks.softirq) != cpus {
			return out, errors.New("a CPU went on or off line during the sweep: repeat it")
		}
		span := (after.at - before.at).Seconds() * userHZ
		out.CPU = append(out.CPU, float64(after.ticks.busy-before.ticks.busy)/span)
		for n := range cpus {
			out.Softirq[n] = append(out.Softirq[n], float64(after.ticks.softirq[n]-before.ticks.softirq[n])/span)
		}
	}
	var err error
	if out.ReceiveBuffer, err = unix.GetsockoptInt(u.fd, unix.SOL_SOCKET, unix.SO_RCVBUF); err != nil {
		return out, fmt.Errorf("read receive buffer: %w", err)
	}
	return out, nil
}
