package udp

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"tare/traffic"
)

// liveCounts is what a sieve's program has counted of one lane, the latest that came.
type liveCounts struct {
	lane       uint64
	next       uint64 // after the highest sequence
	unique     uint64
	duplicates uint64
	reordered  uint64
	first      uint64 // ns, CLOCK_MONOTONIC: when the lane's first came, but for lane 0
	last       uint64 // and its last
}

// sieve counts the datagrams of data that reach a socket, and keeps them out of its queue:
// a receiver's thread would get no time to count them, while arriving ones take all of its
// CPU. The kernel has found the socket and checked the checksum then; the program is the
// socket's filter. All else passes to the thread.
type sieve struct {
	fd      int
	memory  []byte
	counts  *liveCounts
	objects objects
	before  liveCounts // when it was asked last
}

// newSieve is for datagrams of size bytes; nil where the mode needs none.
func newSieve(fd int, mode Mode, token *traffic.Token, size int) (*sieve, error) {
	if mode != XDP {
		return nil, nil
	}
	s := &sieve{fd: fd}
	if err := s.load(token, size); err != nil {
		return nil, errors.Join(fmt.Errorf("count datagrams at the socket: %w", permitted(err)), s.close())
	}
	return s, nil
}

func (s *sieve) load(token *traffic.Token, size int) error {
	counts, err := s.objects.share("tare_counts", int(unsafe.Sizeof(liveCounts{})))
	if err != nil {
		return err
	}
	seen, err := s.objects.share("tare_seen", span*tagBytes)
	if err != nil {
		return err
	}
	if s.memory, err = unix.Mmap(counts.FD(), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return err
	}
	s.counts = (*liveCounts)(unsafe.Pointer(&s.memory[0]))
	program, err := s.objects.program("tare_sieve", ebpf.SocketFilter, sieveCode(counts, seen, token, size))
	if err != nil {
		return err
	}
	return unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_ATTACH_BPF, program.FD())
}

// close takes the filter from the socket, which others may use.
func (s *sieve) close() error {
	if s == nil {
		return nil
	}
	err := unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0)
	if errors.Is(err, unix.ENOENT) { // it had none yet
		err = nil
	}
	if s.memory != nil {
		err = errors.Join(err, unix.Munmap(s.memory))
	}
	return errors.Join(err, s.objects.close())
}

// take adds what came since it was called last to the sequences of its lane, and gives how
// many datagrams that were.
func (s *sieve) take(all *sequences) int64 {
	now := s.read()
	fresh := now.since(s.before)
	s.before = now
	all.adopt(fresh, int64(now.next)-1)
	return int64(fresh.unique + fresh.duplicates)
}

func (s *sieve) read() liveCounts {
	load := func(p *uint64) uint64 { return atomic.LoadUint64(p) }
	c := s.counts
	return liveCounts{
		lane: load(&c.lane), next: load(&c.next), unique: load(&c.unique), duplicates: load(&c.duplicates),
		reordered: load(&c.reordered), first: load(&c.first), last: load(&c.last),
	}
}

func (c liveCounts) since(before liveCounts) liveCounts {
	c.unique -= before.unique
	c.duplicates -= before.duplicates
	c.reordered -= before.reordered
	return c
}

// took is the time over which the lane's datagrams came.
func (c liveCounts) took() time.Duration { return time.Duration(c.last - c.first) }
