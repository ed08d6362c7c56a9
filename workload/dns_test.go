package workload

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
	"tare/traffic"
	"tare/traffic/dns"
)

// TestRealDNS measures both modes on one flow and on many. Of another zone it is refused with
// the server's own code: it asks no other server.
func TestRealDNS(t *testing.T) {
	w := whole("dns")
	_, place := startServer(t, unbound())
	for _, mode := range w.Modes {
		for _, flows := range []int{1, 10, 50} {
			run := runOf(w, mode)
			run.Flows = flows
			got := driven(t, w, run, place)
			// On a busy machine the server itself may be late.
			if lost, counted := got.Counters["lost"]; !counted || (lost > 0) != (len(got.Warnings) > 0) {
				t.Errorf("%s on %d flows: counters %v, %v", mode, flows, got.Counters, got.Warnings)
			}
			labtest.Equal(t, "congestion control", got.CC, "")
		}
	}
	for name, want := range map[string]string{"www.example.com.": "RCodeRefused", "other." + dnsZone: "RCodeNameError"} {
		c := dns.Options{Window: traffic.Window{Duration: time.Second}, Name: name, Address: dnsAddress()}
		if done, err := dns.Call(t.Context(), place.At, c); err == nil || !strings.Contains(err.Error(), "the code "+want) || done.Count > 0 {
			t.Errorf("%s: %v, %d counted", name, err, done.Count)
		}
	}
	if files, err := os.ReadDir(place.Dir); err != nil || len(files) != 1 {
		t.Errorf("it wrote files: %v, %v", files, err)
	}
}

// TestRealDNSDies kills it under its client.
func TestRealDNSDies(t *testing.T) {
	child, place := startServer(t, unbound())
	run := runOf(whole("dns"), "reuse")
	run.Flows = 10
	diesUnder(t, whole("dns"), child, place, run)
	if ended := child.Ended(); ended == nil || !strings.Contains(ended.Error(), "unbound ended (signal: killed): ") {
		t.Error(ended)
	}
}

// TestRealDNSCannotStart holds its error where its port is taken.
func TestRealDNSCannotStart(t *testing.T) {
	t.Parallel()
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
