package udp

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
	"tare/traffic"
)

// stamped makes a batch whose only datagram arrived at stamp, in the form of the
// kernel.
func stamped(stamp time.Duration) *batch {
	b := newBatch(1, traffic.HeaderBytes, true)
	h := &b.messages[0].header
	h.SetControllen(unix.CmsgLen(16))
	binary.NativeEndian.PutUint64(b.controls, uint64(unix.CmsgLen(16)))
	at := unix.CmsgLen(0)
	binary.NativeEndian.PutUint32(b.controls[at-8:], unix.SOL_SOCKET)
	binary.NativeEndian.PutUint32(b.controls[at-4:], unix.SO_TIMESTAMPNS_NEW)
	binary.NativeEndian.PutUint64(b.controls[at:], uint64(stamp/time.Second))
	binary.NativeEndian.PutUint64(b.controls[at+8:], uint64(stamp%time.Second))
	return b
}

// Datagrams each millisecond whose delay alternates by 160 us: J of RFC 3550
// tends to 160 us, the variation is 0 or 160 us, whatever the clocks' offset.
func TestDelaysAndJitter(t *testing.T) {
	const step, swing, offset = time.Millisecond, 160 * time.Microsecond, 7 * time.Hour
	for _, shared := range []bool{false, true} {
		d := newDelayMeter(1000, shared)
		for i := range 1000 {
			sent := time.Duration(i) * step
			delay := offset + time.Duration(i%2)*swing
			if err := d.take(stamped(sent+delay), 0, int64(sent), i >= 200); err != nil {
				t.Fatal(err)
			}
		}
		jitter, delays := d.outcome()
		if math.Abs(float64(jitter-swing)) > float64(time.Microsecond) {
			t.Errorf("jitter %v, want %v", jitter, swing)
		}
		p90, _ := delays.Variation.Quantile(0.9)
		least, _ := delays.Variation.Min()
		mean, _ := delays.Variation.Mean()
		labtest.Equal(t, "number of variations", delays.Variation.Count(), 800)
		labtest.Equal(t, "least variation", least, 0)
		labtest.Equal(t, "mean variation", mean, swing/2)
		labtest.Near(t, "p90 of the variation in ns", float64(p90), float64(swing), 0.001*float64(swing))
		if (delays.OneWay != nil) != shared {
			t.Errorf("shared clock %v, one-way delay %v", shared, delays.OneWay)
		}
	}
}

func TestDelaysKeepTheirBound(t *testing.T) {
	d := newDelayMeter(3*maxTransits, true)
	b := stamped(time.Second)
	for range 4 * maxTransits { // more than was expected
		if err := d.take(b, 0, 0, true); err != nil {
			t.Fatal(err)
		}
	}
	_, delays := d.outcome()
	if n := delays.Variation.Count(); delays.Every != 4 || n < 3*maxTransits/4 || n > maxTransits {
		t.Errorf("one in %d taken, %d in all; want one in 4 and at most %d", delays.Every, n, maxTransits)
	}
	// A delay below zero shows two clocks.
	d = newDelayMeter(10, true)
	if err := d.take(b, 0, int64(2*time.Second), true); err != nil {
		t.Fatal(err)
	}
	if _, delays := d.outcome(); delays.OneWay != nil {
		t.Error("a negative delay was given as a one-way delay")
	}
	if err := d.take(newBatch(1, traffic.HeaderBytes, true), 0, 0, true); err == nil {
		t.Error("a datagram without a stamp was taken")
	}
}
