package tcpstream

import (
	"bytes"
	"compress/flate"
	"context"
	"io"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tare/test/traffictest"
	"tare/traffic"
)

// These tests are named after faults that other bulk engines have or had.

// iperf3 receives with blocks of the size that it sends with (esnet/iperf
// #1078).
func TestLabIperf3ReceivesBySendBlocks(t *testing.T) {
	small, err := Options{Window: traffictest.ShortWindow, WriteBytes: 1448}.checked()
	if err != nil || small.ReadBytes != defaultRead {
		t.Errorf("writes of %d bytes are read %d at once: %v", small.WriteBytes, small.ReadBytes, err)
	}
	served, driven := runTCPStream(t, Options{Token: traffictest.Token, Window: traffictest.ShortWindow, WriteBytes: 1 << 20, ReadBytes: 1000})
	if driven.Sent.WriteBytes != 1<<20 || served.Received.Goodput() <= 0 {
		t.Errorf("wrote %d bytes at once, %v bit/s", driven.Sent.WriteBytes, served.Received.Goodput())
	}
}

// iperf3 -Z sent zeros until 3.20, which a path that compresses carries for
// nothing.
func TestLabIperf3SendsZeros(t *testing.T) {
	for _, mode := range []Mode{Write, Auto, Sendfile, Trunc} {
		l := traffictest.ListenTCP(t)
		ctx, cancel := context.WithCancel(t.Context())
		sent := make(chan error, 1)
		go func() {
			r := traffic.StartRun(ctx)
			defer r.End()
			fds, err := traffic.NewAcceptor(r, l, traffictest.Token, traffic.GreetingLen).AcceptFlows("", 1)
			if err == nil {
				s := Options{Token: traffictest.Token, Window: traffic.Window{Duration: time.Minute}, Mode: mode, Direction: Reverse}
				s, err = s.checked()
				if err == nil {
					_, err = s.move(r, nil, fds)
				}
			}
			traffic.CloseSockets(fds)
			sent <- err
		}()
		payload := make([]byte, 1<<20)
		if _, err := io.ReadFull(traffictest.DialFlow(t, l), payload); err != nil {
			t.Fatal(err)
		}
		cancel()
		<-sent // stopped: its error is that
		var packed bytes.Buffer
		w, err := flate.NewWriter(&packed, flate.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(payload); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if packed.Len() < len(payload) {
			t.Errorf("%s: %d bytes of payload pack into %d", mode, len(payload), packed.Len())
		}
	}
}

// iperf3's pacing is a cumulative average since the start: after a stall it
// sends at full speed until the average is right again.
func TestIperf3PacesByTheAverageSinceTheStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Options{
			Rate: traffic.BitsPerSecond(rapid.Float64Range(1e6, 1e11).Draw(t, "rate")), WriteBytes: rapid.IntRange(1000, 1<<20).Draw(t, "write"), Flows: 1,
		}
		stall := time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "stall"))
		p := s.paces()[0]
		p.start = 0
		back := 100*time.Millisecond + stall
		for p.until(100*time.Millisecond) <= 0 {
			if !p.take(100 * time.Millisecond) {
				t.Fatal("what is due is not taken")
			}
		}
		const after = 20 * time.Millisecond
		taken := 0
		for now := back; now < back+after; now += time.Microsecond {
			for p.take(now) {
				taken++
			}
		}
		due := float64(after)/p.slot + float64(paceBurst)/p.slot + 2
		if float64(taken) > due {
			t.Fatalf("%d writes of %d bytes in %v after a stall of %v, where %.1f are due", taken, s.blockBytes(), after, stall, due)
		}
	})
}

// netperf -b/-w sends half of what is asked for from 958 Mbit/s on
// (HewlettPackard/netperf #39).
func TestNetperfHalvesHighRates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Options{
			Rate:       traffic.BitsPerSecond(rapid.Float64Range(1e3, 4e11).Draw(t, "rate")),
			WriteBytes: rapid.IntRange(1, 1<<20).Draw(t, "write"), Flows: rapid.IntRange(1, 64).Draw(t, "flows"),
		}
		const span = time.Hour // of an ideal machine
		var rate float64
		for _, p := range s.paces() {
			rate += float64(s.blockBytes()) * 8 / p.slot * float64(time.Second)
			p.start = 0
			p.index = int64(float64(span) / p.slot)
			if late := -p.until(span + time.Duration(p.lag)); late < 0 || late > time.Duration(p.slot)+time.Microsecond {
				t.Fatalf("after %v write %d is %v late: slots of %v", span, p.index, late, time.Duration(p.slot))
			}
		}
		if want := float64(s.Rate); rate < want*0.999999 || rate > want*1.000001 {
			t.Fatalf("%g bit/s asked for, %g are scheduled", want, rate)
		}
	})
}

// iperf3 reports rates above the one asked for, and negative loss (esnet/iperf
// #1044).
func TestDeepIperf3ReportsMoreThanTheRate(t *testing.T) {
	for _, direction := range []Direction{Forward, Reverse} {
		const rate = 100e6
		window := traffic.Window{Warmup: 50 * time.Millisecond, Duration: 200 * time.Millisecond}
		served, driven := runTCPStream(t, Options{Token: traffictest.Token, Window: window, Rate: rate, Direction: direction, Flows: 2})
		got, sent := served.Received, driven.Sent
		if direction == Reverse {
			got, sent = driven.Received, served.Sent
		}
		// What a busy machine queued before the window may arrive in it.
		if most := int64(rate / 8 * (got.Elapsed() + window.Warmup + 2*paceWrite).Seconds()); got.Bytes() > most || got.Bytes() <= 0 {
			t.Errorf("%d bytes in %v, where %d were due", got.Bytes(), got.Elapsed(), most)
		}
		if sent.Skipped < 0 || sent.OfferedRate() <= 0 {
			t.Errorf("%d writes skipped, %.0f bit/s offered", sent.Skipped, sent.OfferedRate())
		}
	}
}
