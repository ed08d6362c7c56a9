package guest

import (
	"strconv"
	"strings"
	"testing"

	"tare/network/kinds"
	"tare/result"
	"tare/test/labtest"
)

// TestVMNetkitPassesNoStack weighs every path of netkit in each of its modes, attaches more
// containers and removes them, and looks whether a host has forwarded anything.
func TestVMNetkitPassesNoStack(t *testing.T) {
	labtest.NeedsVM(t)
	labtest.NoLeaks(t)
	n, _ := kinds.Find("netkit")
	if lacks(t, n.Name) {
		refuses(t, n.Name)
		return
	}
	for _, mode := range []string{"l3", "l2"} {
		run(t, "lab", "up", n.Name, "--netkit-mode", mode, "--name", mode)
		device := string(run(t, "lab", "exec", "--name", mode, "h1/c1", "--", "ip", "-d", "link", "show", "dev", "eth0"))
		labtest.Contains(t, "eth0 of a container", device, "netkit")
		labtest.Equal(t, "eth0 is without ARP in mode "+mode, strings.Contains(device, "NOARP"), mode == "l3")
		before := forwarded(t, mode)
		sent := 0.0
		const seconds = 0.1
		res := decode[result.Result](t, run(t, "run", "--lab", mode, "--paths", strings.Join(n.Paths, ","),
			"--workloads", "tcp_rr,tcp_stream,attach", "--blocks", "1", "--duration", "100ms", "--design", "windows", "--json"))
		for _, c := range res.Cells {
			labtest.Equal(t, c.Workload+" of "+c.Network+" on "+c.Path+": "+c.Reason, c.Status, result.StatusOK)
			if c.Network != n.Name {
				continue
			}
			for _, s := range c.Samples {
				if c.Workload == "tcp_rr" {
					sent += seconds * s.Metrics["rate"]
				}
			}
		}
		labtest.MoreThan(t, "transactions in mode "+mode, sent, 50)
		labtest.LessThan(t, "packets that the hosts forwarded in mode "+mode, forwarded(t, mode)-before, sent/10)
		run(t, "lab", "down", "--name", mode)
	}
}

// forwarded is how many packets both hosts of a lab of netkit have forwarded.
func forwarded(t *testing.T, lab string) (packets float64) {
	t.Helper()
	for _, h := range []string{"h1", "h2"} {
		lines := strings.Split(string(run(t, "lab", "exec", "--name", lab, h, "--", "grep", "^Ip:", "/proc/net/snmp")), "\n")
		if len(lines) < 2 {
			t.Fatalf("%s does not count what it forwards: %s", h, lines)
		}
		values := strings.Fields(lines[1])
		for at, name := range strings.Fields(lines[0]) {
			if name == "ForwDatagrams" {
				count, err := strconv.ParseFloat(values[at], 64)
				if err != nil {
					t.Fatal(err)
				}
				packets += count
			}
		}
	}
	return packets
}
