package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"tare/result"
)

// buffer is written by one goroutine and read by another.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // closed at the next write; nil: nobody waits
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.more != nil {
		close(b.more)
		b.more = nil
	}
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// await waits until a text is there, and returns its parts.
func (b *buffer) await(t *testing.T, text string) []string {
	t.Helper()
	pattern := regexp.MustCompile(text)
	for {
		b.mu.Lock()
		found, more := pattern.FindStringSubmatch(b.text.String()), make(chan struct{})
		b.more = more
		b.mu.Unlock()
		if found != nil {
			return found
		}
		select {
		case <-more:
		case <-time.After(time.Minute):
			t.Fatalf("no %s in %q", text, b.String())
		}
	}
}

// serving runs serveIperf3 until the test ends, and returns where.
func serving(t *testing.T) (netip.AddrPort, *buffer) {
	t.Helper()
	var out buffer
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- serveIperf3(ctx, netip.MustParseAddrPort("127.0.0.1:0"), streams{manner: &manner{}, out: &out, err: &out})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the server ended with %v", err)
		}
		debug.SetGCPercent(100)
	})
	return netip.MustParseAddrPort(out.await(t, `clients on (\S+)\n`)[1]), &out
}

func TestLabIperf3BetweenTwoTares(t *testing.T) {
	to, served := serving(t)
	asked := iperf3Test{
		workload: result.WorkloadPlan{Name: "tcp_stream", Flows: 2},
		duration: 300 * time.Millisecond, interval: 100 * time.Millisecond,
	}
	var out, err buffer
	if failed := sendIperf3(t.Context(), to, asked, streams{manner: &manner{}, out: &out, err: &err}); failed != nil {
		t.Fatal(failed)
	}
	for _, words := range []string{" s  sent ", "\nthroughput ", "\nretransmits ", "\nCPU "} {
		if !strings.Contains(out.String(), words) {
			t.Errorf("no %q in\n%s", words, out.String())
		}
	}
	served.await(t, "TCP, flows 2 from the client")
}

func TestLabIperf3JSONHasTheMetricsOfAResult(t *testing.T) {
	to, _ := serving(t)
	asked := iperf3Test{
		workload: result.WorkloadPlan{Name: "udp_pps", Size: 200, Rate: result.Rate{Value: 5000, Unit: "1/s"}},
		duration: 300 * time.Millisecond, json: true,
	}
	var out, err buffer
	if failed := sendIperf3(t.Context(), to, asked, streams{manner: &manner{}, out: &out, err: &err}); failed != nil {
		t.Fatal(failed)
	}
	var got struct {
		Start struct {
			TestStart struct {
				Protocol string
				Bitrate  int64 `json:"target_bitrate"`
			} `json:"test_start"`
		}
		Tare struct{ Metrics map[string]float64 } `json:"x_tare"`
	}
	if failed := json.Unmarshal([]byte(out.String()), &got); failed != nil {
		t.Fatalf("%v in %s", failed, out.String())
	}
	if got.Start.TestStart.Protocol != "UDP" || got.Start.TestStart.Bitrate != 8e6 {
		t.Errorf("asked for 5000 packets of 200 bytes a second, got %+v", got.Start)
	}
	for name := range got.Tare.Metrics {
		if _, known := result.QuantityOf(name); !known {
			t.Errorf("metric %q is none of a result", name)
		}
	}
	if got.Tare.Metrics["throughput"] <= 0 {
		t.Errorf("no throughput among %v", got.Tare.Metrics)
	}
}

func TestIperf3ReportsWhatItLacks(t *testing.T) {
	to := netip.MustParseAddrPort("127.0.0.1:1")
	for words, asked := range map[string]iperf3Test{
		"iperf3 has no tcp_rr":     {workload: result.WorkloadPlan{Name: "tcp_rr"}, duration: time.Second},
		"needs their size":         {workload: result.WorkloadPlan{Name: "udp_pps", Rate: result.Rate{Value: 10, Unit: "1/s"}}, duration: time.Second},
		"whether an iperf3 server": {workload: result.WorkloadPlan{Name: "tcp_stream"}, duration: time.Second},
	} {
		err := sendIperf3(t.Context(), to, asked, streams{manner: &manner{}, out: &buffer{}, err: &buffer{}})
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("got %v, want words %q", err, words)
		}
	}
}
