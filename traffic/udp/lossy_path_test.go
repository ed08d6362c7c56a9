package udp

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

const far = "10.9.0.2:5210"

// runBetween runs both ends of a udp_pps on two machines. during is called
// when the window has opened.
func runBetween(sender, receiver *machine, s PPS, during func()) (received Received, sent Sent, serveErr, sendErr error) {
	return runOn(sender, receiver, receiver.listen(far, 1), s, during)
}

// runOn is runBetween on a socket of the receiver, which it closes.
func runOn(sender, receiver *machine, l *Listener, s PPS, during func()) (received Received, sent Sent, serveErr, sendErr error) {
	ctx, cancel := context.WithTimeout(context.Background(), labtest.Generous)
	defer cancel()
	opened := make(chan struct{}, 1)
	if during != nil {
		s.Window.Edge = func(e traffic.Edge) {
			if e == traffic.Opening {
				opened <- struct{}{}
			}
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		receiver.jobs <- func() (err error) { received, err = ServePPS(ctx, l, s); return err }
		serveErr = <-receiver.done
	}()
	sending := make(chan struct{})
	go func() {
		defer close(sending)
		sender.jobs <- func() (err error) { sent, err = SendPPS(ctx, l.Addr(), s); return err }
		sendErr = <-sender.done
	}()
	if during != nil {
		<-opened
		during()
	}
	<-done
	<-sending
	closeErr := l.Close()
	if serveErr == nil {
		serveErr = closeErr
	}
	return received, sent, serveErr, sendErr
}

// At a rate that leaves no queue the device counts as many packets as
// datagrams came, but with gso.
func TestDeepUDPPPSOneDatagramIsOnePacket(t *testing.T) {
	for _, mode := range []Mode{Mmsg, Msg, GSO} {
		sender, receiver := pair(t)
		s := PPS{Token: traffictest.Token, Window: traffic.Window{Warmup: 50 * time.Millisecond, Duration: 400 * time.Millisecond}, Mode: mode, Rate: 40000}
		received, sent, serveErr, sendErr := runBetween(sender, receiver, s, nil)
		traffictest.Try(t, serveErr, sendErr)
		if received.Datagrams < 1000 || received.Jitter != 0 || received.Delays != nil {
			t.Errorf("%s: %+v", mode, received)
		}
		packets := float64(received.Packets) / float64(received.Datagrams)
		if mode == GSO && packets > 0.75 {
			t.Errorf("gso: %.2f packets per datagram: nothing was joined", packets)
		}
		if mode != GSO && math.Abs(packets-1) > 0.05 {
			t.Errorf("%s: %d packets for %d datagrams", mode, received.Packets, received.Datagrams)
		}
		if wanted := s.Rate * sent.Elapsed.Seconds(); float64(sent.Datagrams) > wanted*1.02+s.Rate*catchUp.Seconds() {
			t.Errorf("%s: %d sent in %v at %.0f/s", mode, sent.Datagrams, sent.Elapsed, s.Rate)
		}
	}
}

// What the sender's own queue drops is no loss on the way, and what a router
// drops is no drop of either end.
func TestLabUDPPPSDistinguishesDrops(t *testing.T) {
	const rate, frame = 800e3, 64 + 20 + 8 + 14 // a twentieth of what is sent
	s := PPS{Token: traffictest.Token, Window: traffic.Window{Warmup: 50 * time.Millisecond, Duration: 300 * time.Millisecond}, Rate: 20000}
	sender, receiver := pair(t)
	throttle(sender, "va", rate, 20*frame)
	received, sent, serveErr, sendErr := runBetween(sender, receiver, s, nil)
	traffictest.Try(t, serveErr, sendErr)
	if sent.Drops == 0 || received.Lost != 0 {
		t.Errorf("the sender's queue is too short: %d dropped there, %d of %d lost on the way", sent.Drops, received.Lost, received.Expected)
	}
	sender, receiver = chain(t, rate, 20*frame)
	received, sent, serveErr, sendErr = runBetween(sender, receiver, s, nil)
	traffictest.Try(t, serveErr, sendErr)
	if sent.Drops != 0 || received.Lost == 0 || received.BufferDrops != 0 {
		t.Errorf("the router's queue is too short: %d dropped at the sender, %d at the receiver, %d lost", sent.Drops, received.BufferDrops, received.Lost)
	}
}

// The path fails in the middle of a sweep: both ends report it.
func TestLabUDPLoadSaysThatThePathFailed(t *testing.T) {
	t.Parallel()
	sender, receiver := pair(t)
	l := receiver.listen(far, 1)
	defer func() { traffictest.Try(t, l.Close()) }()
	s := Load{Token: traffictest.Token, Window: traffic.Window{Duration: 12 * time.Second}}
	var failed time.Time
	s.Window.Edge = func(traffic.Edge) {
		failed = time.Now()
		misdirect(sender, "va", "10.9.0.2")
		misdirect(receiver, "vb", "10.9.0.1")
	}
	go func() {
		receiver.jobs <- func() error { _, err := ServeLoad(context.Background(), l, s); return err }
	}()
	sender.jobs <- func() error { _, err := SendLoad(context.Background(), l.Addr(), s); return err }
	sendErr, serveErr := <-sender.done, <-receiver.done
	labtest.InTime(t, "the report", time.Since(failed), traffictest.ReportWithin)
	if sendErr == nil || !strings.Contains(sendErr.Error(), "did not answer") {
		t.Errorf("the sender reports %v", sendErr)
	}
	if serveErr == nil || !strings.Contains(serveErr.Error(), "fell silent") {
		t.Errorf("the receiver reports %v", serveErr)
	}
}

func TestLabUDPPPSGSOSaysWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	sender, receiver := pair(t)
	s := PPS{Token: traffictest.Token, Window: traffictest.ShortWindow, Mode: GSO, Size: 2000} // of an MTU of 1500
	_, _, _, err := runBetween(sender, receiver, s, nil)
	if err == nil || !strings.Contains(err.Error(), "use mode mmsg") {
		t.Errorf("datagrams larger than the MTU: %v", err)
	}
}

