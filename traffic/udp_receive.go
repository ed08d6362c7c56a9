package traffic

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// UDPReceived is the receiver's outcome of udp_stream and udp_pps. Datagrams,
// Bytes and Elapsed say what arrived inside the window. Lost, Duplicates and
// Reordered sort the sequence numbers of the window, of which Expected were
// sent; those that arrived after it closed are not lost. They are disjoint: a
// reordered datagram is neither lost nor a duplicate.
type UDPReceived struct {
	Datagrams int64
	Bytes     int64 // payload, the header of HeaderBytes included
	Elapsed   time.Duration

	Expected   int64
	Lost       int64
	Duplicates int64
	Reordered  int64 // arrived first after a later one (RFC 4737)
	Ancient    int64 // came so late that nobody can tell, and are in Lost

	BufferDrops   int64 // of Lost, those that the receiver's own socket dropped; inexact by what came while it was read
	ReceiveBuffer int   // bytes, as the kernel counts them
	Strangers     int64 // datagrams without the token
	Series        []Point

	// Of udp_stream only.
	Jitter time.Duration // RFC 3550, 6.4.1, when the window closed
	Delays *Delays
}

// Goodput is the payload received in the window.
func (r UDPReceived) Goodput() BitsPerSecond {
	return BitsPerSecond(float64(r.Bytes) * 8 / r.Elapsed.Seconds())
}

// Rate is the datagrams received per second of the window.
func (r UDPReceived) Rate() float64 { return float64(r.Datagrams) / r.Elapsed.Seconds() }

// Loss is the share of the window's datagrams that never arrived.
func (r UDPReceived) Loss() float64 {
	if r.Expected == 0 {
		return 0
	}
	return float64(r.Lost) / float64(r.Expected)
}

// udpReceiver is the receiving end that udp_stream and udp_pps share.
type udpReceiver struct {
	run   *run
	fd    int
	token Token
	size  int
	from  address
	batch *batch
	take  func(fd int) (int, syscall.Errno)
	full  int // how many datagrams take gives at most

	table     *timetable
	meter     *meter
	sequences *sequences
	delays    *delayMeter // nil: not measured
	strangers int64

	ended      bool          // the sender said so
	stopAt     time.Duration // when to tell the sender next that it may stop
	quietSince time.Duration
	failure    error
	drops      [2]uint32 // of the socket, at the window's edges
}

// batchBytes bounds what one call receives, to stay in the cache.
const batchBytes = 256 << 10

// batchSize is how many datagrams of size bytes one call takes.
func batchSize(size int) int { return min(max(batchBytes/size, 8), 64) }

func newUDPReceiver(r *run, fd int, token Token, w Window, size int, delays *delayMeter) *udpReceiver {
	u := &udpReceiver{run: r, fd: fd, token: token, size: size, sequences: newSequences(), delays: delays}
	u.batch = newBatch(batchSize(size), size, delays != nil)
	u.take, u.full = u.batch.receive, len(u.batch.messages)
	owner := w.Edge
	w.Edge = func(e Edge) {
		u.edge(e)
		if owner != nil {
			owner(e)
		}
	}
	u.table = newTimetable(w, 1)
	u.meter = newMeter(u.table)
	return u
}

// edge marks the window's edge for all that is counted but by the meter.
func (u *udpReceiver) edge(e Edge) {
	if e == Opening {
		u.sequences.open()
	} else {
		u.sequences.close()
	}
	drops, err := socketDrops(u.fd)
	if err != nil {
		u.fail(err)
	}
	u.drops[e] = drops
}

func (u *udpReceiver) fail(err error) {
	if u.failure == nil {
		u.failure = err
	}
}

// serve receives one run, from its first hello to its end.
func (u *udpReceiver) serve() (UDPReceived, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	strangers, err := answerHello(u.run, u.fd, &u.token, &u.from)
	u.strangers = strangers
	if err != nil {
		return UDPReceived{}, err
	}
	series := startSampler(u.run, u.table, u.meter)
	err = u.receive()
	received := UDPReceived{Series: series.finish()}
	if err != nil {
		return UDPReceived{}, u.run.cause(err)
	}
	return u.outcome(received)
}

