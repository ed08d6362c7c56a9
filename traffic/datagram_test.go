package traffic

import (
	"bytes"
	"testing"
)

func FuzzParseHeader(f *testing.F) {
	good := make([]byte, HeaderBytes+8)
	Header{Kind: KindData, Lane: 258, Sequence: 7, Sent: 9}.Put(good, &testToken)
	f.Add(good)
	f.Add(good[:HeaderBytes-1])
	f.Add(bytes.Repeat([]byte{0}, 64))
	f.Fuzz(func(t *testing.T, p []byte) {
		h, ok := ParseHeader(p, &testToken)
		if !ok {
			return
		}
		if !bytes.HasPrefix(p, testToken[:]) {
			t.Fatal("a datagram without the token was let in")
		}
		if h.Sequence < 0 || h.Sequence > maxSequence {
			t.Fatalf("sequence %d out of range", h.Sequence)
		}
		again := make([]byte, HeaderBytes)
		h.Put(again, &testToken)
		if !bytes.Equal(again, p[:HeaderBytes]) {
			t.Fatalf("header %+v does not read back", h)
		}
	})
}

func TestHeaderNeedsTheWholeToken(t *testing.T) {
	p := make([]byte, HeaderBytes)
	Header{Kind: KindEnd, Lane: 0x8001, Sequence: maxSequence, Sent: -1}.Put(p, &testToken)
	if h, ok := ParseHeader(p, &testToken); !ok || h != (Header{KindEnd, 0x8001, maxSequence, -1}) {
		t.Fatalf("read %+v, %v", h, ok)
	}
	for i := range testToken {
		p[i] ^= 1
		if _, ok := ParseHeader(p, &testToken); ok {
			t.Errorf("a token that differs in byte %d was let in", i)
		}
		p[i] ^= 1
	}
}
