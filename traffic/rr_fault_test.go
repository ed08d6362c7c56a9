package traffic

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
)

// neper printed percentiles as 0 where a value was beyond its histogram
// (google/neper PR #98).
func TestNeperPrintsZeroPastTheHistogram(t *testing.T) {
	h := NewHistogram()
	for range 100 {
		h.Record(200 * time.Second)
	}
	if p50, ok := h.Quantile(0.5); !ok || p50 < 100*time.Second {
		t.Errorf("p50 of times beyond the histogram is %v, %t", p50, ok)
	}
}

// tcpCounter reads a counter of TCP in this thread's namespace (RFC 4022, and Linux's own).
func tcpCounter(name string) (int64, error) {
	var lines []string
	for _, file := range []string{"snmp", "netstat"} {
		text, err := os.ReadFile("/proc/thread-self/net/" + file)
		if err != nil {
			return 0, err
		}
		lines = append(lines, strings.Split(strings.TrimSpace(string(text)), "\n")...)
	}
	for n := 0; n+1 < len(lines); n += 2 { // names, then values
		names, values := strings.Fields(lines[n]), strings.Fields(lines[n+1])
		if i := slices.Index(names, name); i > 0 && strings.HasPrefix(names[0], "Tcp") {
			return strconv.ParseInt(values[i], 10, 64)
		}
	}
	return 0, fmt.Errorf("the kernel counts no %s", name)
}

// neper and ethr end their connections by RST without saying so, which saves
// the handshake of the end. Here it is a separate mode.
func TestLabNeperClosesByReset(t *testing.T) {
	for _, reset := range []bool{false, true} {
		p := newPath(t)
		c := RequestResponse{Token: testToken, Window: shortWindow, Reset: reset}
		var calls Transactions
		var serveErr, callErr error
		var resets int64
		var l *Listener
		p.far.in(t, func() { l, serveErr = ListenTCP(p.to) })
		if serveErr != nil {
			t.Fatal(serveErr)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.far.in(t, func() { _, serveErr = ServeTCPCRR(t.Context(), l, c) })
		}()
		p.near.in(t, func() {
			calls, callErr = CallTCPCRR(t.Context(), l.Addr(), c)
			var err error
			resets, err = tcpCounter("OutRsts")
			callErr = errors.Join(callErr, err)
		})
		<-done
		closeSocket(l.fd)
		if serveErr != nil || callErr != nil {
			t.Fatalf("serving end: %v; driving end: %v", serveErr, callErr)
		}
		if reset {
			labtest.AtLeast(t, "resets", resets, calls.Count)
		} else {
			labtest.Equal(t, "resets of connections that are closed without one", resets, 0)
		}
	}
}

// qperf takes its time from a clock of 10 ms.
func TestQperfCountsInTicks(t *testing.T) {
	inTicks := 0
	const runs = 5
	for range runs {
		_, calls := runTCPRR(t, RequestResponse{Token: testToken, Window: Window{Duration: 21 * time.Millisecond}})
		if calls.Elapsed%tick < tick/1000 {
			inTicks++
		}
		if calls.Elapsed < 21*time.Millisecond {
			t.Errorf("a window of 21 ms took %v", calls.Elapsed)
		}
	}
	if inTicks == runs {
		t.Error("all windows are whole ticks")
	}
}

// sockperf gives half of a round trip unless it is asked not to.
func TestSockperfHalvesRoundTrips(t *testing.T) {
	const delay = 5 * time.Millisecond
	calls := callSlowServer(t, RequestResponse{Token: testToken, Size: HeaderBytes, Window: shortWindow}, func(int64) time.Duration { return delay })
	if least, ok := calls.RTT.Min(); !ok || least < delay {
		t.Errorf("the shortest round trip is %v, %t, although each answer took %v", least, ok, delay)
	}
}

// sockperf leaves lost and late replies out of its percentiles.
func TestLabSockperfForgetsLostReplies(t *testing.T) {
	c := RequestResponse{Token: testToken, Size: HeaderBytes, Window: Window{Duration: 300 * time.Millisecond}, Timeout: 20 * time.Millisecond}
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
func callSlowServer(t *testing.T, c RequestResponse, delay func(sequence int64) time.Duration) Transactions {
	t.Helper()
	l := listenUDP(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r := startRun(t.Context())
		defer r.end()
		var from address
		if _, err := answerHello(r, l.fd, &c.Token, &from); err != nil {
			t.Error(err)
			return
		}
		packet := make([]byte, c.Size)
		for {
			n, errno := recvFrom(l.fd, packet, 0, &from)
			if again(errno) {
				continue
			}
			h, ok := parseHeader(packet[:n], &c.Token)
			if errno != 0 || !ok {
				return
			}
			if h.kind == kindEnd {
				_ = sendTo(l.fd, packet[:n], &from) // it is confirmed
				return
			}
			wait := delay(h.sequence)
			if wait == never {
				continue
			}
			<-time.After(wait)
			h.kind = kindAnswer
			h.put(packet, &c.Token)
			if errno := sendTo(l.fd, packet[:n], &from); errno != 0 && errno != unix.ECONNREFUSED {
				t.Error(errno)
				return
			}
		}
	}()
	calls, err := CallUDPRR(t.Context(), l.Addr(), c)
	if err != nil {
		t.Fatal(err)
	}
	<-done
	return calls
}

// The two ends of ethr count differently (microsoft/ethr #171).
func TestEthrEndsDisagree(t *testing.T) {
	// No warm-up: all that the server answered lies in the window, but for the
	// request that opened it and the one that its end cut off.
	served, calls := runTCPRR(t, RequestResponse{Token: testToken, Window: Window{Duration: 50 * time.Millisecond}})
	if more := served.Transactions - calls.Count; more < 0 || more > 2 {
		t.Errorf("the server answered %d requests, the client counted %d", served.Transactions, calls.Count)
	}
}
