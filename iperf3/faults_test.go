package iperf3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tare/test/labtest"
)

// iperf3 catches up on all that it missed since the start, at full speed.
func TestPacingDoesNotBurstAfterAStall(t *testing.T) {
	p := parameters{UDP: true, Len: 1000, Bandwidth: 8e6} // one block a millisecond
	s := newPace(p)
	now := time.Duration(0)
	count := func(until time.Duration) (n int) {
		for now < until {
			wait := s.next(now)
			if wait == 0 {
				n++
			}
			now += wait
		}
		return n
	}
	if n := count(100 * time.Millisecond); n != 100 {
		t.Errorf("%d blocks in 100 ms, want 100", n)
	}
	now += 500 * time.Millisecond // the stall
	burst := 0
	for s.next(now) == 0 {
		burst++
	}
	if burst > 12 {
		t.Errorf("a burst of %d blocks after a stall of 500", burst)
	}
	if s.skipped < 488 {
		t.Errorf("%d blocks given up in a stall of 500", s.skipped)
	}
	if n := count(now + 100*time.Millisecond); n < 99 || n > 101 {
		t.Errorf("%d blocks in the 100 ms after it, want 100", n)
	}
}

func TestPaceHoldsItsRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := parameters{
			Len:         number(rapid.IntRange(16, maxBlock).Draw(t, "len")),
			Bandwidth:   number(rapid.IntRange(1e6, 1e10).Draw(t, "rate")),
			Burst:       number(rapid.IntRange(0, 20).Draw(t, "burst")),
			PacingTimer: number(rapid.IntRange(0, 100_000).Draw(t, "timer")),
		}
		s := newPace(p)
		late := time.Duration(rapid.IntRange(0, 2_000_000).Draw(t, "late"))
		var now time.Duration
		blocks := int64(0)
		for range 2000 {
			if wait := s.next(now); wait > 0 {
				now += wait + late
			} else {
				blocks++
			}
		}
		// Never more than the rate allows: the schedule itself, and one burst.
		most := float64(p.Bandwidth)/8*now.Seconds()/float64(p.Len) + float64(max(p.Burst, 1)) + 1
		if float64(blocks) > most {
			t.Fatalf("%d blocks in %v, want %.0f at most", blocks, now, most)
		}
		if want := most - 2*float64(max(p.Burst, 1)) - 2 - float64(late)/s.slot; float64(blocks+s.skipped) < want {
			t.Fatalf("%d blocks and %d given up in %v, want %.0f", blocks, s.skipped, now, want)
		}
		if late < s.forgive-time.Duration(s.slot) && s.skipped > 0 {
			t.Fatalf("%d blocks given up by a sender that was %v late of %v", s.skipped, late, s.forgive)
		}
	})
}

// iperf3 takes a duplicate for a reordered datagram, and a lost one off.
func TestDuplicatesAreCounted(t *testing.T) {
	at, log := ourServer(t, loopback)
	r, _ := udpTest(t, at, 6, 1, 2, 2, 2, 5, 6)
	if r.Streams[0].Errors != 2 || r.Streams[0].Packets != 6 {
		t.Errorf("3 and 4 of 6 are lost: got %+v", r.Streams[0])
	}
	log.await(t, "lost 2 of 6, 2 duplicates, 0 reordered")
}

func TestReorderedDatagramsAreNotLost(t *testing.T) {
	at, log := ourServer(t, loopback)
	r, _ := udpTest(t, at, 5, 1, 4, 2, 3, 5)
	if r.Streams[0].Errors != 0 {
		t.Errorf("none of 5 is lost: got %+v", r.Streams[0])
	}
	log.await(t, "lost 0 of 5, 0 duplicates, 2 reordered")
}