// The path fails in the middle of a long window: both ends report it.
func TestLabUDPPPSSaysThatThePathFailed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fail           func(t *testing.T, sender, receiver *machine)
		serve, deliver string
	}{
		"the path drops every packet": {func(t *testing.T, sender, receiver *machine) {
			// A frame to another station is dropped without a word.
			misdirect(sender, "va", "10.9.0.2")
			misdirect(receiver, "vb", "10.9.0.1")
		}, "fell silent", "sent nothing"},
		"the receiver's link goes down": {func(t *testing.T, _, receiver *machine) {
			traffictest.Try(t, receiver.link.LinkSetDown(receiver.device("vb")))
		}, "", "sent nothing"},
		"the sender's link goes down": {func(t *testing.T, sender, _ *machine) {
			traffictest.Try(t, sender.link.LinkSetDown(sender.device("va")))
		}, "fell silent", "unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sender, receiver := pair(t)
			var failed time.Time
			s := PPS{Token: traffictest.Token, Window: traffic.Window{Warmup: 20 * time.Millisecond, Duration: time.Hour}, Rate: 2000}
			_, _, serveErr, sendErr := runBetween(sender, receiver, s, func() {
				failed = time.Now()
				test.fail(t, sender, receiver)
			})
			labtest.InTime(t, "the report", time.Since(failed), traffictest.ReportWithin)
			if serveErr == nil || !strings.Contains(serveErr.Error(), test.serve) {
				t.Errorf("the receiver reports %v", serveErr)
			}
			if sendErr == nil || !strings.Contains(sendErr.Error(), test.deliver) {
				t.Errorf("the sender reports %v", sendErr)
			}
		})
	}
}

// The receiving process is killed: its machine answers that no process listens.
func TestLabUDPPPSSaysThatTheFarEndDied(t *testing.T) {
	t.Parallel()
	sender, receiver := pair(t)
	l := receiver.listen(far, 1)
	ctx, kill := context.WithCancel(t.Context())
	s := PPS{Token: traffictest.Token, Window: traffic.Window{Duration: time.Hour}, Rate: 2000}
	died := make(chan time.Time, 1)
	dying := s
	dying.Window.Edge = func(traffic.Edge) { kill() }
	go func() {
		receiver.jobs <- func() error { _, err := ServePPS(ctx, l, dying); return err }
		<-receiver.done
		died <- time.Now()
		_ = l.Close()
	}()
	sender.jobs <- func() error { _, err := SendPPS(context.Background(), l.Addr(), s); return err }
	err := <-sender.done
	labtest.InTime(t, "the report", time.Since(<-died), traffictest.ReportWithin)
	if err == nil || !strings.Contains(err.Error(), "closed its port") {
		t.Errorf("the sender reports %v", err)
	}
}

// A router that passes a known rate on: no sweep finds a load carried that the
// router does not pass, and one of a few finds the rate between its bounds: this
// machine may be too busy for the others.
func TestDeepUDPLoadFindsTheRateOfALink(t *testing.T) {
	const rate, size, frame = 4000, 300, 300 + 20 + 8 + 14
	sender, receiver := chain(t, rate*frame*8, 10*frame)
	l := receiver.listen(far, 1)
	defer func() { traffictest.Try(t, l.Close()) }()
	s := Load{Token: traffictest.Token, Window: traffic.Window{Warmup: 50 * time.Millisecond, Duration: 2 * time.Second}, Size: size}
	const tries = 5
	for n := range tries {
		sent := sweepBetween(t, sender, receiver, l, s)
		labtest.AtMost(t, "low bound", sent.NoDropLow, 1.1*rate)
		labtest.LessThan(t, "high bound", sent.NoDropHigh, math.Inf(1))
		labtest.AtLeast(t, "high bound", sent.NoDropHigh, sent.NoDropLow)
		labtest.AtMost(t, "the most received", sent.Most(), 1.3*rate)
		if t.Failed() {
			return
		}
		twice, offered := sent.AtTwiceKnee()
		if sent.NoDropLow > 0.8*rate && sent.NoDropHigh < 1.2*rate && offered && twice > 0.8*rate {
			return
		}
		labtest.TryAgain(t, "sweep %d of %d: the link carries %d/s, the bounds are %.0f and %.0f, at twice the knee came %.0f", n+1, tries, rate, sent.NoDropLow, sent.NoDropHigh, twice)
	}
	t.Errorf("none of %d sweeps found the rate", tries)
}

func sweepBetween(t *testing.T, sender, receiver *machine, l *Listener, s Load) (sent LoadSent) {
	t.Helper()
	var received LoadReceived
	go func() {
		receiver.jobs <- func() (err error) { received, err = ServeLoad(t.Context(), l, s); return err }
	}()
	sender.do(func() (err error) { sent, err = SendLoad(t.Context(), l.Addr(), s); return err })
	traffictest.Try(t, <-receiver.done)
	if len(sent.Trials) == 0 || len(received.CPU) != len(sent.Trials) || received.Datagrams != sent.Datagrams {
		t.Errorf("%d trials, %d readings of the CPUs, %d datagrams counted at one end and %d at the other", len(sent.Trials), len(received.CPU), received.Datagrams, sent.Datagrams)
	}
	return sent
}
