package traffic

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
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

	// Of udp_stream only.
	Late     int64      // slots that were sent more than a slot after their time
	Skipped  int64      // slots that were given up, since the sender was too late for them
	Lateness *Histogram // how long after its slot's time each datagram was sent
}

// OfferedRate is the payload that was really sent in the window.
func (s UDPSent) OfferedRate() BitsPerSecond {
	return BitsPerSecond(float64(s.Bytes) * 8 / s.Elapsed.Seconds())
}

// udpSender is the sending end that udp_stream and udp_pps share.
type udpSender struct {
	run   *run
	fd    int
	token Token
	table *timetable
	meter *meter

	next   int64 // sequence of the next datagram
	drops  int64 // inside the window
	told   bool  // the receiver said that its window has closed
	lookAt time.Duration
	heard  []byte // what the receiver said last
}

// pacing is how udp_stream and udp_pps differ. One pass sends what is due and
// gives how many datagrams went out, and the time then.
type pacing interface {
	pass(u *udpSender) (sent int64, now time.Duration, err error)
}

// sendPackets connects to the server, sends until the receiver's window has
// closed, and ends the run.
func sendPackets(ctx context.Context, to netip.AddrPort, token Token, w Window, size int, p pacing) (UDPSent, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := startRun(ctx)
	defer r.end()
	fd, err := dialPackets(r, to, &token)
	if err != nil {
		return UDPSent{}, err
	}
	defer closeSocket(fd)
	w.Edge = nil // the receiver owns the window
	u := &udpSender{run: r, fd: fd, token: token, table: newTimetable(w, 1), heard: make([]byte, HeaderBytes)}
	u.meter = newMeter(u.table)
	if err := u.send(p); err != nil {
		return UDPSent{}, r.cause(err)
	}
	if err := end(fd, &token); err != nil {
		return UDPSent{}, err
	}
	counted := u.meter.counted
	return UDPSent{Datagrams: counted, Bytes: counted * int64(size), Elapsed: u.meter.elapsed(), Drops: u.drops}, nil
}

func (u *udpSender) send(p pacing) error {
	limit := u.run.now() + u.table.limit()
	for !u.run.stopped.Load() {
		n, now, err := p.pass(u)
		if err != nil {
			return err
		}
		u.meter.step(event{at: now, n: n})
		if err := u.look(now); err != nil {
			return err
		}
		if u.told && u.meter.phase == closed {
			return nil
		}
		if now > limit && u.next == 0 {
			return errors.New("this machine refused every datagram: its queue or buffer stays full")
		}
		if now > limit {
			return fmt.Errorf("the receiver did not close its window within %v; see what it reported", u.table.limit())
		}
	}
	return context.Canceled
}

// look reads, once a millisecond at most, what the receiver says.
func (u *udpSender) look(now time.Duration) error {
	if now < u.lookAt {
		return nil
	}
	u.lookAt = now + time.Millisecond
	return u.refused(u.hear())
}

// hear reads all that the receiver has said, up to the first error.
func (u *udpSender) hear() syscall.Errno {
	for {
		k, errno := recvKind(u.fd, u.heard, &u.token, unix.MSG_DONTWAIT)
		switch {
		case again(errno):
			return 0
		case errno != 0:
			return errno
		}
		u.told = u.told || k == kindStop
	}
}

// refused takes the error of a call on the socket. A shortage on the way out
// (a full queue or buffer, a path that turned out narrower) is counted; all
// else fails the run.
func (u *udpSender) refused(errno syscall.Errno) error {
	switch errno {
	case 0, unix.EINTR:
		return nil
	case unix.EAGAIN, unix.ENOBUFS, unix.EMSGSIZE:
		if u.meter.phase == open {
			u.drops++
		}
		return nil
	case unix.ECONNREFUSED:
		// A receiver that waited in vain for this end may be gone, but it has
		// said so before.
		if u.hear(); u.told { //nolint:errcheck // what was heard is in told; an error changes nothing here
			return nil
		}
		return errors.New("the receiver closed its port before the run was over; see what it reported")
	}
	return fmt.Errorf("send datagram: %w", errno)
}
