package traffic

import (
	"bytes"
	"testing"
)

func FuzzParseHeader(f *testing.F) {
	good := make([]byte, HeaderBytes+8)
	header{kind: kindData, lane: 258, sequence: 7, sent: 9}.put(good, &testToken)
	f.Add(good)
	f.Add(good[:HeaderBytes-1])
	f.Add(bytes.Repeat([]byte{0}, 64))
	f.Fuzz(func(t *testing.T, p []byte) {
		h, ok := parseHeader(p, &testToken)
		if !ok {
			return
		}
		if !bytes.HasPrefix(p, testToken[:]) {
			t.Fatal("a datagram without the token was let in")
		}
		if h.sequence < 0 || h.sequence > maxSequence {
			t.Fatalf("sequence %d out of range", h.sequence)
		}
		again := make([]byte, HeaderBytes)
		h.put(again, &testToken)
		if !bytes.Equal(again, p[:HeaderBytes]) {
			t.Fatalf("header %+v does not read back", h)
		}
	})
}

func TestHeaderNeedsTheWholeToken(t *testing.T) {
	p := make([]byte, HeaderBytes)
	header{kind: kindEnd, lane: 0x8001, sequence: maxSequence, sent: -1}.put(p, &testToken)
	if h, ok := parseHeader(p, &testToken); !ok || h != (header{kindEnd, 0x8001, maxSequence, -1}) {
		t.Fatalf("read %+v, %v", h, ok)
	}
	for i := range testToken {
		p[i] ^= 1
		if _, ok := parseHeader(p, &testToken); ok {
			t.Errorf("a token that differs in byte %d was let in", i)
		}
		p[i] ^= 1
	}
}
