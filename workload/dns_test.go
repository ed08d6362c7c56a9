package workload

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"tare/traffic"
)

// TestRealDNS measures both modes on one flow and on ten.
func TestRealDNS(t *testing.T) {
	w := dns()
	_, place := startServer(t, unbound())
	for _, mode := range w.Modes {
		for _, flows := range []int{1, 10, 50} {
			run := runOf(w, mode)
			run.Flows, run.Duration = flows, 300*time.Millisecond
			var edges []bool
			run.Edge = func(end bool) { edges = append(edges, end) }
			got, err := w.Drive(t.Context(), run, place.At)
			if err != nil {
				t.Fatalf("%s on %d flows: %v", mode, flows, err)
			}
			known(t, got)
			consistent(t, w, got)
			m := got.Metrics
			if !(m["latency_mean"] > 0 && m["latency_p50"] > 0 && m["latency_p50"] <= m["latency_p90"] && m["latency_p90"] <= m["latency_p99"]) {
				t.Errorf("%s on %d flows: %v", mode, flows, m)
			}
			// In a closed loop the flows are busy all the time.
			if busy := m["rate"] * m["latency_mean"] / float64(flows); busy < 0.5 || busy > 1.2 {
				t.Errorf("%s: each of %d flows waits for %.0f %% of the window", mode, flows, 100*busy)
			}
			// On a busy machine the server itself may be late for a query of each flow.
			if lost, counted := got.Counters["lost"]; !counted || lost > float64(2*flows) || (lost > 0) != (len(got.Warnings) > 0) {
				t.Errorf("%s on %d flows: counters %v, %v", mode, flows, got.Counters, got.Warnings)
			}
			if got.CC != "" || len(edges) != 2 || edges[0] || !edges[1] {
				t.Errorf("%s: congestion control %q, edges %v", mode, got.CC, edges)
			}
		}
	}
	if files, err := os.ReadDir(place.Dir); err != nil || len(files) != 1 {
		t.Errorf("it wrote files: %v, %v", files, err)
	}
}

// TestRealDNSOfAnotherZone is refused with the server's own code: it asks no other server.
func TestRealDNSOfAnotherZone(t *testing.T) {
	_, place := startServer(t, unbound())
	for name, want := range map[string]string{"www.example.com.": "RCodeRefused", "other." + dnsZone: "RCodeNameError"} {
		c := traffic.DNS{Window: traffic.Window{Duration: time.Second}, Name: name, Address: dnsAddress()}
		if done, err := traffic.CallDNS(t.Context(), place.At, c); err == nil || !strings.Contains(err.Error(), "the code "+want) || done.Count > 0 {
			t.Errorf("%s: %v, %d counted", name, err, done.Count)
		}
	}
}

// TestRealDNSDies kills it under its client.
func TestRealDNSDies(t *testing.T) {
	child, place := startServer(t, unbound())
	run := runOf(dns(), "reuse")
	run.Flows, run.Duration = 10, 20*time.Second
	var killed error
	run.Edge = func(end bool) {
		if !end {
			killed = child.cmd.Process.Kill()
		}
	}
	begun := time.Now()
	_, err := dns().Drive(t.Context(), run, place.At)
	if err == nil || killed != nil || time.Since(begun) > 10*time.Second {
		t.Errorf("%v after %v; killed: %v", err, time.Since(begun), killed)
	}
	<-child.done
	if ended := child.Ended(); ended == nil || !strings.Contains(ended.Error(), "unbound ended (signal: killed): ") {
		t.Error(ended)
	}
}

// TestRealDNSCannotStart holds its error where its port is taken.
func TestRealDNSCannotStart(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	child, err := unbound().Start(t.Context(), Place{At: conn.LocalAddr().(*net.UDPAddr).AddrPort(), Dir: t.TempDir()})
	if err == nil {
		err = child.Stop()
	}
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Error(err)
	}
}

// TestLostQueriesAreCounted has them as a metric, a counter and a warning.
func TestLostQueriesAreCounted(t *testing.T) {
	got := resolved(Run{}, traffic.Transactions{Count: 90, Lost: 10, Elapsed: time.Second, RTT: traffic.NewHistogram()})
	known(t, got)
	if got.Metrics["loss"] != 0.1 || got.Counters["lost"] != 10 || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "10 queries had no response within 100ms") {
		t.Errorf("%+v", got)
	}
}