// iperf3 sees only the gaps between those that arrive.
func TestLossAtTheEndIsSeen(t *testing.T) {
	at, log := ourServer(t, loopback)
	r, _ := udpTest(t, at, 10, 1, 2, 3)
	labtest.Equal(t, "errors", r.Streams[0].Errors, 7)
	labtest.Equal(t, "packets", r.Streams[0].Packets, 10)
	log.await(t, "lost 7 of 10")
}

// iperf3 reports "0 lost" for a test of which nothing arrives.
func TestLossOfAllIsSeen(t *testing.T) {
	at, log := ourServer(t, loopback)
	r, _ := udpTest(t, at, 10)
	if r.Streams[0].Errors != 10 {
		t.Errorf("all of 10 are lost: got %+v", r.Streams[0])
	}
	log.await(t, "lost 10 of 10")
}

// Clients since 3.14 take the loss for nothing where a server does not report
// the omitted time apart (esnet/iperf#1984).
func TestServerReportsOmittedDatagramsSeparately(t *testing.T) {
	at, _ := ourServer(t, loopback)
	r, _ := udpTest(t, at, 3, 1, 3)
	f := r.Streams[0]
	if f.OmittedErrors == nil || f.OmittedPackets == nil {
		t.Fatalf("no omitted datagrams: %+v", f)
	}
	labtest.Equal(t, "omitted errors", *f.OmittedErrors, 0)
	labtest.Equal(t, "omitted packets", *f.OmittedPackets, 0)
}

