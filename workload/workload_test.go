package workload

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
	"tare/traffic"
)

// TestMain reserves processors for both ends, which share this process.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(64)
	debug.SetGCPercent(-1)
	os.Exit(m.Run())
}

var loopback = netip.MustParseAddrPort("127.0.0.1:0")

const (
	token      = "000102030405060708090a0b0c0d0e0f"
	otherToken = "0f0e0d0c0b0a09080706050403020100"
)

// whole is a workload by its name.
func whole(name string) Workload {
	w, _ := Find(name)
	return w
}

// runOf is a short run of a workload with its defaults.
func runOf(w Workload, mode string) Run {
	return Run{
		Token: token, Mode: mode, Flows: 1, Size: w.Size.Default, Rate: min(w.Rate, 20e6),
		Warmup: 20 * time.Millisecond, Duration: 120 * time.Millisecond, Interval: 20 * time.Millisecond,
	}
}

// served are the workloads that an end of ours serves.
func served() []Workload {
	return slices.DeleteFunc(All(), func(w Workload) bool { return w.Serve == nil })
}

// both runs both ends, each with its own run.
func both(w Workload, serving, sending Run) (server, client Tally, serverErr, clientErr error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ready := make(chan netip.AddrPort, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		server, serverErr = w.Serve(ctx, serving, loopback, func(at netip.AddrPort) error {
			ready <- at
			return nil
		})
	}()
	select {
	case at := <-ready:
		client, clientErr = w.Send(ctx, sending, at)
		if clientErr != nil {
			cancel() // the server waits for a peer as long as it may
		}
	case <-done:
	}
	<-done
	return server, client, serverErr, clientErr
}

// eachMode runs a test for each workload and mode that the loopback carries: the frames of a
// program are not among them, and are tested by package traffic on devices that send them.
func eachMode(t *testing.T, test func(t *testing.T, w Workload, mode string)) {
	for _, w := range served() {
		for _, mode := range w.Modes {
			if SendsFrames(mode) {
				continue
			}
			t.Run(w.Name+" "+mode, func(t *testing.T) { test(t, w, mode) })
		}
	}
}

func TestLabEveryWorkloadMeasures(t *testing.T) {
	eachMode(t, func(t *testing.T, w Workload, mode string) {
		run := runOf(w, mode)
		var mu sync.Mutex
		var edges []bool
		run.Edge = func(end bool) { // one end owns the window; which one is the workload's affair
			mu.Lock()
			defer mu.Unlock()
			edges = append(edges, end)
		}
		server, client, serverErr, clientErr := both(w, run, run)
		if err := errors.Join(serverErr, clientErr); err != nil {
			t.Fatal(err)
		}
		owner := windowOwner(server, client)
		headline, ok := owner.Metrics[w.Headline]
		if tooFew := strings.HasSuffix(w.Headline, "_p50") && !traffic.Supports(int64(owner.Work), 0.5); !ok && !tooFew || ok && headline <= 0 && w.Headline != "loss" {
			t.Errorf("%s is %v in %v", w.Headline, headline, owner.Metrics)
		}
		if owner.Work <= 0 || owner.Window < leastWindow(t, w, run)*9/10 {
			t.Errorf("work %v in a window of %s, asked for %s", owner.Work, owner.Window, run.Duration)
		}
		if !slices.Equal(edges, []bool{false, true}) {
			t.Errorf("the edges of the window: %v", edges)
		}
		labtest.AtLeast(t, "steps", steps(owner), 1)
		inStep(t, owner.Series)
		if !receiverCounts(server, owner) {
			consistent(t, w, owner)
		}
		for _, tally := range []Tally{server, client} {
			known(t, tally)
			if w.TCP == (tally.CC == "") {
				t.Errorf("congestion control %q", tally.CC)
			}
			for name := range tally.Metrics {
				_, atServer := server.Metrics[name]
				_, atClient := client.Metrics[name]
				if atServer && atClient {
					t.Errorf("both ends report %s: one would hide the other", name)
				}
			}
		}
	})
}

// receiverCounts reports whether the other end has the throughput of what the owner of the
// window sent.
func receiverCounts(server, owner Tally) bool {
	_, other := server.Metrics["throughput"]
	return other && owner.Metrics["throughput"] == 0
}

