package udp

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/traffictest"
	"tare/traffic"
)

// sockperf gives half of a round trip unless it is asked not to.
func TestSockperfHalvesRoundTrips(t *testing.T) {
	const delay = 5 * time.Millisecond
	calls := callSlowServer(t, traffic.RequestResponse{Token: traffictest.Token, Size: traffic.HeaderBytes, Window: traffictest.ShortWindow}, func(int64) time.Duration { return delay })
	if least, ok := calls.RTT.Min(); !ok || least < delay {
		t.Errorf("the shortest round trip is %v, %t, although each answer took %v", least, ok, delay)
	}
}

// sockperf leaves lost and late replies out of its percentiles.
func TestLabSockperfForgetsLostReplies(t *testing.T) {
	c := traffic.RequestResponse{Token: traffictest.Token, Size: traffic.HeaderBytes, Window: traffic.Window{Duration: 300 * time.Millisecond}, Timeout: 20 * time.Millisecond}
	seen := map[int64]bool{}
	calls := callSlowServer(t, c, func(sequence int64) time.Duration {
		if sequence%10 != 0 || seen[sequence] {
			return time.Millisecond / 2
		}
		seen[sequence] = true
		return never
	})
	if calls.Lost == 0 {
		t.Fatal("no request was lost")
	}
	if longest, ok := calls.RTT.Max(); !ok || longest < c.Timeout {
		t.Errorf("the longest round trip is %v, although %d requests waited %v for an answer", longest, calls.Lost, c.Timeout)
	}
	if p95, ok := calls.RTT.Quantile(0.95); ok && p95 < c.Timeout {
		t.Errorf("p95 is %v, although one request in ten was lost", p95)
	}
}

// never is the delay of an answer that is not given.
const never = time.Duration(-1)

// callSlowServer runs a udp_rr against a server that answers each request
// after a delay.
func callSlowServer(t *testing.T, c traffic.RequestResponse, delay func(sequence int64) time.Duration) traffic.Transactions {
	t.Helper()
	l := listenUDP(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r := traffic.StartRun(t.Context())
		defer r.End()
		var from address
		if _, err := answerHello(r, l.fd, &c.Token, &from); err != nil {
			t.Error(err)
			return
		}
		packet := make([]byte, c.Size)
		for {
			n, errno := recvFrom(l.fd, packet, 0, &from)
			if traffic.Waited(errno) {
				continue
			}
			h, ok := traffic.ParseHeader(packet[:n], &c.Token)
			if errno != 0 || !ok {
				return
			}
			if h.Kind == traffic.KindEnd {
				_ = sendTo(l.fd, packet[:n], &from) // it is confirmed
				return
			}
			wait := delay(h.Sequence)
			if wait == never {
				continue
			}
			<-time.After(wait)
			h.Kind = traffic.KindAnswer
			h.Put(packet, &c.Token)
			if errno := sendTo(l.fd, packet[:n], &from); errno != 0 && errno != unix.ECONNREFUSED {
				t.Error(errno)
				return
			}
		}
	}()
	calls, err := CallRR(t.Context(), l.Addr(), c)
	if err != nil {
		t.Fatal(err)
	}
	<-done
	return calls
}