// reverseUDP plays a server that sends the datagrams of these numbers, and
// reports that it sent so many.
func reverseUDP(t *testing.T, sent int64, numbers ...int64) Outcome {
	t.Helper()
	at := serveScript(t, func(s *script, l *net.TCPListener) {
		s.sendsState(paramExchange)
		var p parameters
		s.readsJSON(&p)
		listener, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(addressOf(l.Addr())))
		if err != nil {
			s.t.Fatal(err)
		}
		defer listener.Close()
		s.sendsState(createStreams)
		var got [64]byte
		n, client, err := listener.ReadFromUDPAddrPort(got[:])
		if err != nil || string(got[:n]) != string(udpHello[:]) {
			s.t.Fatalf("the client sent %q: %v", got[:n], err)
		}
		send := func(p []byte) {
			if _, err := listener.WriteToUDPAddrPort(p, client); err != nil {
				s.t.Fatal(err)
			}
		}
		send(udpWelcome[:])
		s.sendsState(testStart, testRunning)
		for _, n := range numbers {
			send(datagram(n, 64))
		}
		s.wants(testEnd)
		s.sendsState(exchangeResults)
		var r results
		s.readsJSON(&r)
		s.saysJSON(resultsText(1, sent*64, sent, 0))
		s.sendsState(displayResults)
		s.wants(iperfDone)
	})
	out, err := Run(t.Context(), at, Test{
		UDP: true, Reverse: true, Size: 64, Rate: 1e6, Duration: 200 * time.Millisecond, Interval: 20 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range out.Intervals {
		for _, s := range i.Steps {
			if min(s.Lost, s.Datagrams, s.Duplicates, s.Reordered) < 0 {
				t.Errorf("interval from %v has %+v", i.From, s)
			}
		}
	}
	return out
}

// iperf3 -R prints a negative loss where datagrams come late or twice.
func TestReverseUDPLossIsNeverNegative(t *testing.T) {
	out := reverseUDP(t, 8, 3, 4, 1, 2, 2, 2, 2, 8, 5, 6) // 7 is lost, 2 comes four times, 1 2 5 6 come late
	f := out.Flows[0]
	labtest.Equal(t, "datagrams", f.Datagrams, 8)
	labtest.Equal(t, "lost", f.Lost, 1)
	labtest.Equal(t, "duplicates", f.Duplicates, 3)
	labtest.Equal(t, "reordered", f.Reordered, 4)
	labtest.Equal(t, "loss", out.Loss(), 1.0/8)
}

func TestReverseUDPSeesLossAtTheEnd(t *testing.T) {
	labtest.Equal(t, "lost of 10", reverseUDP(t, 10, 1, 2, 3).Flows[0].Lost, 7)
}

// A server that sent less than arrived is not believed.
func TestServersOwnCountIsNotBelievedBlindly(t *testing.T) {
	if f := reverseUDP(t, 1, 1, 2, 4).Flows[0]; f.Datagrams != 4 || f.Lost != 1 {
		t.Errorf("3 of 4 came: got %+v", f)
	}
}

// Our client takes the loss from what arrived, whatever the server calls lost.
func TestLossAtServer(t *testing.T) {
	zero, five, ten := number(0), number(5), number(10)
	for name, c := range map[string]struct {
		sent, omitted int64
		theirs        flowResults
		want          Flow
	}{
		"none":           {100, 0, flowResults{Packets: 100}, Flow{Datagrams: 100}},
		"gaps":           {100, 0, flowResults{Packets: 100, Errors: 7}, Flow{Datagrams: 100, Lost: 7}},
		"the end":        {100, 0, flowResults{Packets: 60, Errors: 10}, Flow{Datagrams: 100, Lost: 50}},
		"all":            {100, 0, flowResults{}, Flow{Datagrams: 100, Lost: 100}},
		"more came":      {100, 0, flowResults{Packets: 120}, Flow{Datagrams: 100}},
		"3.12 with omit": {100, 20, flowResults{Packets: 100, Errors: 5}, Flow{Datagrams: 100, Lost: 5, AllTime: true}},
		"newer, omit":    {100, 10, flowResults{Packets: 100, Errors: 15, OmittedErrors: &five, OmittedPackets: &ten}, Flow{Datagrams: 90, Lost: 10}},
		"newer, no omit": {100, 0, flowResults{Packets: 100, Errors: 15, OmittedErrors: &zero, OmittedPackets: &zero}, Flow{Datagrams: 100, Lost: 15}},
	} {
		t.Run(name, func(t *testing.T) {
			var got Flow
			got.lossAtServer(c.sent, c.omitted, c.theirs)
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// What iperf3's -R calls jitter is that of the application's thread; ours is
// the path's, from the kernel's stamps.
func TestJitterIsThatOfRFC3550(t *testing.T) {
	var j jitter
	for i, transit := range []int64{5e6, 5e6, 21e6, 5e6} { // ns, at any offset
		sent := int64(1000 + i*1000)
		j.take(sent*1e3+transit, sent)
	}
	if want := time.Duration(1e6 + (16e6-1e6)/16); j.duration() != want {
		t.Errorf("jitter %v, want %v", j.duration(), want)
	}
}

func TestServerRefusesOtherProtocols(t *testing.T) {
	at, log := ourServer(t, loopback)
	send := func(text string) *net.TCPConn {
		conn, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(at))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if _, err := conn.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	silent := send("")
	send("GET / HTTP/1.1\r\nHost: somewhere.example\r\n\r\n")
	short := send("short")
	short.Close()
	log.await(t, `no iperf3 client: it sent "GET / HTTP/1.1\r\n"`)
	log.await(t, `it sent "short" and no more`)
	for name, text := range map[string]string{
		"no JSON":        "hello",
		"no protocol":    `{"parallel":1}`,
		"too many flows": `{"tcp":true,"parallel":1000000}`,
		"huge blocks":    `{"tcp":true,"parallel":1,"len":2147483648}`,
	} {
		s := dialScript(t, at)
		s.wants(paramExchange)
		s.saysJSON(text)
		s.wants(serverError)
		client := s.conn.LocalAddr().String()
		s.conn.Close()
		log.await(t, client+": the test failed") // before the next one comes
		t.Log(name, "was refused")
	}
	long := dialScript(t, at)
	long.wants(paramExchange)
	long.sends([]byte{0xff, 0xff, 0xff, 0xff})
	log.await(t, "a message of 4294967295 bytes")
	log.await(t, long.conn.LocalAddr().String()+": the test failed")
	if _, err := Run(t.Context(), at, Test{Bytes: kib}); err != nil { // at the same time as the silent one
		t.Error(err)
	}
	silent.Close()
}

// A client may end before it has opened its flows.
func TestServerNamesClientsThatEndEarly(t *testing.T) {
	for _, protocol := range []string{"tcp", "udp"} {
		at, log := ourServer(t, loopback)
		s := dialScript(t, at)
		s.wants(paramExchange)
		s.saysJSON(fmt.Sprintf(`{"%s":true,"parallel":2,"time":10}`, protocol))
		s.wants(createStreams)
		s.sendsState(clientTerminate)
		log.await(t, "0 of 2 came: the client was ended")
	}
}

func TestClientNamesWhatIsNoServer(t *testing.T) {
	for words, play := range map[string]func(s *script, l *net.TCPListener){
		"sent 0x53 where iperf3 sends 9: see what listens there": func(s *script, _ *net.TCPListener) { s.sends([]byte("SSH-2.0-x\r\n")) },
		"closed the control connection":                          func(*script, *net.TCPListener) {},
		"busy with another test: try again":                      func(s *script, _ *net.TCPListener) { s.sendsState(accessDenied) },
		"sent 0x2 where iperf3 sends 10":                         func(s *script, _ *net.TCPListener) { s.sendsState(paramExchange, testRunning) },
		"iperf3's error 142 (it wants a user name and password)": func(s *script, _ *net.TCPListener) {
			s.sendsState(paramExchange)
			var p parameters
			s.readsJSON(&p)
			s.sendsState(serverError)
			s.sends([]byte{0, 0, 0, 142}) // an old server ends here
		},
		"error 27 (the rate is above its limit: ask for less): operation not permitted": func(s *script, _ *net.TCPListener) {
			s.sendsState(paramExchange)
			var p parameters
			s.readsJSON(&p)
			s.sendsState(serverError)
			s.sends([]byte{0, 0, 0, 27, 0, 0, 0, 1})
		},
	} {
		_, err := Run(t.Context(), serveScript(t, play), Test{Bytes: 1000})
		if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want words %q", err, words)
		}
	}
}

// A client that is stopped says so.
func TestClientThatIsStoppedInformsTheServer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	said := readDialogue(t, "server-ends")
	runs := slices.Index(said, message{"server", saysState, fmt.Sprint(int(testRunning))})
	at := serveScript(t, func(s *script, l *net.TCPListener) {
		playServer(s, l, said, runs+1)
		cancel()
		s.wants(clientTerminate)
	})
	if _, err := Run(ctx, at, Test{Duration: time.Minute, Rate: 1e6, Size: 1000}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// What the kernel does not have is named.
func TestClientNamesACongestionControlThatIsNone(t *testing.T) {
	at, _ := ourServer(t, loopback)
	if _, err := Run(t.Context(), at, Test{Duration: time.Second, CC: "nosuch"}); err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("got %v", err)
	}
}

func TestTestsAreChecked(t *testing.T) {
	for words, test := range map[string]Test{
		"flows":             {Duration: time.Second, Flows: 129},
		"exclude":           {Duration: time.Second, Reverse: true, Bidir: true},
		"either a duration": {},
		"either":            {Duration: time.Second, Bytes: 1},
		"whole seconds":     {Duration: time.Second, Omit: 1500 * time.Millisecond},
		"want 16 to 65507":  {Duration: time.Second, UDP: true, Size: 65508},
		"want 1 to 1048576": {Duration: time.Second, Size: 2 << 20},
		"belongs to TCP":    {Duration: time.Second, UDP: true, CC: "cubic"},
	} {
		if _, err := Run(t.Context(), netip.MustParseAddrPort("127.0.0.1:1"), test); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("got %v, want words %q", err, words)
		}
	}
}
