package probe

import (
	"encoding/binary"
	"testing"

	"tare/test/labtest"
)

// A driver gives its rate in two numbers of 16 bits, in Mbit/s, and has more than one way to
// say that it does not know it.
func TestLinkRate(t *testing.T) {
	for _, c := range []struct {
		low, high uint16
		want      float64
	}{
		{1000, 0, 1e9}, {0x86a0, 1, 100e9}, {0, 0, 0}, {0xffff, 0, 0}, {0xffff, 0xffff, 0},
	} {
		settings := make([]byte, 44)
		binary.NativeEndian.PutUint16(settings[12:], c.low)
		binary.NativeEndian.PutUint16(settings[28:], c.high)
		labtest.Equal(t, "rate in bit/s", linkRate(settings), c.want)
	}
}
