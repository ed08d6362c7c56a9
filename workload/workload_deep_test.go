package workload

import (
	"errors"
	"testing"
	"time"

	"tare/test/labtest"
	"tare/traffic/tcpstream"
)

// TestDeepWorkloadsKeepTime: a window is as long as was asked for and has all of its steps,
// and what an end sends arrives at the other, which has a little another window and buffers.
func TestDeepWorkloadsKeepTime(t *testing.T) {
	eachMode(t, func(t *testing.T, w Workload, mode string) {
		run := runOf(w, mode)
		run.Edge = func(bool) {}
		server, client, serverErr, clientErr := both(w, run, run)
		if err := errors.Join(serverErr, clientErr); err != nil {
			t.Fatal(err)
		}
		owner := windowOwner(server, client)
		if _, known := owner.Metrics[w.Headline]; !known {
			t.Errorf("no %s in %v", w.Headline, owner.Metrics)
		}
		labtest.AtMost(t, "window", owner.Window, run.Duration+time.Second)
		labtest.AtLeast(t, "steps of 20 ms in 120 ms", steps(owner), 4)
		if receiverCounts(server, owner) {
			got := server.Metrics["throughput"] / gigabit * client.Window.Seconds()
			labtest.Between(t, "work in Gbit", client.Work, got*0.7, got*1.3)
		}
	})
}

// TestDeepLoadIsAsOffered runs both ends of loaded_rr at a rate.
func TestDeepLoadIsAsOffered(t *testing.T) {
	run, server, client := loadedRun(t)
	labtest.Between(t, "throughput", server.Metrics["throughput"], run.Rate*3/4, run.Rate*5/4)
	labtest.Between(t, "fairness", server.Metrics["fairness"], 0.5, 1)
	labtest.MoreThan(t, "rtt_p50", client.Metrics["rtt_p50"], 0)
	labtest.AtLeast(t, "probes", client.Counters["probes"], tcpstream.ProbeRate/10.)
	labtest.Between(t, "work in Gbit", client.Work, 0.03*client.Window.Seconds(), 0.05*client.Window.Seconds())
}
