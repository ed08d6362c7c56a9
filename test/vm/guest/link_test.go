package guest

import (
	"testing"

	"tare/result"
	"tare/stats"
	"tare/test/labtest"
)

// overLink is what tare run measures of the host network over a link, as its median over
// blocks that have the metric: a guest that waits may have too few round trips for a quantile.
func overLink(t *testing.T, link, load, metric string, more ...string) float64 {
	t.Helper()
	args := append([]string{"run", "--networks", "host", "--paths", "cross-host", "--workloads", load,
		"--link", link, "--blocks", "2", "--duration", "1s", "--json"}, more...)
	res := decode[result.Result](t, run(t, args...))
	var values []float64
	for _, c := range res.Cells {
		labtest.Equal(t, "design over "+link, c.Params.Text("design"), "")
		for _, s := range c.Samples {
			value, has := s.Metrics[metric]
			if has {
				values = append(values, value)
			}
			t.Logf("%s over %s, layout %s, block %d: %s %v (%t), %v", load, link, s.Layout, s.Block, metric, value, has, s.Warnings)
		}
	}
	labtest.AtLeast(t, "measured "+metric+" over "+link, len(values), 1)
	return stats.Median(values)
}

// TestVMLinksDelayAndLose what they are asked to: netem is a part of these kernels.
func TestVMLinksDelayAndLose(t *testing.T) {
	labtest.NeedsVM(t)
	labtest.NoLeaks(t)
	far, near := overLink(t, "delay=10ms", "tcp_rr", "rtt_p50", "--duration", "2s"), overLink(t, "1gbit", "tcp_rr", "rtt_p50")
	labtest.AtLeast(t, "round trip in s over 10 ms each way", far, 0.020)
	labtest.Between(t, "s that this is more than without", far-near, 0.015, 0.030)
	labtest.Between(t, "share lost of datagrams", overLink(t, "10mbit,loss=5%", "udp_stream", "loss", "--rate", "2mbit"), 0.02, 0.10)
	// Without a loss TCP fills the link as far as the CPU can; a loss holds it below
	// MSS/RTT/sqrt(loss) (Mathis, 1997), here 1.8 Mbit/s.
	// BBR takes no loss for a full link (Cardwell and others, 2016).
	const lossy = "10mbit,delay=10ms,loss=10%"
	loaded(t, "tcp_bbr")
	cubic := overLink(t, lossy, "tcp_stream", "throughput", "--cc", "cubic")
	labtest.MoreThan(t, "bit/s without a loss", overLink(t, "10mbit,delay=10ms", "tcp_stream", "throughput", "--cc", "cubic"), 2*cubic)
	labtest.MoreThan(t, "bit/s of bbr", overLink(t, lossy, "tcp_stream", "throughput", "--cc", "bbr"), 2*cubic)
}

// TestVMDoctorKnowsTheLinksOfALab, whose losses are no fault.
func TestVMDoctorKnowsTheLinksOfALab(t *testing.T) {
	labtest.NeedsVM(t)
	labtest.NoLeaks(t)
	run(t, "lab", "up", "route", "--name", "far", "--link", "10mbit,delay=5ms,loss=2%,reorder=1%")
	defer run(t, "lab", "down", "--name", "far")
	for _, f := range decode[result.Result](t, run(t, "doctor", "--lab", "far", "--json")).Findings {
		t.Errorf("the doctor finds %s: %s: %+v", f.ID, f.Cause, f.Evidence)
	}
	res := decode[result.Result](t, run(t, "run", "--lab", "far", "--paths", "cross-host", "--workloads", "tcp_rr", "--blocks", "1", "--duration", "1s", "--json"))
	for _, c := range res.Cells {
		labtest.Equal(t, c.Network+": delay in s", c.Params.Number("delay"), 0.005)
		labtest.Equal(t, c.Network+": loss", c.Params.Number("loss"), 0.02)
	}
}
