package everything

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"tare/network"
	"tare/result"
	"tare/test/labtest"
)

// TestRealBrokenEnginesNameTheHop breaks networks of real parts, and reads where the
// functional check reports that it lost the packet: their devices' names are
// nobody's choice but theirs. What is not broken is measured, and what the
// daemons use meanwhile is counted.
func TestRealBrokenEnginesNameTheHop(t *testing.T) {
	tare, name := asRoot(t), "broken-engines"
	for _, step := range [][]string{
		{"lab", "up", "docker-bridge", "docker-nat", "containerd-bridge", "flannel-vxlan", "--name", name},
		{"lab", "exec", "--name", name, "docker-nat.h2", "--", "iptables", "-I", "FORWARD", "-p", "tcp", "--dport", "5210", "-j", "DROP"},
		{"lab", "exec", "--name", name, "containerd-bridge.h2", "--", "iptables", "-I", "FORWARD", "-p", "tcp", "--sport", "5210", "-j", "DROP"},
		{"lab", "exec", "--name", name, "flannel-vxlan.h2", "--", "ip", "link", "set", "flannel.1", "down"},
	} {
		if out, err := exec.Command(tare, step...).CombinedOutput(); err != nil {
			t.Fatalf("tare %s: %v: %s", strings.Join(step, " "), err, out)
		}
		if step[1] == "up" {
			defer func() {
				if out, err := exec.Command(tare, "lab", "down", "--name", name).CombinedOutput(); err != nil {
					t.Errorf("tare lab down: %v: %s", err, out)
				}
			}()
		}
	}
	out, err := exec.Command(tare, "run", "--lab", name, "--paths", network.SameHost+","+network.CrossHost+","+network.PublishedPort,
		"--workloads", "tcp_rr", "--blocks", "1", "--duration", "60ms", "--json").Output()
	var failed *exec.ExitError
	if !errors.As(err, &failed) || failed.ExitCode() != 1 {
		t.Errorf("a run with failed cells ends with %v, want status 1", err)
	}
	var res result.Result
	if err := json.Unmarshal(out, &res); err != nil {
		t.Fatalf("read result: %v", err)
	}
	lost := map[string][]string{
		"docker-nat " + network.PublishedPort:     {"lost behind eth0 in docker-nat.h2 (h1 eth0 -> h2 eth0)"},
		"containerd-bridge " + network.CrossHost:  {"the answer is lost behind cni0 in containerd-bridge.h2 (h2/c1 eth0 -> h2 veth"},
		"flannel-vxlan " + network.CrossHost:      {" cni0 flannel.1 eth0 -> h2 eth0", "flannel.1 in flannel-vxlan.h2 is down"},
		"docker-bridge " + network.SameHost:       nil,
		network.Baseline + " " + network.SameHost: nil,
	}
	for _, c := range res.Cells {
		want, listed := lost[c.Network+" "+c.Path]
		switch {
		case listed && want == nil && c.Status != result.StatusOK:
			t.Errorf("%s on %s is not broken: %s", c.Network, c.Path, c.Reason)
		case listed && want != nil && c.Status != result.StatusFailed:
			t.Errorf("%s on %s: %s", c.Network, c.Path, c.Status)
		}
		for _, text := range want {
			if !strings.Contains(c.Reason, text) {
				t.Errorf("%s on %s: %q does not contain %q", c.Network, c.Path, c.Reason, text)
			}
		}
		delete(lost, c.Network+" "+c.Path)
	}
	for missing := range lost {
		t.Errorf("no cell of %s", missing)
	}
	used := res.Noise.Daemons
	if used == nil {
		t.Fatal("nothing is known of idle daemons")
	}
	labtest.AtLeast(t, "number of idle daemons", len(used.Each), 1)
	labtest.MoreThan(t, "CPU of idle daemons", used.CPU, 0)
	labtest.AtLeast(t, "most CPU of idle daemons", used.Most, used.CPU)
	if env := res.Environment; env.LabMemoryBytes == 0 || env.LabMemoryBytes > mostMemory || env.LabUp <= 0 {
		t.Errorf("the lab took %v s and %d bytes", env.LabUp, env.LabMemoryBytes)
	}
}

// mostMemory is what a lab may hold with everything up.
const mostMemory = 3 << 30
