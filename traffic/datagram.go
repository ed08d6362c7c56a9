package traffic

import "encoding/binary"

// kind is the purpose of a datagram.
type kind byte

const (
	kindHello   kind = 'h' // the driving end asks whether the server is there
	kindWelcome kind = 'w' // it is
	kindData    kind = 'd' // also a request
	kindAnswer  kind = 'a' // the response to a request, with its sequence
	kindStop    kind = 's' // the receiver's window has closed
	kindEnd     kind = 'e' // the run is over
	kindMark    kind = 'm' // a step of udp_load is over: how many were sent in it
	kindProbe   kind = 'p' // the sender asks whether a frame that it makes itself arrives
	kindProof   kind = 'f' // it did
	kindReport  kind = 'r' // the answer to a mark: how many of them came, and in which time
)

// HeaderBytes is what each datagram begins with, and so the least size of a
// datagram: the token (16 bytes), the sequence (5), the lane (2), the kind (1),
// and when it was sent (8, nanoseconds since 1970 on the sender's clock).
// Little endian.
const HeaderBytes = 32

// wordAt is the offset of what the kind, the lane and the sequence are in.
const wordAt = 16

// laneByte is the offset of the low byte of the lane.
const laneByte = 21

// MaxDatagram is the largest UDP payload over IPv4.
const MaxDatagram = 65507

const maxSequence = 1<<40 - 1

type header struct {
	kind     kind
	lane     uint16 // what counts its own sequence: a flow of udp_pps, a step of udp_load
	sequence int64  // 0 to maxSequence
	sent     int64
}

// put writes the header into p, which holds HeaderBytes or more.
func (h header) put(p []byte, token *Token) {
	copy(p, token[:])
	binary.LittleEndian.PutUint64(p[wordAt:], h.word())
	binary.LittleEndian.PutUint64(p[24:], uint64(h.sent))
}

// word holds the kind, the lane and the sequence.
func (h header) word() uint64 {
	return uint64(h.kind)<<56 | uint64(h.lane)<<40 | uint64(h.sequence)&maxSequence
}

// parseHeader reads the header of a datagram of this run. It gives false for
// any other datagram.
func parseHeader(p []byte, token *Token) (header, bool) {
	if len(p) < HeaderBytes || Token(p[:16]) != *token {
		return header{}, false
	}
	word := binary.LittleEndian.Uint64(p[wordAt:])
	h := header{
		kind:     kind(word >> 56),
		lane:     uint16(word >> 40),
		sequence: int64(word & maxSequence),
		sent:     int64(binary.LittleEndian.Uint64(p[24:])),
	}
	switch h.kind {
	case kindHello, kindWelcome, kindData, kindAnswer, kindStop, kindEnd, kindMark, kindReport, kindProbe, kindProof:
		return h, true
	}
	return header{}, false
}
