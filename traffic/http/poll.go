package http

import (
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// poll waits for connections that come and go (epoll, level-triggered).
// The Fd of an event is the number that watch got.
type poll struct {
	fd     int
	events []unix.EpollEvent
	self   unix.PollFd
	left   unix.Timespec
	looks  int // before the next sleep
}

func openPoll(connections int) (*poll, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("open epoll: %w", err)
	}
	return &poll{
		fd: fd, looks: 1, events: make([]unix.EpollEvent, min(connections, 64)),
		self: unix.PollFd{Fd: int32(fd), Events: unix.POLLIN},
	}, nil
}

// watch asks for events of fd.
func (p *poll) watch(fd, name int, events uint32, isNew bool) error {
	op := unix.EPOLL_CTL_MOD
	if isNew {
		op = unix.EPOLL_CTL_ADD
	}
	event := unix.EpollEvent{Events: events, Fd: int32(name)}
	if err := unix.EpollCtl(p.fd, op, fd, &event); err != nil {
		return fmt.Errorf("watch connection: %w", err)
	}
	return nil
}

// wait gives the sockets that have something, none after a time of at most a
// tick. epoll waits in milliseconds; for less, ppoll waits for it.
//
// Before it sleeps it looks again for some microseconds: to be woken costs
// both ends more. It does so only as long as looking mostly pays.
func (p *poll) wait(most time.Duration) ([]unix.EpollEvent, error) {
	if most < traffic.Tick {
		p.left = unix.NsecToTimespec(int64(most))
		n, errno := traffic.Syscall(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p.self)), 1, uintptr(unsafe.Pointer(&p.left)), 0, 0, 0)
		if n == 0 {
			return nil, waitError(errno)
		}
		return p.take(0)
	}
	for range p.looks {
		if ready, err := p.take(0); len(ready) > 0 || err != nil {
			p.looks = min(2*p.looks, maxLooks)
			return ready, err
		}
	}
	p.looks = max(p.looks/2, 1)
	return p.take(most)
}

// maxLooks is how often a wait looks before it sleeps, at about 200 ns each.
const maxLooks = 64

// take takes what is ready, or waits for it.
func (p *poll) take(most time.Duration) ([]unix.EpollEvent, error) {
	n, errno := traffic.Syscall(unix.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events[0])),
		uintptr(len(p.events)), uintptr(most/time.Millisecond), 0, 0)
	return p.events[:n], waitError(errno)
}

func waitError(errno syscall.Errno) error {
	if errno != 0 && errno != unix.EINTR {
		return fmt.Errorf("wait for connections: %w", errno)
	}
	return nil
}

// close closes the set, not its sockets.
func (p *poll) close() {
	if p.fd >= 0 {
		traffic.CloseSocket(p.fd)
	}
	p.fd = -1
}
