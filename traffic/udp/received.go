package udp

import (
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// Received is the receiver's outcome of udp_stream and udp_pps. Datagrams,
// Bytes and Elapsed are what arrived inside the window. Lost, Duplicates and
// Reordered sort the sequence numbers of the window, of which Expected were
// sent; those that arrived after it closed are not lost. They are disjoint: a
// reordered datagram is neither lost nor a duplicate. Of a run that takes turns,
// Datagrams and Elapsed are those of its slots, and the sequence numbers all.
type Received struct {
	Datagrams int64
	Bytes     int64         // payload, the header of HeaderBytes included
	Elapsed   time.Duration // with several threads a mean, so that Rate is the sum of theirs

	Expected   int64
	Lost       int64
	Duplicates int64
	Reordered  int64 // arrived first after a later one (RFC 4737)
	Ancient    int64 // came too late to be classified, and are in Lost

	BufferDrops     int64 // of Lost, those that the receiver's own socket dropped (RcvbufErrors); inexact by what came while it was read, and an estimate for GSO
	Uncounted       bool  // BufferDrops are not known: the kernel counts none (gVisor's)
	ReceiveBuffer   int   // bytes of each socket, as the kernel counts them
	Threads         int
	Unauthenticated int64 // datagrams without the token
	Series          []traffic.Point
	traffic.Taken

	// Packets is how many the busiest device of the receiver's namespace
	// received in the window. Of udp_pps only.
	Packets int64

	// Of udp_stream only.
	Jitter time.Duration // RFC 3550, 6.4.1, when the window closed
	Delays *Delays
}

// Goodput is the payload received in the window.
func (r Received) Goodput() traffic.BitsPerSecond {
	return traffic.BitsPerSecond(float64(r.Bytes) * 8 / r.Elapsed.Seconds())
}

// Rate is the datagrams received per second of the window.
func (r Received) Rate() float64 { return float64(r.Datagrams) / r.Elapsed.Seconds() }

// Loss is the share of the window's datagrams that never arrived.
func (r Received) Loss() float64 {
	if r.Expected == 0 {
		return 0
	}
	return float64(r.Lost) / float64(r.Expected)
}

// serve receives one run on the threads given, from its first hello to its end.
func (s *receiving) serve(threads []*receiveThread) (Received, error) {
	meters := make([]*traffic.Meter, len(threads))
	for i, u := range threads {
		meters[i] = u.meter
	}
	series := traffic.StartSampler(s.run, meters...)
	err := traffic.OnThreads(s.run, len(threads), func(i int) error { return threads[i].receive() })
	received := Received{Series: series.Finish(), Threads: len(threads)}
	if err != nil {
		return Received{}, s.run.Cause(err)
	}
	for _, u := range threads {
		u.addTo(&received)
	}
	received.Bytes = received.Datagrams * int64(s.size)
	received.Elapsed = traffic.ElapsedOf(meters)
	if received.Datagrams == 0 && received.Expected == 0 {
		return received, fmt.Errorf("the sender's data stopped: nothing arrived in the window of %v; see what it reported", s.table.Duration)
	}
	if received.ReceiveBuffer, err = unix.GetsockoptInt(threads[0].fd, unix.SOL_SOCKET, unix.SO_RCVBUF); err != nil {
		return received, fmt.Errorf("read receive buffer: %w", err)
	}
	return received, nil
}

// addTo adds what the thread counted.
func (u *receiveThread) addTo(r *Received) {
	var lost int64
	for i := range u.flow {
		s := u.flow[i].sequences
		r.Expected += s.expected()
		r.Ancient += s.ancient
		r.Duplicates += s.duplicates
		r.Reordered += s.reordered
		lost += s.lost()
	}
	r.Datagrams += u.meter.Counted()
	r.Taken.Add(u.meter)
	r.Lost += lost
	// The socket counts messages, of which joined ones hold several datagrams.
	r.Uncounted = r.Uncounted || u.blind
	drops := int64(u.drops[traffic.Closing] - u.drops[traffic.Opening])
	if u.intake.sieve != nil { // the socket counts as dropped what that counted
		drops = 0
	}
	each := math.Ceil(float64(u.meter.Sum()) / float64(max(u.messages, 1)))
	r.BufferDrops += min(drops*max(int64(each), 1), lost)
	r.Unauthenticated += u.unauthenticated
	if u.delays != nil {
		r.Jitter, r.Delays = u.delays.outcome()
	}
}
