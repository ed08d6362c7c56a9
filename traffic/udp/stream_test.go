package udp

import (
	"fmt"
	"testing"
	"time"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

func TestLabUDPStream(t *testing.T) {
	for _, spin := range []bool{false, true} {
		window := traffictest.ShortWindow
		window.Interval = 10 * time.Millisecond
		s := Stream{Token: traffictest.Token, Window: window, Rate: 10e6, Size: 500, Spin: spin, SharedClock: true}
		received, sent := runUDPStream(t, s)
		// A sender that loses its CPU between a datagram and an edge of the window has neither
		// sent the slots of that time nor skipped them. None is both.
		slots := sent.Elapsed.Seconds() * float64(s.Rate) / 8 / float64(s.Size)
		labtest.Between(t, "slots sent or skipped", float64(sent.Datagrams+sent.Skipped), 1, slots+3)
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
		traffictest.CheckSeries(t, received.Series, window)
	}
}

func TestLabUDPStreamTakesTheLargestDatagram(t *testing.T) {
	s := Stream{Token: traffictest.Token, Window: traffictest.ShortWindow, Rate: 300e6, Size: traffic.MaxDatagram}
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
		all := newReceiving(nil, traffictest.Token, traffictest.ShortWindow, traffic.HeaderBytes, 1, 1)
		u := all.thread(0, -1, nil, nil)
		for at := time.Duration(1); u.meter.Phase() != traffic.Closed; at += traffictest.ShortWindow.Duration {
			u.meter.Step(traffic.Event{At: at, N: 1})
		}
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
