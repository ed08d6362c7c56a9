package udp

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// Sent is the sender's outcome of udp_stream and udp_pps, over a window of
// its own clock.
type Sent struct {
	Datagrams int64 // that the kernel took and did not drop at once
	Bytes     int64
	Elapsed   time.Duration
	Drops     int64 // that this machine refused or dropped: no buffer or a full queue
	Threads   int

	// Of a sender with a rate only, in datagrams.
	Late    int64 // sent more than a slot after their time
	Skipped int64 // given up, since the sender was too late for them
}

// OfferedRate is the payload that was really sent in the window.
func (s Sent) OfferedRate() traffic.BitsPerSecond {
	return traffic.BitsPerSecond(float64(s.Bytes) * 8 / s.Elapsed.Seconds())
}

// Rate is the datagrams that were really sent per second of the window.
func (s Sent) Rate() float64 { return float64(s.Datagrams) / s.Elapsed.Seconds() }

// sending is what the sending threads of one run share.
type sending struct {
	run   *traffic.Run
	to    netip.AddrPort
	token traffic.Token
	size  int
	table *traffic.Timetable
}

// sendThread is one sending thread and its flows.
type sendThread struct {
	*sending
	flow  []outflow
	meter *traffic.Meter

	drops     int64 // inside the window
	allClosed bool  // the receiver reported that all windows have closed
	lookAt    time.Duration
	control   []byte        // what the receiver sent last
	controlAt time.Duration // when it sent that
}

// outflow is one flow as it leaves.
type outflow struct {
	fd   int
	lane uint16
	next int64 // sequence of the next datagram
}

// pacing is how udp_stream and udp_pps differ. One pass sends what is due and
// gives how many datagrams went out, and the time then.
type pacing interface {
	pass(u *sendThread) (sent int64, now time.Duration, err error)
}

func newSending(r *traffic.Run, to netip.AddrPort, token traffic.Token, w traffic.Window, size, threads int) *sending {
	w.Edge = nil // the receiver owns the window
	return &sending{run: r, to: to, token: token, size: size, table: traffic.NewTimetable(w, threads)}
}

// dial connects the flows, and deals them out to the threads.
func (s *sending) dial(flows, threads int) ([]*sendThread, error) {
	all := make([]*sendThread, threads)
	for i := range all {
		all[i] = &sendThread{sending: s, meter: traffic.NewMeter(s.table), control: make([]byte, traffic.HeaderBytes)}
	}
	for lane := range flows {
		fd, err := dialLane(s.run, s.to, &s.token, uint16(lane))
		if err != nil {
			hangUp(all)
			return nil, err
		}
		u := all[lane%threads]
		u.flow = append(u.flow, outflow{fd: fd, lane: uint16(lane)})
	}
	return all, nil
}

func hangUp(senders []*sendThread) {
	for _, u := range senders {
		for _, f := range u.flow {
			traffic.CloseSocket(f.fd)
		}
	}
}

// send runs the senders until the receiver's window has closed, and ends the
// run.
func (s *sending) send(senders []*sendThread, pacings []pacing) (Sent, error) {
	err := traffic.OnThreads(s.run, len(senders), func(i int) error { return senders[i].work(pacings[i]) })
	if err != nil {
		return Sent{}, s.run.Cause(err)
	}
	sent := Sent{Threads: len(senders)}
	meters := make([]*traffic.Meter, len(senders))
	for i, u := range senders {
		meters[i] = u.meter
		sent.Datagrams += u.meter.Counted()
		sent.Drops += u.drops
	}
	sent.Bytes, sent.Elapsed = sent.Datagrams*int64(s.size), traffic.ElapsedOf(meters)
	return sent, nil
}

// work is the thread's whole run.
func (u *sendThread) work(p pacing) (err error) {
	restore, err := traffic.SharpenSleep()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restore()) }()
	if err := u.loop(p); err != nil {
		return err
	}
	for i := range u.flow {
		if err := endLane(u.flow[i].fd, u.flow[i].lane, &u.token); err != nil {
			return err
		}
	}
	return nil
}

func (u *sendThread) loop(p pacing) error {
	u.controlAt = u.run.Now()
	limit := u.controlAt + u.table.Limit()
	t, err := traffic.TakeTurns(u.run, u.table.Slots)
	if err != nil {
		return err
	}
	if err := u.countSlots(); err != nil {
		return err
	}
	for !u.run.Stopped() {
		var n int64
		now := u.run.Now()
		if t.Await(u.run) {
			n, now, err = p.pass(u)
		} else {
			traffic.Sleep(traffic.Tick / 10) // until the receiver has closed its last slot
		}
		if err != nil {
			return err
		}
		u.meter.Step(traffic.Event{At: now, N: n})
		if err := u.look(now); err != nil {
			return err
		}
		if u.allClosed && u.meter.Phase() == traffic.Closed {
			return nil
		}
		switch {
		case now > limit && u.meter.Sum() == 0:
			return errors.New("this machine refused every datagram: its queue or buffer stays full")
		case now-u.controlAt > traffic.Grace:
			return fmt.Errorf("the receiver sent nothing for %v, after %d datagrams: it died, or the path carries nothing any more; see what it reported", traffic.Grace, u.meter.Sum())
		case now > limit:
			return fmt.Errorf("the receiver did not close its window within %v; see what it reported", u.table.Limit())
		}
	}
	return context.Canceled
}

// countSlots makes the sender count by slots, where the run has them.
func (u *sendThread) countSlots() error {
	t, err := traffic.TakeTurns(u.run, u.table.Slots)
	if err == nil {
		u.meter.CountSlots(t, false, nil, nil)
	}
	return err
}

// look reads, once a millisecond at most, what the receiver sends. It sends the
// same on all flows.
func (u *sendThread) look(now time.Duration) error {
	if now < u.lookAt {
		return nil
	}
	u.lookAt = now + time.Millisecond
	return u.refused(u.receiveControl(now), 1)
}

// receiveControl reads all that the receiver has sent, up to the first error.
func (u *sendThread) receiveControl(now time.Duration) syscall.Errno {
	for {
		k, errno := recvKind(u.flow[0].fd, u.control, &u.token, unix.MSG_DONTWAIT)
		switch {
		case traffic.Waited(errno):
			return 0
		case errno != 0:
			return errno
		case k != 0:
			u.controlAt = now
		}
		u.allClosed = u.allClosed || k == traffic.KindStop
	}
}

// refused takes the error of a call on the socket that was to send so many
// datagrams. A shortage on the way out (a full queue or buffer, a path that
// turned out narrower) is counted; all else fails the run.
func (u *sendThread) refused(errno syscall.Errno, datagrams int64) error {
	switch errno {
	case 0, unix.EINTR:
		return nil
	case unix.EAGAIN, unix.ENOBUFS, unix.EMSGSIZE:
		if u.meter.Phase() == traffic.Open {
			u.drops += datagrams
		}
		return nil
	case unix.ECONNREFUSED:
		// A receiver that waited in vain for this end may be gone, but it has
		// reported that before.
		if u.receiveControl(u.controlAt); u.allClosed { //nolint:errcheck // what it received is in allClosed; an error changes nothing here
			return nil
		}
		return errors.New("the receiver closed its port before the run was over; see what it reported")
	}
	return fmt.Errorf("send datagram: %w", errno)
}
