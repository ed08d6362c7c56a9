package workload

import (
	"errors"
	"testing"
	"time"

	"tare/result"
	"tare/test/labtest"
)

// responsivenessOfLoopback runs both ends.
func responsivenessOfLoopback(t *testing.T) (kind Workload, run Run, client Tally) {
	t.Helper()
	kind, found := Find("responsiveness")
	if !found {
		t.Fatal("there is no responsiveness")
	}
	run = Run{Token: token, Mode: download, Flows: 2, Warmup: 50 * time.Millisecond, Duration: 300 * time.Millisecond, Interval: 50 * time.Millisecond}
	_, client, serverErr, clientErr := both(kind, run, run)
	if err := errors.Join(serverErr, clientErr); err != nil {
		t.Fatal(err)
	}
	return kind, run, client
}

// responsivenessParts are the round trips of new connections, and of the load's own.
func responsivenessParts() []string {
	return []string{"latency_tcp", "latency_tls", "latency_http", "latency_loaded"}
}

func TestLabResponsivenessNamesItsParts(t *testing.T) {
	kind, run, client := responsivenessOfLoopback(t)
	foreign := 0.
	for _, part := range responsivenessParts() {
		labtest.MoreThan(t, part, client.Metrics[part], 0)
		if part != "latency_loaded" {
			foreign += client.Metrics[part] / 3
		}
	}
	labtest.Near(t, "responsiveness", client.Metrics["responsiveness"], (60/foreign+60/client.Metrics["latency_loaded"])/2, 1)
	labtest.MoreThan(t, "throughput", client.Metrics["throughput"], 0)
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
