package iperf3

import (
	"encoding/binary"
	"time"
)

// header is what a datagram begins with, big endian: when it was sent, in
// seconds and microseconds since 1970 on the sender's clock, and its number,
// from 1 on, in 32 or 64 bit (iperf_udp.c).
type header struct {
	sent   int64 // microseconds since 1970
	number int64
}

const (
	narrowHeader = 12
	wideHeader   = 16
)

// put writes the header into p, which holds wideHeader bytes or more.
func (h header) put(p []byte, wide bool) {
	binary.BigEndian.PutUint32(p, uint32(h.sent/1e6))
	binary.BigEndian.PutUint32(p[4:], uint32(h.sent%1e6))
	if wide {
		binary.BigEndian.PutUint64(p[8:], uint64(h.number))
	} else {
		binary.BigEndian.PutUint32(p[8:], uint32(h.number))
	}
}

// parseHeader reads the header of a datagram; false if it is none of a test.
func parseHeader(p []byte, wide bool) (header, bool) {
	if len(p) < narrowHeader || wide && len(p) < wideHeader {
		return header{}, false
	}
	h := header{sent: int64(binary.BigEndian.Uint32(p))*1e6 + int64(binary.BigEndian.Uint32(p[4:]))}
	if wide {
		h.number = int64(binary.BigEndian.Uint64(p[8:]))
	} else {
		h.number = int64(binary.BigEndian.Uint32(p[8:]))
	}
	return h, h.number > 0
}

// jitter smooths the change of the transit time (RFC 3550, 6.4.1). The clocks
// of the ends may differ by any offset.
type jitter struct {
	started bool
	last    int64
	value   float64 // nanoseconds
}

// take takes a datagram's receive stamp in nanoseconds and its send stamp in
// microseconds since 1970.
func (j *jitter) take(arrived, sent int64) {
	transit := arrived - sent*1e3
	if j.started {
		change := max(transit-j.last, j.last-transit)
		j.value += (float64(change) - j.value) / 16
	}
	j.started, j.last = true, transit
}

func (j *jitter) duration() time.Duration { return time.Duration(j.value) }

// The first datagram of a UDP flow and its answer, as text. Clients before
// 3.11 send 123456789 and expect 987654321 as the answer, in their machine's
// byte order; those of Linux today are little-endian.
var (
	udpHello         = [4]byte{'9', '8', '7', '6'}
	udpWelcome       = [4]byte{'6', '7', '8', '9'}
	udpLegacyHello   = [4]byte{0x15, 0xcd, 0x5b, 0x07}
	udpLegacyWelcome = [4]byte{0xb1, 0x68, 0xde, 0x3a}
)

// answerTo returns the answer to a flow's first datagram; false if it is no
// client's.
func answerTo(got []byte) ([4]byte, bool) {
	if len(got) != 4 {
		return [4]byte{}, false
	}
	switch [4]byte(got) {
	case udpHello:
		return udpWelcome, true
	case udpWelcome: // the same number on a big-endian machine
		return udpHello, true
	case udpLegacyHello:
		return udpLegacyWelcome, true
	}
	return [4]byte{}, false
}
