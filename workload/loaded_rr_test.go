package workload

import (
	"errors"
	"testing"
	"time"

	"tare/test/labtest"
)

// loadedRun runs both ends over the loopback.
func loadedRun(t *testing.T) (run Run, server, client Tally) {
	t.Helper()
	kind, found := Find("loaded_rr")
	if !found {
		t.Fatal("there is no loaded_rr")
	}
	run = Run{Token: token, Mode: "block", Flows: 2, Size: 1, Rate: 40e6, Warmup: 50 * time.Millisecond, Duration: 250 * time.Millisecond}
	server, client, serverErr, clientErr := both(kind, run, run)
	if err := errors.Join(serverErr, clientErr); err != nil {
		t.Fatal(err)
	}
	return run, server, client
}

func TestLabLoadedRRNamesLoadAndRoundTrips(t *testing.T) {
	run, server, client := loadedRun(t)
	labtest.MoreThan(t, "throughput", server.Metrics["throughput"], 0)
	labtest.Between(t, "fairness", server.Metrics["fairness"], 0, 1)
	labtest.MoreThan(t, "rtt_mean", client.Metrics["rtt_mean"], 0)
	labtest.Near(t, "rpm, the round trips of a minute", client.Metrics["rpm"]*client.Metrics["rtt_mean"], 60, 1e-9)
	labtest.MoreThan(t, "probes", client.Counters["probes"], 0)
	labtest.AtLeast(t, "window", client.Window, run.Duration)
	labtest.MoreThan(t, "work in Gbit", client.Work, 0)
	labtest.Equal(t, "window of the end that only receives", server.Window, 0)
	if _, judged := client.Metrics["rate"]; judged {
		t.Error("a rate, which would be judged")
	}
}
