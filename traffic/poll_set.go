package traffic

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// PollSet waits for several sockets at once (epoll, level-triggered). The Fd
// of an event is the socket's index.
type PollSet struct {
	fd     int
	events []unix.EpollEvent
}

// OpenPollSet makes a set of sockets, which stay the caller's.
func OpenPollSet(fds []int) (*PollSet, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("open epoll: %w", err)
	}
	s := &PollSet{fd: fd, events: make([]unix.EpollEvent, min(len(fds), 64))}
	for i, each := range fds {
		if err := s.add(each, i); err != nil {
			CloseSocket(fd)
			return nil, err
		}
	}
	return s, nil
}

// add puts a socket in, under an index. A socket that is closed leaves by itself.
func (s *PollSet) add(fd, index int) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(index)}
	if err := unix.EpollCtl(s.fd, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		return fmt.Errorf("add flow to epoll: %w", err)
	}
	return nil
}

// Wait gives the sockets that have something, none after a tick, or none at
// once where the thread spins.
func (s *PollSet) Wait(spin bool) ([]unix.EpollEvent, error) {
	timeout := uintptr(Tick / time.Millisecond)
	if spin {
		timeout = 0
	}
	n, errno := Syscall(unix.SYS_EPOLL_PWAIT, uintptr(s.fd), uintptr(unsafe.Pointer(&s.events[0])),
		uintptr(len(s.events)), timeout, 0, 0)
	if errno != 0 && errno != unix.EINTR {
		return nil, fmt.Errorf("wait for flows: %w", errno)
	}
	return s.events[:max(n, 0)], nil
}

// Close closes the set, not its sockets.
func (s *PollSet) Close() { CloseSocket(s.fd) }

// Remove takes a socket out.
func (s *PollSet) Remove(fd int) error {
	if err := unix.EpollCtl(s.fd, unix.EPOLL_CTL_DEL, fd, nil); err != nil {
		return fmt.Errorf("take flow out of epoll: %w", err)
	}
	return nil
}
