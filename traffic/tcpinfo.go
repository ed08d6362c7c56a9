package traffic

import (
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tcpInfo reads TCP_INFO into info, without allocating. A kernel that knows
// fewer fields leaves the rest zero; the busy and limited times came with
// Linux 4.10 (include/uapi/linux/tcp.h).
func tcpInfo(fd int, info *unix.TCPInfo) error {
	size := uint32(unsafe.Sizeof(*info))
	_, _, errno := syscall.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_INFO,
		uintptr(unsafe.Pointer(info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return fmt.Errorf("read TCP_INFO: %w", errno)
	}
	return nil
}

// tcpInfos reads TCP_INFO of all flows.
func tcpInfos(fds []int, infos []unix.TCPInfo) error {
	for i, fd := range fds {
		if err := tcpInfo(fd, &infos[i]); err != nil {
			return err
		}
	}
	return nil
}

// congestion reads back the name of the congestion control that fd uses.
func congestion(fd int) (string, error) {
	name, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err != nil {
		return "", fmt.Errorf("read TCP_CONGESTION: %w", err)
	}
	return name, nil
}

// FlowSent is what one sending TCP flow says of itself, in the window unless
// noted. Source: TCP_INFO.
type FlowSent struct {
	Bytes       int64 // handed to the socket
	Retransmits int64 // segments

	// How long the flow had something to send, and how much of that time it
	// was held up by the receiver's window or by its own send buffer.
	Busy              time.Duration
	ReceiverLimited   time.Duration
	SendBufferLimited time.Duration

	// At the window's end.
	MSS              int // bytes
	CongestionWindow int // segments
	RTT              time.Duration
}

// between gives what a flow did from the first TCP_INFO to the last.
func between(first, last *unix.TCPInfo) FlowSent {
	return FlowSent{
		Retransmits:       int64(last.Total_retrans - first.Total_retrans),
		Busy:              microseconds(last.Busy_time - first.Busy_time),
		ReceiverLimited:   microseconds(last.Rwnd_limited - first.Rwnd_limited),
		SendBufferLimited: microseconds(last.Sndbuf_limited - first.Sndbuf_limited),
		MSS:               int(last.Snd_mss),
		CongestionWindow:  int(last.Snd_cwnd),
		RTT:               microseconds(uint64(last.Rtt)),
	}
}

func microseconds(n uint64) time.Duration { return time.Duration(n) * time.Microsecond }
