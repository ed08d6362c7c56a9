package guest

import (
	"os/exec"
	"slices"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// loaded loads modules of the kernel: what is not built into it can be set by the socket
// that wants it, or seen by ss, only then.
func loaded(t *testing.T, modules ...string) {
	t.Helper()
	if out, err := exec.Command("modprobe", append([]string{"-a"}, modules...)...).CombinedOutput(); err != nil {
		t.Fatalf("modprobe: %v: %s", err, out)
	}
}

// TestVMFarPathsNameTheBufferThatLimitsThem: 20 ms away a flow needs more room in its
// buffers than any path of a lab without netem can make it need.
func TestVMFarPathsNameTheBufferThatLimitsThem(t *testing.T) {
	labtest.NeedsVM(t)
	labtest.NoLeaks(t)
	run(t, "lab", "up", "route", "--name", "far", "--link", "delay=10ms")
	defer run(t, "lab", "down", "--name", "far")
	limits := []string{"send-buffer", "tcp-receive-window"}
	for _, c := range []struct{ limit, at, setting, small, usual string }{
		{"", "route.h1/c1", "net.ipv4.tcp_wmem", "4096 16384 4194304", "4096 16384 4194304"},
		{"send-buffer", "route.h1/c1", "net.ipv4.tcp_wmem", "4096 16384 262144", "4096 16384 4194304"},
		{"tcp-receive-window", "route.h2/c1", "net.ipv4.tcp_rmem", "4096 8192 16384", "4096 131072 6291456"},
	} {
		run(t, "lab", "exec", "--name", "far", c.at, "--", "sysctl", "-w", c.setting+"="+c.small)
		res := decode[result.Result](t, run(t, "run", "--lab", "far", "--networks", "host,route", "--paths", "cross-host",
			"--workloads", "tcp_stream", "--blocks", "2", "--duration", "1s", "--json"))
		run(t, "lab", "exec", "--name", "far", c.at, "--", "sysctl", "-w", c.setting+"="+c.usual)
		found := map[string]bool{}
		for _, cell := range res.Cells {
			for _, f := range slices.Concat(res.Findings, cell.Findings) {
				found[f.ID] = true
			}
		}
		if c.limit == "send-buffer" && waitedForRoom(res) < 0.05 {
			t.Log("NOT TESTED: Linux counted no waiting for room in the send buffer, which it does only where it transmits while the sender waits")
			continue
		}
		for _, limit := range limits {
			labtest.Equal(t, c.setting+"="+c.small+" is "+limit, found[limit], limit == c.limit)
		}
	}
}

// waitedForRoom is the part of the time with data to send that senders of route waited for
// room in their send buffer, as Linux counts it.
func waitedForRoom(res result.Result) float64 {
	var waited, busy float64
	for _, cell := range res.Cells {
		for _, s := range cell.Samples {
			if cell.Network == "route" {
				waited, busy = waited+s.Counters["sndbuf_limited"], busy+s.Counters["busy"]
			}
		}
	}
	return waited / busy
}
