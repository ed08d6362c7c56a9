package foreign

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// session runs the tools of this machine against each other, over the loopback
// of a separate network namespace, and keeps what each end prints.
const session = `set -eu
ip link set lo up
listening() { for i in $(seq 1200); do ss -Hln "sport = :$1" | grep -q . && return; sleep 0.05; done; echo "nothing listens on $1" >&2; exit 1; }
iperf3 -s -1 -J > server.json & end=$!
listening 5201
iperf3 -c 127.0.0.1 -t 1 -P 2 -V > client.txt
wait $end
iperf3 -s -1 > udp-server.txt & end=$!
listening 5201
iperf3 -c 127.0.0.1 -u -b 20M -t 1 -J > udp-client.json
wait $end
sockperf server -i 127.0.0.1 -p 6000 > /dev/null & end=$!
listening 6000
sockperf ping-pong -i 127.0.0.1 -p 6000 -t 1 --full-rtt > sockperf.txt
kill -INT $end
wait $end || true
qperf > /dev/null & end=$!
listening 19765
qperf 127.0.0.1 -t 1 tcp_bw tcp_lat > qperf.txt
kill $end
wait $end || true
iperf -s > /dev/null & end=$!
listening 5001
iperf -c 127.0.0.1 -t 1 -e > iperf.txt
kill $end
wait $end || true
`

// TestRealToolsOfThisMachine reads what the installed tools print: both ends of a
// run must agree.
func TestRealToolsOfThisMachine(t *testing.T) {
	dir := t.TempDir()
	shell := exec.Command("timeout", "180", "unshare", "-Urn", "sh", "-c", session)
	shell.Dir, shell.Env = dir, append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("iperf3, sockperf, qperf and iperf must be installed and run: %v\n%s", err, out)
	}
	one := func(file string) result.Cell {
		t.Helper()
		cells, err := Read(file, read(t, filepath.Join(dir, file)))
		if err != nil || len(cells) != 1 || cells[0].Status != result.StatusOK {
			t.Fatalf("%s: %v\n%s", file, err, describe(cells))
		}
		return cells[0]
	}
	value := func(c result.Cell, name string) float64 { return c.Samples[0].Metrics[name] }
	for _, ends := range [][2]string{{"client.txt", "server.json"}, {"udp-client.json", "udp-server.txt"}} {
		a, b := one(ends[0]), one(ends[1])
		of := ends[0] + " and " + ends[1] + ": "
		labtest.Equal(t, of+"workload", a.Workload, b.Workload)
		labtest.Equal(t, of+"flows", a.Params["flows"], b.Params["flows"])
		labtest.NotEqual(t, of+"side", a.Params["side"], b.Params["side"])
		labtest.Equal(t, of+"direction", a.Params["direction"], b.Params["direction"])
		if x, y := value(a, "throughput"), value(b, "throughput"); x <= 0 || math.Abs(x-y) > 0.02*x {
			t.Errorf("%s reports %g bit/s, %s %g", ends[0], x, ends[1], y)
		}
	}
	if c := one("iperf.txt"); value(c, "throughput") <= 0 || c.Workload != "tcp_stream" {
		t.Errorf("iperf: %s", describe([]result.Cell{c}))
	}
	cells, err := Read("qperf.txt", read(t, filepath.Join(dir, "qperf.txt")))
	if err != nil || len(cells) != 2 {
		t.Fatalf("qperf: %v, want two cells, got\n%s", err, describe(cells))
	}
	labtest.MoreThan(t, "qperf's throughput", value(cells[0], "throughput"), 0)
	labtest.MoreThan(t, "qperf's latency", value(cells[1], "latency_one_way"), 0)
	if c := one("sockperf.txt"); value(c, "rtt_p50") <= 0 || value(c, "rtt_p99") < value(c, "rtt_p50") || value(c, "rate") <= 0 {
		t.Errorf("sockperf: %s", describe([]result.Cell{c}))
	}
}
