package udp

import (
	"context"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tare/test/traffictest"
	"tare/traffic"
)

func runUDPLoad(t testing.TB, s Load) (LoadReceived, LoadSent) {
	t.Helper()
	l := listenUDP(t)
	return traffictest.MustRun(t,
		func(ctx context.Context) (LoadReceived, error) { return ServeLoad(ctx, l, s) },
		func(ctx context.Context) (LoadSent, error) { return SendLoad(ctx, l.Addr(), s) })
}

// Through a relay, as through a NAT, whose other port the receiver sees: each
// trial is accounted for, and a path that drops one in ten carries no load.
func TestLabUDPLoadThroughARelay(t *testing.T) {
	l := listenUDP(t)
	count := 0
	r := startRelay(t, l.Addr(), func(p []byte) [][]byte {
		if count++; count%10 == 0 {
			return nil
		}
		return [][]byte{p}
	})
	s := Load{Token: traffictest.Token, Window: traffic.Window{Duration: 300 * time.Millisecond}}
	received, sent := traffictest.MustRun(t,
		func(ctx context.Context) (LoadReceived, error) { return ServeLoad(ctx, l, s) },
		func(ctx context.Context) (LoadSent, error) { return SendLoad(ctx, r.addr(), s) })
	if len(sent.Trials) == 0 || received.Datagrams != sent.Datagrams || len(received.CPU) != len(sent.Trials) {
		t.Errorf("%d trials; %d datagrams at one end, %d at the other", len(sent.Trials), sent.Datagrams, received.Datagrams)
	}
	for _, trial := range sent.Trials {
		if trial.sent >= 20 && (trial.Carried || trial.Loss < 0.05) {
			t.Errorf("one in ten was eaten: %+v", trial)
		}
	}
	if math.IsInf(sent.NoDropHigh, 1) {
		t.Errorf("no load was too high: %v to %v", sent.NoDropLow, sent.NoDropHigh)
	}
}

// carries plays a sweep against a path that carries so much, and of more than
// that gives back what is left after a collapse.
func carries(capacity, most, collapse float64, trials int) LoadSent {
	plan, out := newSweep(), LoadSent{}
	for range trials {
		asked := plan.next()
		offered := asked
		if asked == 0 || asked > most {
			offered = most
		}
		trial := Trial{Asked: asked, Offered: offered, Received: offered, Carried: true}
		if offered > capacity {
			over := min(offered/capacity-1, 1)
			trial.Received, trial.Carried = capacity*(1-collapse*over), false
		}
		plan.take(trial)
		out.Trials = append(out.Trials, trial)
	}
	out.NoDropLow, out.NoDropHigh = plan.search.bounds()
	return out
}

func TestBisectionFindsTheKnee(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.Float64Range(1e3, 1e7).Draw(t, "most")
		capacity := most * rapid.Float64Range(0.05, 0.99).Draw(t, "share")
		collapse := rapid.Float64Range(0, 0.9).Draw(t, "collapse")
		sent := carries(capacity, most, collapse, leastTrials)
		if sent.NoDropLow > capacity || sent.NoDropHigh < capacity || sent.NoDropHigh-sent.NoDropLow > 0.02*most {
			t.Fatalf("a path that carries %.0f of %.0f: bounds %.0f and %.0f", capacity, most, sent.NoDropLow, sent.NoDropHigh)
		}
		if sent.Most() > capacity || sent.Most() < sent.NoDropLow {
			t.Fatalf("the most received is %.0f of %.0f", sent.Most(), capacity)
		}
		twice, ok := sent.AtTwiceKnee()
		knee, _ := sent.Knee()
		if ok != (most > 1.81*knee) && math.Abs(most/knee-1.8) > 0.02 {
			t.Fatalf("twice %.0f where the most is %.0f: %v", knee, most, ok)
		}
		// Between the capacity and its double each load more costs collapse of it.
		// The loads that count lie within a tenth of twice the knee, and the knee as
		// near to the capacity as the bounds are to each other.
		allowed := collapse*(0.2*knee+2*math.Abs(knee-capacity)) + 1e-9*capacity
		if want := capacity * (1 - collapse); ok && most > 2.2*capacity && math.Abs(twice-want) > allowed {
			t.Fatalf("at twice the knee came %.0f, want %.0f", twice, want)
		}
	})
}

