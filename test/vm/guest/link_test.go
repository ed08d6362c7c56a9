package guest

import (
	"testing"

	"tare/result"
	"tare/stats"
	"tare/test/labtest"
)

// overLink is what tare run measures of the host network over a link, as its median over
// blocks.
func overLink(t *testing.T, link, load, metric string, more ...string) float64 {
	t.Helper()
	args := append([]string{"run", "--networks", "host", "--paths", "cross-host", "--workloads", load,
		"--link", link, "--blocks", "2", "--duration", "1s", "--json"}, more...)
	res := decode[result.Result](t, run(t, args...))
	var values []float64
	for _, c := range res.Cells {
		labtest.Equal(t, "design over "+link, c.Params.Text("design"), "")
		for _, s := range c.Samples {
			values = append(values, s.Metrics[metric])
		}
	}
	return stats.Median(values)
}

// TestVMLinksDelayAndLose what they are asked to: netem is a part of these kernels.
func TestVMLinksDelayAndLose(t *testing.T) {
	labtest.NeedsVM(t)
	labtest.NoLeaks(t)
	labtest.Between(t, "round trip in s over 10 ms each way", overLink(t, "delay=10ms", "tcp_rr", "rtt_p50"), 0.020, 0.030)
	labtest.Between(t, "share lost of datagrams", overLink(t, "10mbit,loss=5%", "udp_stream", "loss", "--rate", "2mbit"), 0.02, 0.10)
	// Without a loss TCP fills the link as far as the CPU can; a loss holds it below
	// MSS/RTT/sqrt(loss) (Mathis, 1997), here 1.8 Mbit/s.
	lossy := overLink(t, "10mbit,delay=10ms,loss=10%", "tcp_stream", "throughput")
	labtest.MoreThan(t, "bit/s without a loss", overLink(t, "10mbit,delay=10ms", "tcp_stream", "throughput"), 2*lossy)
}
