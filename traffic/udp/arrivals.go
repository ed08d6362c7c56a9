package udp

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Datagrams is a set of datagrams that one call receives, each with the time
// at which the kernel got it.
type Datagrams struct{ batch *batch }

// NewDatagrams makes room for datagrams of up to size bytes that arrive on a socket,
// and asks the kernel to stamp them.
func NewDatagrams(fd, size int) (*Datagrams, error) {
	return &Datagrams{newBatch(batchSize(size), size, true)}, stampArrivals(fd, true)
}

// Receive takes what has arrived on the socket, and waits for the first.
func (d *Datagrams) Receive(fd int) (int, syscall.Errno) {
	return d.batch.receive(fd, unix.MSG_WAITFORONE)
}

// Packet is datagram i of the last call.
func (d *Datagrams) Packet(i int) []byte { return d.batch.packet(i) }

// Arrived is when datagram i came, in nanoseconds since 1970; false if the
// kernel gave no time.
func (d *Datagrams) Arrived(i int) (int64, bool) { return d.batch.arrived(i) }

// Arrivals sorts sequence numbers, from zero on, into first arrivals,
// duplicates, reordered ones (RFC 4737) and lost ones; the classes are
// disjoint.
type Arrivals struct{ sequences *sequences }

// NewArrivals counts every number from zero on.
func NewArrivals() Arrivals {
	a := Arrivals{newSequences()}
	a.Reopen()
	return a
}

// Reopen counts afresh, and only numbers above the highest so far.
func (a Arrivals) Reopen() {
	s := a.sequences
	s.open()
	s.unique, s.duplicates, s.reordered, s.ancient = 0, 0, 0, 0
}

// See takes an arriving number and reports whether it came for the first time.
func (a Arrivals) See(n int64) bool { return a.sequences.see(n) }

// Highest is the highest number so far; -1: none.
func (a Arrivals) Highest() int64 { return a.sequences.highest }

// Duplicates is how many arrivals repeated a number.
func (a Arrivals) Duplicates() int64 { return a.sequences.duplicates }

// Reordered is how many numbers came first after a higher one.
func (a Arrivals) Reordered() int64 { return a.sequences.reordered }

// Lost is how many numbers up to last never arrived.
func (a Arrivals) Lost(last int64) int64 {
	return max(last-a.sequences.low-a.sequences.unique, 0)
}
