package traffic

import "encoding/binary"

// Kind is the purpose of a datagram.
type Kind byte

// The kinds.
const (
	KindHello   Kind = 'h' // the driving end asks whether the server is there
	KindWelcome Kind = 'w' // it is
	KindData    Kind = 'd' // also a request
	KindAnswer  Kind = 'a' // the response to a request, with its sequence
	KindStop    Kind = 's' // the receiver's window has closed
	KindEnd     Kind = 'e' // the run is over
	KindMark    Kind = 'm' // a step of udp_load is over: how many were sent in it
	KindProbe   Kind = 'p' // the sender asks whether a frame that it makes itself arrives
	KindProof   Kind = 'f' // it did
	KindReport  Kind = 'r' // the answer to a mark: how many of them came, and in which time
)

// HeaderBytes is what each datagram begins with, and so the least size of a
// datagram: the token (16 bytes), the sequence (5), the lane (2), the kind (1),
// and when it was sent (8, nanoseconds since 1970 on the sender's clock).
// Little endian.
const HeaderBytes = 32

// WordAt is the offset of what the kind, the lane and the sequence are in.
const WordAt = 16

// LaneByte is the offset of the low byte of the lane.
const LaneByte = 21

// MaxDatagram is the largest UDP payload over IPv4.
const MaxDatagram = 65507

const maxSequence = 1<<40 - 1

// Header is what a datagram begins with.
type Header struct {
	Kind     Kind
	Lane     uint16 // what counts its own sequence: a flow of udp_pps, a step of udp_load
	Sequence int64  // 0 to maxSequence
	Sent     int64
}

// Put writes the header into p, which holds HeaderBytes or more.
func (h Header) Put(p []byte, token *Token) {
	copy(p, token[:])
	binary.LittleEndian.PutUint64(p[WordAt:], h.Word())
	binary.LittleEndian.PutUint64(p[24:], uint64(h.Sent))
}

// Word holds the kind, the lane and the sequence.
func (h Header) Word() uint64 {
	return uint64(h.Kind)<<56 | uint64(h.Lane)<<40 | uint64(h.Sequence)&maxSequence
}

// ParseHeader reads the header of a datagram of this run. It gives false for
// any other datagram.
func ParseHeader(p []byte, token *Token) (Header, bool) {
	if len(p) < HeaderBytes || Token(p[:16]) != *token {
		return Header{}, false
	}
	word := binary.LittleEndian.Uint64(p[WordAt:])
	h := Header{
		Kind:     Kind(word >> 56),
		Lane:     uint16(word >> 40),
		Sequence: int64(word & maxSequence),
		Sent:     int64(binary.LittleEndian.Uint64(p[24:])),
	}
	switch h.Kind {
	case KindHello, KindWelcome, KindData, KindAnswer, KindStop, KindEnd, KindMark, KindReport, KindProbe, KindProof:
		return h, true
	}
	return Header{}, false
}
