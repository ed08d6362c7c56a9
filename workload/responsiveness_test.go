package workload

import (
	"errors"
	"testing"
	"time"

	"tare/result"
	"tare/test/labtest"
)

// TestLabResponsivenessNamesItsParts runs both ends over the loopback.
func TestLabResponsivenessNamesItsParts(t *testing.T) {
	kind, found := Find("responsiveness")
	if !found {
		t.Fatal("there is no responsiveness")
	}
	run := Run{Token: token, Mode: download, Flows: 2, Warmup: 50 * time.Millisecond, Duration: 300 * time.Millisecond, Interval: 50 * time.Millisecond}
	_, client, serverErr, clientErr := both(kind, run, run)
	if err := errors.Join(serverErr, clientErr); err != nil {
		t.Fatal(err)
	}
	foreign := 0.
	for _, part := range []string{"latency_tcp", "latency_tls", "latency_http", "latency_loaded"} {
		labtest.Between(t, part, client.Metrics[part], 1e-6, 1)
		if part != "latency_loaded" {
			foreign += client.Metrics[part] / 3
		}
	}
	labtest.Near(t, "responsiveness", client.Metrics["responsiveness"], (60/foreign+60/client.Metrics["latency_loaded"])/2, 1)
	labtest.MoreThan(t, "throughput", client.Metrics["throughput"], 1e6)
	labtest.MoreThan(t, "work in Gbit", client.Work, 0)
	labtest.AtLeast(t, "window", client.Window, run.Duration*9/10)
	labtest.AtLeast(t, "foreign probes", client.Counters["probes_foreign"], 1)
	labtest.AtLeast(t, "probes on the load", client.Counters["probes_loaded"], 1)
	for _, metric := range append(kind.Columns, kind.Headline) {
		if _, known := result.QuantityOf(metric); !known {
			t.Errorf("%s is no metric", metric)
		}
	}
}
