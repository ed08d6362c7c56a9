package traffic

import (
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Acknowledged watches that the path still carries something.
type Acknowledged struct {
	bytes    uint64
	At, next time.Duration
}

// Look ends a run whose receiver acknowledges nothing any more, though it rests for no
// longer than that.
func (a *Acknowledged) Look(now time.Duration, fds []int, infos []unix.TCPInfo, rest time.Duration) error {
	if now < a.next {
		return nil
	}
	a.next = now + StallLimit/16
	if err := TCPInfos(fds, infos); err != nil {
		return err
	}
	var sum uint64
	for i := range infos {
		sum += infos[i].Bytes_acked
	}
	switch {
	case sum != a.bytes:
		a.bytes, a.At = sum, now
	case now-a.At > StallLimit+rest:
		return fmt.Errorf("the receiver acknowledged nothing for %v, after %d bytes: the path drops packets or a link is down; see the links and the MTU of the path", StallLimit, sum)
	}
	return nil
}

// TCPInfo reads TCP_INFO into info, without allocating. A kernel that knows
// fewer fields leaves the rest zero; the busy and limited times came with
// Linux 4.10 (include/uapi/linux/tcp.h).
func TCPInfo(fd int, info *unix.TCPInfo) error {
	size := uint32(unsafe.Sizeof(*info))
	_, _, errno := syscall.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_INFO,
		uintptr(unsafe.Pointer(info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return fmt.Errorf("read TCP_INFO: %w", errno)
	}
	return nil
}

// TCPInfos reads TCP_INFO of all flows.
func TCPInfos(fds []int, infos []unix.TCPInfo) error {
	for i, fd := range fds {
		if err := TCPInfo(fd, &infos[i]); err != nil {
			return err
		}
	}
	return nil
}