// steps is how many the longest series has.
func steps(owner Tally) (most int) {
	for _, points := range owner.Series {
		most = max(most, len(points))
	}
	return most
}

// windowOwner is the end that has the window of a run's work.
func windowOwner(server, client Tally) Tally {
	if client.Window > 0 {
		return client
	}
	return server
}

// leastWindow is how long the window of a run's headline is: of a sweep the
// part of one size.
func leastWindow(t *testing.T, w Workload, run Run) time.Duration {
	t.Helper()
	if w.Sizes == "" {
		return run.Duration
	}
	sizes, err := result.ParseSizes(w.Sizes)
	if err != nil {
		t.Fatal(err)
	}
	return run.Duration / time.Duration(len(sizes))
}

// known fails for a metric that no result can hold: it would be lost.
func known(t *testing.T, tally Tally) {
	t.Helper()
	for name := range tally.Metrics {
		if _, ok := result.QuantityOf(name); !ok {
			t.Errorf("metric %s is not in the catalogue", name)
		}
	}
}

// inStep wants the end of each step, in order, with every series over time.
func inStep(t *testing.T, series map[string][]float64) {
	t.Helper()
	ends := series[result.StepEnds]
	for _, name := range []string{"throughput", "rate"} {
		if values, has := series[name]; has && series["size"] == nil && len(values) != len(ends) {
			t.Errorf("%d values of %s, %d ends of their steps", len(values), name, len(ends))
		}
	}
	if !slices.IsSorted(ends) || len(ends) > 0 && ends[0] <= 0 {
		t.Errorf("steps end at %v", ends)
	}
}

// consistent holds the work against the rate or the throughput.
func consistent(t *testing.T, w Workload, owner Tally) {
	t.Helper()
	perSecond := owner.Metrics["rate"]
	if w.Work == catalog.PerGbit {
		perSecond = owner.Metrics["throughput"] / gigabit
	}
	if received := owner.Series["received"]; len(received) > 0 { // a sweep; a trial may take longer than planned
		if got := sum(received) * owner.Counters["trial_duration"]; got <= 0 || got > owner.Work*1.1 {
			t.Errorf("work %v, but %v from the trials", owner.Work, got)
		}
		return
	}
	if got := perSecond * owner.Window.Seconds(); got < owner.Work*0.9 || got > owner.Work*1.1 {
		t.Errorf("work %v, but %v from the rate and the window", owner.Work, got)
	}
	if p50, p99 := owner.Metrics["rtt_p50"], owner.Metrics["rtt_p99"]; p99 > 0 && p99 < p50 {
		t.Errorf("p50 %v, p99 %v", p50, p99)
	}
}

func sum(values []float64) (s float64) {
	for _, v := range values {
		s += v
	}
	return s
}

// TestLabSeveralFlows: its datagrams go as fast as they can, which takes a machine that nothing else starves.
func TestLabSeveralFlows(t *testing.T) {
	for _, w := range served() {
		if w.Flows == 1 {
			continue
		}
		t.Run(w.Name, func(t *testing.T) {
			run := runOf(w, w.Modes[0])
			run.Flows, run.Interval = 3, 0
			server, client, serverErr, clientErr := both(w, run, run)
			if err := errors.Join(serverErr, clientErr); err != nil {
				t.Fatal(err)
			}
			if server.Work+client.Work <= 0 || len(server.Series["throughput"])+len(client.Series["rate"]) > 0 {
				t.Errorf("server %+v, client %+v", server, client)
			}
		})
	}
}

