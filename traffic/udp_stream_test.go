package traffic

import (
	"fmt"
	"math"
	"testing"
	"time"

	"tare/test/labtest"
)

// scheduleTries is how often a run may be disturbed: a sender that loses its CPU
// between a datagram and an edge of the window has counted neither the slots of that
// time nor skipped them.
const scheduleTries = 3

// runScheduled runs a udp_stream that sends or skips all slots of its window.
func runScheduled(t *testing.T, s UDPStream) (UDPReceived, UDPSent) {
	t.Helper()
	for try := 1; ; try++ {
		received, sent := runUDPStream(t, s)
		slots := sent.Elapsed.Seconds() * float64(s.Rate) / 8 / float64(s.Size)
		if done := float64(sent.Datagrams + sent.Skipped); math.Abs(done-slots) <= 3 {
			return received, sent
		}
		t.Logf("try %d of %d, spin %v: %d sent and %d skipped in %v, want %.0f slots", try, scheduleTries, s.Spin, sent.Datagrams, sent.Skipped, sent.Elapsed, slots)
		if try == scheduleTries {
			t.Fatal("in no run were all slots sent or skipped")
		}
	}
}

func TestLabUDPStream(t *testing.T) {
	for _, spin := range []bool{false, true} {
		window := shortWindow
		window.Interval = 10 * time.Millisecond
		s := UDPStream{Token: testToken, Window: window, Rate: 10e6, Size: 500, Spin: spin, SharedClock: true}
		received, sent := runScheduled(t, s)
		if sent.Late > sent.Datagrams {
			t.Errorf("spin %v: %d sent, %d late", spin, sent.Datagrams, sent.Late)
		}
		of := fmt.Sprintf("spin %t: ", spin)
		labtest.Equal(t, of+"lost", received.Lost, 0)
		labtest.Equal(t, of+"duplicates", received.Duplicates, 0)
		labtest.Equal(t, of+"reordered", received.Reordered, 0)
		labtest.Equal(t, of+"bytes", received.Bytes, received.Datagrams*500)
		if n := received.Delays.Variation.Count(); n != received.Datagrams || received.Delays.OneWay == nil {
			t.Errorf("spin %v: %d delays of %d datagrams", spin, n, received.Datagrams)
		}
		if least, _ := received.Delays.Variation.Min(); least != 0 {
			t.Errorf("spin %v: the least delay variation is %v", spin, least)
		}
		checkSeries(t, received.Series, window)
	}
}

func TestLabUDPStreamTakesTheLargestDatagram(t *testing.T) {
	s := UDPStream{Token: testToken, Window: shortWindow, Rate: 300e6, Size: MaxDatagram}
	received, _ := runUDPStream(t, s)
	if received.Datagrams < 2 || received.Lost != 0 {
		t.Errorf("%+v", received)
	}
}

// What is missing when the sender has ended may wait in the backlog of a CPU,
// while another has delivered the end.
func TestUDPReceiverWaitsForWhatIsMissing(t *testing.T) {
	for _, test := range []struct {
		arrived []int64
		quiet   time.Duration
		over    bool
	}{
		{[]int64{0, 1, 2}, 0, true},
		{[]int64{0, 2}, 0, false},
		{[]int64{0, 2}, 99 * time.Millisecond, false},
		{[]int64{0, 2}, 100 * time.Millisecond, true},
		{[]int64{0, 2, 1}, 50 * time.Millisecond, true},
	} {
		all := newReceiving(nil, testToken, shortWindow, HeaderBytes, 1, 1)
		u := all.thread(0, -1, nil, nil)
		u.meter.phase = closed
		u.flow[0].ended, u.ended = true, 1
		s := u.flow[0].sequences
		s.restart()
		for _, n := range test.arrived {
			s.see(n)
		}
		s.close()
		over, err := u.over(u.quietSince+test.quiet, time.Minute)
		if over != test.over || err != nil {
			t.Errorf("%v arrived, quiet for %v: over %t, %v", test.arrived, test.quiet, over, err)
		}
	}
}
