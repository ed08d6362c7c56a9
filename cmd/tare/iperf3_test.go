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
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// serving runs serveIperf3 until the test ends, and returns where.
func serving(t *testing.T) (netip.AddrPort, *buffer) {
	t.Helper()
	var out buffer
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- serveIperf3(ctx, netip.MustParseAddrPort("127.0.0.1:0"), streams{out: &out, err: &out})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the server ended with %v", err)
		}
		debug.SetGCPercent(100)
	})
	where := regexp.MustCompile(`clients on (\S+)\n`)
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if found := where.FindStringSubmatch(out.String()); found != nil {
			return netip.MustParseAddrPort(found[1]), &out
		}
	}
	t.Fatalf("the server does not print where it listens: %q", out.String())
	return netip.AddrPort{}, nil
}

func TestLabIperf3BetweenTwoTares(t *testing.T) {
	to, served := serving(t)
	asked := iperf3Test{
		workload: result.WorkloadPlan{Name: "tcp_stream", Flows: 2},
		duration: 300 * time.Millisecond, interval: 100 * time.Millisecond,
	}
	var out, err buffer
	if failed := sendIperf3(t.Context(), to, asked, streams{out: &out, err: &err}); failed != nil {
		t.Fatal(failed)
	}
	if n := strings.Count(out.String(), " s  sent "); n != 3 {
		t.Errorf("%d lines of intervals, want 3:\n%s", n, out.String())
	}
	for _, words := range []string{"throughput ", "retransmits ", "CPU "} {
		if !strings.Contains(out.String(), "\n"+words) {
			t.Errorf("no line begins with %q:\n%s", words, out.String())
		}
	}
	for end := time.Now().Add(5 * time.Second); !strings.Contains(served.String(), "TCP, flows 2 from the client"); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the server printed nothing about the test: %q", served.String())
		}
	}
}

func TestLabIperf3JSONHasTheMetricsOfAResult(t *testing.T) {
	to, _ := serving(t)
	asked := iperf3Test{
		workload: result.WorkloadPlan{Name: "udp_pps", Size: 200, Rate: result.Rate{Value: 5000, Unit: "1/s"}},
		duration: 300 * time.Millisecond, json: true,
	}
	var out, err buffer
	if failed := sendIperf3(t.Context(), to, asked, streams{out: &out, err: &err}); failed != nil {
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
	if rate := got.Tare.Metrics["throughput"]; rate < 4e6 || rate > 9e6 {
		t.Errorf("throughput %.0f bit/s, want about 8e6", rate)
	}
}

func TestIperf3ReportsWhatItLacks(t *testing.T) {
	to := netip.MustParseAddrPort("127.0.0.1:1")
	for words, asked := range map[string]iperf3Test{
		"iperf3 has no tcp_rr":     {workload: result.WorkloadPlan{Name: "tcp_rr"}, duration: time.Second},
		"needs their size":         {workload: result.WorkloadPlan{Name: "udp_pps", Rate: result.Rate{Value: 10, Unit: "1/s"}}, duration: time.Second},
		"whether an iperf3 server": {workload: result.WorkloadPlan{Name: "tcp_stream"}, duration: time.Second},
	} {
		err := sendIperf3(t.Context(), to, asked, streams{out: &buffer{}, err: &buffer{}})
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("got %v, want words %q", err, words)
		}
	}
}
