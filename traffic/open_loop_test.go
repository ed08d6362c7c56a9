package traffic

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/test/labtest"
)

// TestLabOpenLoopKeepsItsSchedule sends at a rate that any path carries: what was due in the
// window has a response time, whether it was late or not.
func TestLabOpenLoopKeepsItsSchedule(t *testing.T) {
	for name, run := range map[string]func(testing.TB, RequestResponse) (Served, Transactions){"tcp_rr": runTCPRR, "udp_rr": runUDPRR} {
		for _, flows := range []int{1, 3} {
			window := Window{Warmup: 20 * time.Millisecond, Duration: 200 * time.Millisecond}
			_, got := run(t, RequestResponse{Token: testToken, Window: window, Flows: flows, Rate: 500})
			labtest.AtLeast(t, name+": response times", float64(got.RTT.Count()), 500*got.Elapsed.Seconds()-1)
			if rate := got.Rate(); labtest.Timed(t) && (rate < 450 || rate > 550) {
				t.Errorf("%s: %d requests in %v, want 500 a second", name, got.Count, got.Elapsed)
			}
			if got.RTT.Count() < got.Count || got.Service.Count() != got.Count {
				t.Errorf("%s: %d transactions, %d response times, %d service times", name, got.Count, got.RTT.Count(), got.Service.Count())
			}
		}
	}
}

// A thread that was stopped finds many responses after the window's end: each request that was
// due before it has a response time.
func TestOpenLoopForgetsNoRequestAtTheEnd(t *testing.T) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	try(t, err)
	defer closeSockets(ends[:])
	r := startRun(t.Context())
	defer r.end()
	o := &openLoop{
		run: r, flows: []openFlow{newOpenFlow(ends[0], nil, []byte{0})}, meter: newMeter(newTimetable(Window{Duration: time.Millisecond}, 1)),
		gap: float64(time.Millisecond), response: NewHistogram(), service: NewHistogram(),
	}
	o.meter.step(event{n: 1}) // opens the window
	r.base = r.base.Add(-20 * time.Millisecond)
	try(t, o.ask(r.now()))
	_, err = unix.Write(ends[1], make([]byte, o.asked))
	try(t, err)
	try(t, o.receive(&o.flows[0]))
	o.leaveOpen()
	due := int64(0)
	for o.dueAt(due) < o.meter.to {
		due++
	}
	labtest.AtLeast(t, "requests that were asked", o.asked, 20)
	labtest.Equal(t, "responses in the window", o.meter.counted, 1)
	labtest.Equal(t, "response times", o.response.Count(), due)
}

// TestLabWrk2HangsWhenThreadsExceedRate: fewer requests a second than connections
// must work, and each connection gets its turn.
func TestLabWrk2HangsWhenThreadsExceedRate(t *testing.T) {
	t.Parallel()
	window := Window{Warmup: 0, Duration: 500 * time.Millisecond}
	served, got := runTCPRR(t, RequestResponse{Token: testToken, Window: window, Flows: 30, Rate: 20})
	labtest.AtLeast(t, "response times", float64(got.RTT.Count()), 20*got.Elapsed.Seconds()-1)
	labtest.AtLeast(t, "answers", served.Transactions, got.Count)
	labtest.MoreThan(t, "requests", got.Count, 0)
}

// stallingServer answers tcp_rr and holds one answer back for a while.
func callStallingServer(t *testing.T, c RequestResponse, stall time.Duration) Transactions {
	t.Helper()
	l := listenTCP(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r := startRun(t.Context())
		defer r.end()
		a := newAcceptor(r, l, c.Token, greetingLen)
		fds, err := a.acceptFlows(1)
		if err != nil {
			t.Error(err)
			return
		}
		defer closeSocket(fds[0])
		one := make([]byte, 1)
		for n := 0; ; {
			got, errno := recv(fds[0], one, 0)
			if again(errno) {
				continue
			}
			if errno != 0 || got == 0 || one[0] == endByte {
				return
			}
			if n++; n == 5 {
				<-time.After(stall)
			}
			if sendAll(r, fds[0], one) != nil {
				return
			}
		}
	}()
	got, err := CallTCPRR(t.Context(), l.Addr(), c)
	if err != nil {
		t.Fatal(err)
	}
	<-done
	return got
}

// TestLabWrkCorrectsAClosedLoop: a server that stalls once in a closed loop has
// stalled one request, and no others are invented. In an open loop all that
// were due meanwhile have waited.
func TestLabWrkCorrectsAClosedLoop(t *testing.T) {
	const stall = 100 * time.Millisecond
	c := RequestResponse{Token: testToken, Window: Window{Duration: 300 * time.Millisecond}, Size: 1}
	slow := func(h *Histogram) (n int64) {
		for i, count := range h.buckets {
			if middleOf(i) > stall/4 {
				n += int64(count)
			}
		}
		return n
	}
	closed := callStallingServer(t, c, stall)
	if n := slow(closed.RTT); n < 1 || labtest.Timed(t) && n > 3 || closed.RTT.Count() != closed.Count {
		t.Errorf("closed loop: %d slow round trips of %d, %d transactions: want the one that stalled", n, closed.RTT.Count(), closed.Count)
	}
	c.Rate = 1000
	open := callStallingServer(t, c, stall)
	// Those due in the first three quarters of the stall waited over a quarter.
	if n := slow(open.RTT); n < 70 {
		t.Errorf("open loop: %d slow responses, want the 75 that were due in the stall", n)
	}
}

// TestLabOhaHoldsTheRateBack: what could not be answered by the window's end
// is in the histogram with the time it has waited, and the shortfall in
// the rate.
func TestLabOhaHoldsTheRateBack(t *testing.T) {
	t.Parallel()
	c := RequestResponse{Token: testToken, Window: Window{Duration: 300 * time.Millisecond}, Size: 1, Rate: 1000}
	got := callStallingServer(t, c, 600*time.Millisecond)
	labtest.AtMost(t, "answers of a server that stalls at the fifth", got.Count, 5)
	if p90, ok := got.RTT.Quantile(0.9); !ok || p90 < 100*time.Millisecond {
		t.Errorf("p90 is %v: the requests that were never answered are missing", p90)
	}
}

func TestLabSpinningAndReset(t *testing.T) {
	c := RequestResponse{Token: testToken, Window: shortWindow, Spin: true}
	for _, flows := range []int{1, 3} {
		c.Flows = flows
		if _, got := runTCPRR(t, c); got.Count == 0 {
			t.Errorf("tcp_rr that spins on %d flows did nothing", flows)
		}
		if _, got := runUDPRR(t, c); got.Count == 0 {
			t.Errorf("udp_rr that spins on %d flows did nothing", flows)
		}
	}
	served, got := runTCPCRR(t, RequestResponse{Token: testToken, Window: shortWindow, Reset: true})
	if got.Count == 0 || len(got.Failures) != 0 || served.Transactions < got.Count {
		t.Errorf("tcp_crr by reset: %d transactions, %d answered, failures %v", got.Count, served.Transactions, got.Failures)
	}
}
