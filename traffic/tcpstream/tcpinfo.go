package tcpstream

import (
	"math"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// FlowSent is what the kernel reports of one sending TCP flow, in the window unless
// noted. Source: TCP_INFO.
type FlowSent struct {
	Bytes       int64 // handed to the socket
	Retransmits int64 // segments
	Timeouts    int64 // of the retransmission timer (Linux 6.7)
	Duplicates  int64 // segments that came twice, as the receiver reports (DSACK, Linux 4.19)
	Reorderings int64 // segments that came out of order (Linux 4.19)

	// How long the flow had something to send, and how much of that time it
	// was held up by the receiver's window or by its own send buffer.
	Busy              time.Duration
	ReceiverLimited   time.Duration
	SendBufferLimited time.Duration

	// At the window's end.
	MSS              int // bytes
	PathMTU          int // bytes
	CongestionWindow int // segments
	RTT              time.Duration
	MinRTT           time.Duration
	PacingRate       traffic.BitsPerSecond // the most that congestion control lets out; 0: it does not pace
	AppLimited       bool                  // the last rate of delivery was the application's, not the path's
}

// appLimited is the bit tcpi_delivery_rate_app_limited, which package unix
// leaves out: it is in the byte before Rto.
func appLimited(info *unix.TCPInfo) bool {
	return *(*uint8)(unsafe.Add(unsafe.Pointer(info), unsafe.Offsetof(info.Rto)-1))&1 != 0
}

// between gives what a flow did from the first TCP_INFO to the last.
func between(first, last *unix.TCPInfo) FlowSent {
	return FlowSent{
		Retransmits:       int64(last.Total_retrans - first.Total_retrans),
		Timeouts:          int64(last.Total_rto - first.Total_rto),
		Duplicates:        int64(last.Dsack_dups - first.Dsack_dups),
		Reorderings:       int64(last.Reord_seen - first.Reord_seen),
		Busy:              microseconds(last.Busy_time - first.Busy_time),
		ReceiverLimited:   microseconds(last.Rwnd_limited - first.Rwnd_limited),
		SendBufferLimited: microseconds(last.Sndbuf_limited - first.Sndbuf_limited),
		MSS:               int(last.Snd_mss),
		PathMTU:           int(last.Pmtu),
		CongestionWindow:  int(last.Snd_cwnd),
		RTT:               microseconds(uint64(last.Rtt)),
		MinRTT:            microseconds(uint64(last.Min_rtt)),
		PacingRate:        pacingRate(last.Pacing_rate),
		AppLimited:        appLimited(last),
	}
}

// pacingRate is a rate that TCP_INFO gives in bytes a second, all ones for none.
func pacingRate(bytes uint64) traffic.BitsPerSecond {
	if bytes == math.MaxUint64 {
		return 0
	}
	return traffic.BitsPerSecond(bytes) * 8
}

func microseconds(n uint64) time.Duration { return time.Duration(n) * time.Microsecond }