func (u *udpReceiver) outcome(r UDPReceived) (UDPReceived, error) {
	s := u.sequences
	r.Datagrams, r.Bytes, r.Elapsed = u.meter.counted, u.meter.counted*int64(u.size), u.meter.elapsed()
	r.Expected, r.Lost, r.Ancient = s.expected(), s.lost(), s.ancient
	r.Duplicates, r.Reordered = s.duplicates, s.reordered
	r.BufferDrops = min(int64(u.drops[Closing]-u.drops[Opening]), r.Lost)
	r.Strangers = u.strangers
	if r.Datagrams == 0 && r.Expected == 0 {
		return r, fmt.Errorf("the sender's data stopped: nothing arrived in the window of %v; see what it reported", u.table.Duration)
	}
	size, err := unix.GetsockoptInt(u.fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	if err != nil {
		return r, fmt.Errorf("read receive buffer: %w", err)
	}
	r.ReceiveBuffer = size
	if u.delays != nil {
		r.Jitter, r.Delays = u.delays.outcome()
	}
	return r, nil
}

// receive runs until the window has closed and nothing more is on its way.
func (u *udpReceiver) receive() error {
	u.quietSince = u.run.now()
	limit := u.quietSince + u.table.limit()
	for u.failure == nil && !u.run.stopped.Load() {
		n, errno := u.take(u.fd)
		now := u.run.now()
		if errno != 0 && !again(errno) {
			return fmt.Errorf("receive datagrams: %w", errno)
		}
		arrived := u.account(n)
		if arrived > 0 {
			u.quietSince = now
		}
		u.meter.step(event{now, arrived, u.more(n, now)})
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

// more tells whether the socket may hold more datagrams than the n that came.
// One datagram at a time says nothing about it, so at an edge it looks.
func (u *udpReceiver) more(n int, now time.Duration) bool {
	if n < u.full || u.full > 1 || !u.meter.atEdge(now) {
		return n == u.full
	}
	waits := [1]unix.PollFd{{Fd: int32(u.fd), Events: unix.POLLIN}}
	ready, err := unix.Poll(waits[:], 0)
	return err == nil && ready > 0
}

// account takes the n datagrams that the batch holds, and gives how many of
// them are data.
func (u *udpReceiver) account(n int) int64 {
	var data int64
	for i := range n {
		h, ok := parseHeader(u.batch.packet(i), &u.token)
		switch {
		case !ok:
			u.strangers++
		case h.kind == kindData:
			data++
			if first := u.sequences.see(h.sequence); first && u.delays != nil && u.meter.phase != closed {
				if err := u.delays.take(u.batch, i, h.sent, u.meter.phase == open); err != nil {
					u.fail(err)
				}
			}
		case h.kind == kindHello: // the welcome was lost
			if err := tell(u.fd, kindWelcome, &u.token, &u.from); err != nil {
				u.fail(err)
			}
		case h.kind == kindEnd:
			u.ended = true
		}
	}
	return data
}

// over tells whether the run is over at now, or what is wrong with it.
func (u *udpReceiver) over(now, limit time.Duration) (bool, error) {
	const settle = 10 * tick // longer than a queue on the path holds a datagram
	quiet := now - u.quietSince
	if u.meter.phase == closed {
		if err := u.stopSender(now); err != nil {
			return false, err
		}
		allThere := u.sequences.lost() <= 0
		switch {
		case u.ended && (allThere || quiet >= tick):
			return true, nil
		case quiet >= settle, now > u.meter.to+drainLimit:
			return true, nil
		}
		return false, nil
	}
	switch {
	case u.ended:
		return false, errors.New("the sender ended before the window closed; see what it reported")
	case quiet > drainLimit && u.meter.sum > 0:
		return false, fmt.Errorf("the sender fell silent after %d datagrams; see whether it still runs", u.meter.sum)
	case now > limit:
		return false, fmt.Errorf("the sender did not fill the window within %v; see what it reported", u.table.limit())
	}
	return false, nil
}

// stopSender tells the sender, now and again until it ends, that the window
// has closed.
func (u *udpReceiver) stopSender(now time.Duration) error {
	if u.ended || now < u.stopAt {
		return nil
	}
	u.stopAt = now + tick/2
	return tell(u.fd, kindStop, &u.token, &u.from)
}
