package traffic

import (
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Socket is a blocking data socket for the loops of another package: as here,
// its calls return after a tick, stay out of the netpoller and allocate
// nothing.
type Socket struct{ fd int }

// AdoptSocket takes the socket out of conn, which it closes. The caller closes
// the Socket.
func AdoptSocket(conn interface {
	net.Conn
	syscall.Conn
}) (Socket, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Socket{-1}, fmt.Errorf("take over socket: %w", err)
	}
	fd := -1
	if failed := raw.Control(func(own uintptr) {
		fd, err = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0)
	}); failed != nil {
		err = failed
	}
	if closed := conn.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = makeBlocking(fd)
	}
	if err != nil {
		if fd >= 0 {
			closeSocket(fd)
		}
		return Socket{-1}, fmt.Errorf("take over socket: %w", err)
	}
	return Socket{fd}, nil
}

// makeBlocking makes the calls on fd block, for a tick.
func makeBlocking(fd int) error {
	if err := unix.SetNonblock(fd, false); err != nil {
		return err
	}
	return setTimeout(fd, tick)
}

// Descriptor is for socket options.
func (s Socket) Descriptor() int { return s.fd }

// Send writes p once; it may write less.
func (s Socket) Send(p []byte) (int, syscall.Errno) { return send(s.fd, p, 0) }

// Receive reads once into p.
func (s Socket) Receive(p []byte) (int, syscall.Errno) { return recv(s.fd, p, 0) }

// TCPInfo reads TCP_INFO into info; see FlowSent.
func (s Socket) TCPInfo(info *unix.TCPInfo) error { return tcpInfo(s.fd, info) }

// Congestion reads back the congestion control in use.
func (s Socket) Congestion() (string, error) { return congestion(s.fd) }

// Local is the socket's own address.
func (s Socket) Local() netip.AddrPort { return localAddress(s.fd) }

// Close frees the descriptor. No call may be under way.
func (s Socket) Close() { closeSocket(s.fd) }

// Waited reports whether a call ended without an event; else it failed.
func Waited(errno syscall.Errno) bool { return again(errno) }

// Sleep blocks the thread, outside the runtime's timers, for at most 10 ms.
func Sleep(d time.Duration) { sleep(d) }

// SharpenSleep makes the thread's sleeps exact to the nanosecond, and gives
// what undoes it.
func SharpenSleep() (restore func() error, err error) { return sharpenSleep() }

// RandomPayload makes n bytes that no device on the way can compress.
func RandomPayload(n int) []byte { return randomBytes(n) }

// Buffer makes n bytes whose memory is mapped.
func Buffer(n int) []byte { return prefaulted(n) }

// Datagrams is a set of datagrams that one call receives, each with the time
// at which the kernel got it.
type Datagrams struct{ batch *batch }

// NewDatagrams makes room for datagrams of up to size bytes that arrive on s,
// and asks the kernel to stamp them.
func NewDatagrams(s Socket, size int) (*Datagrams, error) {
	return &Datagrams{newBatch(batchSize(size), size, true)}, stampArrivals(s.fd, true)
}

// Receive takes what has arrived on s, and waits for the first.
func (d *Datagrams) Receive(s Socket) (int, syscall.Errno) {
	return d.batch.receive(s.fd, unix.MSG_WAITFORONE)
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
