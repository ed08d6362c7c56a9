package traffic

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// UDPSent is the sender's outcome of udp_stream and udp_pps, over a window of
// its own clock.
type UDPSent struct {
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
func (s UDPSent) OfferedRate() BitsPerSecond {
	return BitsPerSecond(float64(s.Bytes) * 8 / s.Elapsed.Seconds())
}

// Rate is the datagrams that were really sent per second of the window.
func (s UDPSent) Rate() float64 { return float64(s.Datagrams) / s.Elapsed.Seconds() }

// sending is what the sending threads of one run share.
type sending struct {
	run   *run
	to    netip.AddrPort
	token Token
	size  int
	table *timetable
}

// udpSender is one sending thread and its flows.
type udpSender struct {
	*sending
	flow  []outflow
	meter *meter

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
	pass(u *udpSender) (sent int64, now time.Duration, err error)
}

func newSending(r *run, to netip.AddrPort, token Token, w Window, size, threads int) *sending {
	w.Edge = nil // the receiver owns the window
	return &sending{run: r, to: to, token: token, size: size, table: newTimetable(w, threads)}
}

// dial connects the flows, and deals them out to the threads.
func (s *sending) dial(flows, threads int) ([]*udpSender, error) {
	all := make([]*udpSender, threads)
	for i := range all {
		all[i] = &udpSender{sending: s, meter: newMeter(s.table), control: make([]byte, HeaderBytes)}
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

func hangUp(senders []*udpSender) {
	for _, u := range senders {
		for _, f := range u.flow {
			closeSocket(f.fd)
		}
	}
}

// send runs the senders until the receiver's window has closed, and ends the
// run.
func (s *sending) send(senders []*udpSender, pacings []pacing) (UDPSent, error) {
	err := onThreads(s.run, len(senders), func(i int) error { return senders[i].work(pacings[i]) })
	if err != nil {
		return UDPSent{}, s.run.cause(err)
	}
	sent := UDPSent{Threads: len(senders)}
	meters := make([]*meter, len(senders))
	for i, u := range senders {
		meters[i] = u.meter
		sent.Datagrams += u.meter.counted
		sent.Drops += u.drops
	}
	sent.Bytes, sent.Elapsed = sent.Datagrams*int64(s.size), elapsedOf(meters)
	return sent, nil
}

// work is the thread's whole run.
func (u *udpSender) work(p pacing) (err error) {
	restore, err := sharpenSleep()
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

func (u *udpSender) loop(p pacing) error {
	u.controlAt = u.run.now()
	limit := u.controlAt + u.table.limit()
	t, err := takeTurns(u.run, u.table.Slots)
	if err != nil {
		return err
	}
	if err := u.countSlots(); err != nil {
		return err
	}
	for !u.run.stopped.Load() {
		var n int64
		now := u.run.now()
		if t.await(u.run) {
			n, now, err = p.pass(u)
		} else {
			sleep(tick / 10) // until the receiver has closed its last slot
		}
		if err != nil {
			return err
		}
		u.meter.step(event{at: now, n: n})
		if err := u.look(now); err != nil {
			return err
		}
		if u.allClosed && u.meter.phase == closed {
			return nil
		}
		switch {
		case now > limit && u.meter.sum == 0:
			return errors.New("this machine refused every datagram: its queue or buffer stays full")
		case now-u.controlAt > grace:
			return fmt.Errorf("the receiver sent nothing for %v, after %d datagrams: it died, or the path carries nothing any more; see what it reported", grace, u.meter.sum)
		case now > limit:
			return fmt.Errorf("the receiver did not close its window within %v; see what it reported", u.table.limit())
		}
	}
	return context.Canceled
}

// countSlots makes the sender count by slots, where the run has them.
func (u *udpSender) countSlots() error {
	t, err := takeTurns(u.run, u.table.Slots)
	if err == nil {
		u.meter.countSlots(t, false, nil, nil)
	}
	return err
}

// look reads, once a millisecond at most, what the receiver sends. It sends the
// same on all flows.
func (u *udpSender) look(now time.Duration) error {
	if now < u.lookAt {
		return nil
	}
	u.lookAt = now + time.Millisecond
	return u.refused(u.receiveControl(now), 1)
}

// receiveControl reads all that the receiver has sent, up to the first error.
func (u *udpSender) receiveControl(now time.Duration) syscall.Errno {
	for {
		k, errno := recvKind(u.flow[0].fd, u.control, &u.token, unix.MSG_DONTWAIT)
		switch {
		case again(errno):
			return 0
		case errno != 0:
			return errno
		case k != 0:
			u.controlAt = now
		}
		u.allClosed = u.allClosed || k == kindStop
	}
}

// refused takes the error of a call on the socket that was to send so many
// datagrams. A shortage on the way out (a full queue or buffer, a path that
// turned out narrower) is counted; all else fails the run.
func (u *udpSender) refused(errno syscall.Errno, datagrams int64) error {
	switch errno {
	case 0, unix.EINTR:
		return nil
	case unix.EAGAIN, unix.ENOBUFS, unix.EMSGSIZE:
		if u.meter.phase == open {
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