// Where nothing is lost there is no upper bound, and none is made up.
func TestBisectionMakesNoUpperBoundUp(t *testing.T) {
	sent := carries(2e6, 1e6, 0, leastTrials)
	if sent.NoDropLow != 1e6 || !math.IsInf(sent.NoDropHigh, 1) {
		t.Errorf("bounds %v and %v", sent.NoDropLow, sent.NoDropHigh)
	}
	if _, ok := sent.Knee(); ok {
		t.Error("there is no knee where nothing is lost")
	}
	if _, ok := sent.AtTwiceKnee(); ok {
		t.Error("twice the knee was never offered")
	}
	// One bad trial of three is outvoted.
	b := bisection{}
	for _, carried := range []bool{true, false, true} {
		b.next()
		b.take(100, 100, carried)
	}
	if low, high := b.bounds(); low != 100 || !math.IsInf(high, 1) {
		t.Errorf("two of three trials were carried: bounds %v and %v", low, high)
	}
	// The lower bound is below the upper one, whatever was carried above it.
	b = bisection{decided: []decision{{load: 10}, {load: 30}, {load: 20, upper: true}, {load: 40, upper: true}}}
	if low, high := b.bounds(); low != 10 || high != 20 {
		t.Errorf("bounds %v and %v, want 10 and 20", low, high)
	}
}

func TestUDPLoadIsChecked(t *testing.T) {
	for _, s := range []Load{{}, {Window: traffic.Window{Duration: time.Millisecond}}, {Window: traffictest.ShortWindow, Size: 1}, {Window: traffictest.ShortWindow, Size: traffic.MaxDatagram + 1}} {
		if _, err := SendLoad(t.Context(), traffictest.Loopback, s); err == nil {
			t.Errorf("%+v was sent", s)
		}
	}
}

func TestCPUTicks(t *testing.T) {
	text := "cpu  10 1 20 400 5 3 7 2 9 9\ncpu0 5 0 10 200 1 1 4 1 0 0\ncpu1 5 1 10 200 4 2 3 1 0 0\nintr 1 2 3\n"
	var ticks cpuTicks
	if err := parseCPUTicks([]byte(text), &ticks); err != nil || ticks.busy != 10+1+20+3+7 || !slices.Equal(ticks.softirq, []int64{4, 3}) {
		t.Errorf("%+v, %v", ticks, err)
	}
	for _, bad := range []string{"", "intr 1", "cpu 1 2 3\n", "cpu a b c d e f g h\n"} {
		if err := parseCPUTicks([]byte(bad), &ticks); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	reader, before, err := openCPUReader()
	traffictest.Try(t, err)
	defer reader.close()
	after := cpuTicks{softirq: make([]int64, 0, len(before.softirq))}
	traffictest.Try(t, reader.read(&after))
	stat, err := os.ReadFile("/proc/stat")
	traffictest.Try(t, err)
	if cpus := strings.Count(string(stat), "cpu") - 1; len(after.softirq) != cpus || after.busy < before.busy {
		t.Errorf("%d CPUs of %d; %d ticks after %d", len(after.softirq), cpus, after.busy, before.busy)
	}
}

func FuzzParseCPUTicks(f *testing.F) {
	f.Add([]byte("cpu  10 1 20 400 5 3 7 2 9 9\ncpu0 5 0 10 200 1 1 4 1 0 0\nintr 1\n"))
	f.Add([]byte("cpu 1 2 3 4 5 6 7 8"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var ticks cpuTicks
		if parseCPUTicks(text, &ticks) != nil {
			return
		}
		for _, n := range ticks.softirq {
			if n < 0 {
				t.Errorf("%d ticks", n)
			}
		}
	})
}