// TestUnknownPeersAreRefused runs with another token at each end, and with
// what is none.
func TestUnknownPeersAreRefused(t *testing.T) {
	t.Parallel()
	for _, w := range served() {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			unknown := runOf(w, w.Modes[0])
			unknown.Token = otherToken
			_, client, serverErr, clientErr := both(w, runOf(w, w.Modes[0]), unknown)
			if clientErr == nil || serverErr == nil {
				t.Errorf("an unknown peer measured %v; server: %v, client: %v", client.Metrics, serverErr, clientErr)
			}
			for _, bad := range []string{"", "abc", "xy" + token[2:], token[2:]} {
				run := runOf(w, w.Modes[0])
				run.Token = bad
				ready := func(netip.AddrPort) error { return errors.New("it listens") }
				_, errServe := w.Serve(t.Context(), run, loopback, ready)
				_, errSend := w.Send(t.Context(), run, loopback)
				for _, err := range []error{errServe, errSend} {
					if err == nil || !strings.Contains(err.Error(), "32 hexadecimal digits") {
						t.Errorf("token %q: %v", bad, err)
					}
				}
			}
			long := runOf(w, w.Modes[0])
			long.Token = token + "00"
			if _, err := w.Send(t.Context(), long, loopback); err == nil || !strings.Contains(err.Error(), "32 hexadecimal digits") {
				t.Errorf("a token that is too long: %v", err)
			}
		})
	}
}

// TestServeListensOnlyDuringTheRun holds that what can't be announced ends.
func TestServeListensOnlyDuringTheRun(t *testing.T) {
	for _, w := range served() {
		var at netip.AddrPort
		_, err := w.Serve(t.Context(), runOf(w, w.Modes[0]), loopback, func(addr netip.AddrPort) error {
			at = addr
			return errors.New("nobody listens")
		})
		if err == nil || !strings.Contains(err.Error(), "nobody listens") {
			t.Errorf("%s: %v", w.Name, err)
		}
		// The port is free: it can be listened at again.
		_, err = w.Serve(t.Context(), runOf(w, w.Modes[0]), at, func(netip.AddrPort) error { return errors.New("once more") })
		if err == nil || !strings.Contains(err.Error(), "once more") {
			t.Errorf("%s at the same port: %v", w.Name, err)
		}
	}
}

func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range All() {
		found, ok := Find(w.Name)
		labtest.Equal(t, w.Name+": named before", seen[w.Name], false)
		labtest.Equal(t, w.Name+": found", ok, true)
		labtest.Equal(t, w.Name+": doc of what is found", found.Doc, w.Doc)
		labtest.NotEqual(t, w.Name+": doc", w.Doc, "")
		seen[w.Name] = true
		if w.Serve != nil {
			labtest.AtLeast(t, w.Name+": least size", w.Size.Least, 1)
		}
		labtest.Between(t, w.Name+": default size", w.Size.Default, w.Size.Least, w.Size.Most)
		labtest.AtLeast(t, w.Name+": flows", w.Flows, 1)
		labtest.AtLeast(t, w.Name+": number of modes", len(w.Modes), 1)
		labtest.AtLeast(t, w.Name+": rate", w.Rate, 0)
		if w.Work != catalog.PerGbit && w.Work != catalog.PerTransaction {
			t.Errorf("%s: work is counted per %v", w.Name, w.Work)
		}
		if _, ok := result.QuantityOf(w.Headline); !ok {
			t.Errorf("%s: its headline %q is not in the catalogue", w.Name, w.Headline)
		}
	}
	if _, ok := Find("smoke"); ok {
		t.Error("an unknown workload is found")
	}
}

// TestBoundsHold asks each workload for the least and the most that its bounds
// promise; it must not refuse.
func TestBoundsHold(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(traffic.Processors(1024)))
	for _, w := range served() {
		for _, mode := range w.Modes {
			if SendsFrames(mode) { // one flow, and only for root: see the tests of package traffic
				continue
			}
			for _, size := range []int{w.Size.Least, w.Size.Default, w.Size.Most} {
				run := runOf(w, mode)
				run.Size = size
				if err := refusal(t, w, run); err != nil {
					t.Errorf("%s with %d bytes: %v", w.Name, size, err)
				}
			}
			run := runOf(w, mode)
			run.Flows = w.Flows
			if err := refusal(t, w, run); err != nil {
				t.Errorf("%s with %d flows: %v", w.Name, w.Flows, err)
			}
		}
	}
}

// refusal is why a workload does not serve a run; it is stopped as soon as it
// waits for its peer.
func refusal(t *testing.T, w Workload, run Run) error {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := w.Serve(ctx, run, loopback, func(netip.AddrPort) error {
		time.AfterFunc(time.Millisecond, cancel)
		return nil
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
