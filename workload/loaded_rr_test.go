package workload

import (
	"errors"
	"testing"
	"time"

	"tare/test/labtest"
	"tare/traffic"
)

// TestLabLoadedRRNamesLoadAndRoundTrips runs both ends over the loopback.
func TestLabLoadedRRNamesLoadAndRoundTrips(t *testing.T) {
	kind, found := Find("loaded_rr")
	if !found {
		t.Fatal("there is no loaded_rr")
	}
	run := Run{Token: token, Mode: "block", Flows: 2, Size: 1, Rate: 40e6, Warmup: 50 * time.Millisecond, Duration: 250 * time.Millisecond}
	server, client, serverErr, clientErr := both(kind, run, run)
	if err := errors.Join(serverErr, clientErr); err != nil {
		t.Fatal(err)
	}
	labtest.Between(t, "throughput", server.Metrics["throughput"], 30e6, 50e6)
	labtest.Between(t, "fairness", server.Metrics["fairness"], 0.5, 1)
	labtest.MoreThan(t, "rtt_p50", client.Metrics["rtt_p50"], 0)
	labtest.AtLeast(t, "probes", client.Counters["probes"], traffic.ProbeRate/10.)
	labtest.AtLeast(t, "window", client.Window, run.Duration)
	labtest.Between(t, "work in Gbit", client.Work, 0.03*client.Window.Seconds(), 0.05*client.Window.Seconds())
	labtest.Equal(t, "window of the end that only receives", server.Window, 0)
	if _, judged := client.Metrics["rate"]; judged {
		t.Error("a rate, which would be judged")
	}
}
