package udp

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// intake takes datagrams from a socket the way a mode does.
type intake struct {
	batch *batch
	one   bool          // a call for each datagram
	polls bool          // waiting takes another call: see wait
	rest  time.Duration // how long to let datagrams gather once the socket is empty; 0: wait for each
	hot   bool          // datagrams come faster than once a rest
	pause bool          // the socket was empty after the last call
	sieve *sieve        // that counts what does not reach the socket's queue; nil: all does
}

// gather is the rest of a receiver of small datagrams. While it sleeps on the
// clock, an arriving datagram wakes no thread, which costs the sending side
// up to a third of its time per packet: receive processing wakes a sleeper in
// its own path. It is short compared with what the socket's buffer holds.
const gather = 200 * time.Microsecond

const (
	// batchBytes bounds what one call receives, to stay in the cache.
	batchBytes = 256 << 10
	// joinedMost is the largest message that UDP_GRO makes.
	joinedMost = 1 << 16
)

// batchSize is how many datagrams of size bytes one call takes.
func batchSize(size int) int { return min(max(batchBytes/size, 8), 64) }

// newIntake is for datagrams of size bytes in a mode; stamps asks for room for
// the kernel's receive stamps.
func newIntake(mode Mode, size int, stamps bool) *intake {
	switch mode {
	case Msg:
		return &intake{batch: newBatch(1, size, false), one: true, rest: gather}
	case GSO:
		return &intake{batch: newBatch(batchBytes/joinedMost, joinedMost, true), rest: gather}
	case Mmsg, XDP:
		return &intake{batch: newBatch(batchSize(size), size, false), rest: gather}
	}
	return &intake{batch: newBatch(batchSize(size), size, stamps)}
}

// full is how many messages a call takes at most.
func (in *intake) full() int { return len(in.batch.messages) }

// take gives how many messages came, EAGAIN if none did. It waits no longer
// than a tick.
func (in *intake) take(fd int) (int, syscall.Errno) {
	if in.sieve != nil { // what the thread would wait for never comes
		traffic.Sleep(gather)
		return in.call(fd, unix.MSG_DONTWAIT)
	}
	if !in.hot {
		n, errno := in.wait(fd)
		in.hot, in.pause = n > 0 && in.rest > 0, n < in.full()
		return n, errno
	}
	rested := in.pause
	if rested {
		traffic.Sleep(in.rest)
	}
	n, errno := in.call(fd, unix.MSG_DONTWAIT)
	in.pause = n < in.full()
	if n == 0 && rested {
		in.hot = false
	}
	return n, errno
}

// wait waits for a datagram, and takes those that are there with it. gVisor's kernel refuses
// MSG_WAITFORONE: there it waits by another call.
func (in *intake) wait(fd int) (int, syscall.Errno) {
	if !in.polls {
		n, errno := in.call(fd, unix.MSG_WAITFORONE)
		if errno != unix.EINVAL {
			return n, errno
		}
		in.polls = true
	}
	waits := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if n, err := unix.Poll(waits[:], int(traffic.Tick/time.Millisecond)); n == 0 || err != nil {
		return 0, unix.EAGAIN
	}
	return in.call(fd, unix.MSG_DONTWAIT)
}

func (in *intake) call(fd, flags int) (int, syscall.Errno) {
	if in.one {
		return in.batch.receiveOne(fd, flags&^unix.MSG_WAITFORONE)
	}
	return in.batch.receive(fd, flags)
}

// joinArrivals lets the kernel hand over datagrams of one size as one message
// (UDP_GRO, Linux 5.0).
func joinArrivals(fd int, on bool) error {
	if err := unix.SetsockoptInt(fd, unix.SOL_UDP, unix.UDP_GRO, asInt(on)); err != nil {
		return fmt.Errorf("ask for joined datagrams (UDP_GRO, Linux 5.0): %w", err)
	}
	return nil
}

// stampArrivals makes the kernel stamp each arriving datagram, in nanoseconds
// since 1970 (SO_TIMESTAMPNS_NEW, Linux 5.1). gVisor's takes that option and ignores it: it has
// only stamps in microseconds (SO_TIMESTAMP).
func stampArrivals(fd int, on bool) error {
	option := unix.SO_TIMESTAMPNS_NEW
	if _, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, option); errors.Is(err, unix.ENOPROTOOPT) {
		option = unix.SO_TIMESTAMP
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, asInt(on)); err != nil {
		return fmt.Errorf("ask for receive stamps: %w", err)
	}
	return nil
}

func asInt(on bool) int {
	if on {
		return 1
	}
	return 0
}
