// Package iperf3 implements the protocol of iperf3 (esnet/iperf, 3.1 and later),
// as a client and as a server, so that either end can be the real one.
//
// A test has one control connection, on which one end sends the other the next
// state in one byte, and separate data flows: TCP connections to the same
// port that begin with the client's cookie, or UDP sockets. The client sends
// its parameters before the test and both send their results after it, as
// JSON behind its length. Sources: iperf_api.h, iperf_client_api.c,
// iperf_server_api.c, iperf_udp.c and iperf_tcp.c of 3.12.
//
// The figures are our own: iperf3's pacing, its sequence numbers' accounting
// and its blocks at the receiver are known to go wrong, and none of that is in
// the protocol.
//
// The calling process keeps the garbage collector off during a test.
package iperf3

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"tare/traffic"
)

// Limits of iperf3 itself (iperf.h).
const (
	MaxFlows    = 128
	maxDuration = 86400 * time.Second
	maxOmit     = 600 * time.Second
	maxBlock    = 1 << 20
	minDatagram = 16 // the header with a counter of 64 bit
	maxDatagram = 65507
	maxBurst    = 1000
	maxWindow   = 512 << 20
)

const (
	defaultBlock    = 128 << 10
	defaultDatagram = 1460 // where the control connection's MSS is unknown
	defaultInterval = time.Second
)

// Test is what a client asks for.
type Test struct {
	UDP     bool
	Flows   int  // in each direction; default 1
	Reverse bool // the server sends
	Bidir   bool // both ends send

	// The test ends Duration after Omit, or once Bytes have passed on all flows
	// together. One of the two must be set.
	Duration time.Duration
	Bytes    int64
	Omit     time.Duration // left out of the figures; whole seconds

	Rate   traffic.BitsPerSecond // payload of each flow; 0: as fast as possible
	Size   int                   // bytes of one write or datagram; 0: 128 KiB, or what fits the path
	Window int                   // bytes of the sockets' buffers; 0: the kernel's choice
	CC     string                // congestion control at both ends; empty: as the route has it

	Interval time.Duration  // step of the series; default 1 s
	Each     func(Interval) // called after each step, on the goroutine of Run; may be nil
}

// checked fills in the defaults and refuses what iperf3 cannot express.
func (t Test) checked() (Test, error) {
	t.Flows = cmp.Or(t.Flows, 1)
	t.Interval = cmp.Or(t.Interval, defaultInterval)
	switch {
	case t.Flows < 1 || t.Flows > MaxFlows:
		return t, fmt.Errorf("%d flows: iperf3 takes 1 to %d", t.Flows, MaxFlows)
	case t.Reverse && t.Bidir:
		return t, errors.New("reverse and bidir exclude each other: choose one")
	case (t.Duration > 0) == (t.Bytes > 0):
		return t, errors.New("give either a duration or a number of bytes")
	case t.Duration < 0 || t.Duration > maxDuration || t.Bytes < 0:
		return t, fmt.Errorf("duration %v: want up to %v", t.Duration, maxDuration)
	case t.Omit < 0 || t.Omit > maxOmit || t.Omit%time.Second != 0:
		return t, fmt.Errorf("omit %v: want whole seconds up to %v", t.Omit, maxOmit)
	case t.Rate < 0:
		return t, errors.New("the rate must not be negative")
	case t.Interval < time.Millisecond:
		return t, fmt.Errorf("interval %v: want 1ms or more", t.Interval)
	case t.Window < 0 || t.Window > maxWindow:
		return t, fmt.Errorf("window of %d bytes: want up to %d", t.Window, maxWindow)
	case t.UDP && t.CC != "":
		return t, errors.New("a congestion control belongs to TCP: leave it out with UDP")
	}
	return t, checkSize(t.UDP, t.Size)
}

// checkSize refuses a block that iperf3 would not take; 0 means none.
func checkSize(udp bool, size int) error {
	least, most := 1, maxBlock
	if udp {
		least, most = minDatagram, maxDatagram
	}
	if size != 0 && (size < least || size > most) {
		return fmt.Errorf("blocks of %d bytes: want %d to %d", size, least, most)
	}
	return nil
}

// parameters is the test in iperf3's terms.
func (t Test) parameters() parameters {
	seconds := (t.Duration + time.Second - 1) / time.Second // the client itself ends the test in time
	return parameters{
		TCP: given(!t.UDP), UDP: given(t.UDP), Parallel: number(t.Flows),
		Reverse: given(t.Reverse), Bidirectional: given(t.Bidir),
		Time: number(seconds), Num: number(t.Bytes), Omit: number(t.Omit / time.Second),
		Bandwidth: number(t.Rate + 0.5), Len: number(t.Size), Window: number(t.Window), Congestion: t.CC,
		PacingTimer: number(pacingTimer / time.Microsecond), WideCounters: wide(t.UDP),
		ClientVersion: version,
	}
}

func wide(udp bool) number {
	if udp {
		return 1
	}
	return 0
}

// version is the iperf3 whose protocol this is.
const version = "3.12"
