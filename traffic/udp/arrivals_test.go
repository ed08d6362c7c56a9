package udp

import (
	"testing"

	"tare/test/labtest"
)

func TestArrivalsCountAfreshWhenReopened(t *testing.T) {
	a := NewArrivals()
	for _, n := range []int64{0, 1, 3, 3, 2, 6} { // 4 and 5 are missing
		a.See(n)
	}
	labtest.Equal(t, "lost", a.Lost(a.Highest()), 2)
	labtest.Equal(t, "duplicates", a.Duplicates(), 1)
	labtest.Equal(t, "reordered", a.Reordered(), 1)
	labtest.Equal(t, "unique", a.sequences.unique, 5)
	a.Reopen()
	for _, n := range []int64{4, 7, 9} { // 4 is late, but of the time before
		a.See(n)
	}
	labtest.Equal(t, "lost after reopening", a.Lost(a.Highest()), 1)
	labtest.Equal(t, "lost of 12", a.Lost(11), 3)
	labtest.Equal(t, "reordered after reopening", a.Reordered(), 0)
	labtest.Equal(t, "unique after reopening", a.sequences.unique, 2)
}
