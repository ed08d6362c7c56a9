package everything

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"tare/catalog"
	"tare/network/kinds"
	"tare/result"
	"tare/test/labtest"
)

// engines is the lab's name: that of a run that was killed is another.
func engines() string { return fmt.Sprintf("engines-%d", os.Getpid()) }

// A lab of several engines, as a user has it: containers are made in it, and networks of it break.
func TestRealLabOfEngines(t *testing.T) {
	tare := asRoot(t)
	labtest.NoLeaks(t)
	t.Cleanup(func() {
		if out, err := exec.Command(tare, "lab", "down", "--name", engines()).CombinedOutput(); err != nil {
			t.Errorf("tare lab down: %v: %s", err, out)
		}
		labtest.NoGroup(t, "tare-lab-"+engines())
	})
	do(t, tare, "lab", "up", "docker-bridge", "docker-nat", "containerd-bridge", "flannel-vxlan", "bgp", "--name", engines())
	t.Run("containers are made", func(t *testing.T) { containersAreMade(t, tare) })
	t.Run("broken engines name the hop", func(t *testing.T) { brokenEnginesNameTheHop(t, tare) })
}

// do runs a command of tare's that must succeed, and returns what it wrote.
func do(t *testing.T, tare string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(tare, args...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tare %s: %v: %s", strings.Join(args, " "), err, said.String())
	}
	return out
}

// containersAreMade by real engines and by none: those of an engine have the network's share.
func containersAreMade(t *testing.T, tare string) {
	out := do(t, tare, "run", "--lab", engines(), "--paths", catalog.SameHost,
		"--workloads", "attach,lifecycle", "--workers", "1,3", "--blocks", "1", "--duration", "60ms", "--json")
	var res result.Result
	if err := json.Unmarshal(out, &res); err != nil {
		t.Fatalf("read result: %v", err)
	}
	measured := map[string]int{}
	for _, c := range res.Cells {
		if c.Status != result.StatusOK {
			t.Errorf("%s of %s: %s: %s", c.Workload, c.Network, c.Status, c.Reason)
			continue
		}
		has := map[string]bool{}
		for _, m := range c.Metrics {
			has[m.Name] = true
		}
		for _, name := range []string{"rate", "latency_p50", "latency_mean", "latency_remove"} {
			if !has[name] {
				t.Errorf("%s of %s has no %s", c.Workload, c.Network, name)
			}
		}
		n, _ := kinds.Find(c.Network)
		if share := c.Workload == "attach" && n.Runtime != ""; has["latency_network"] != share || has["latency_lifecycle"] != share {
			t.Errorf("%s of %s has the network's share: %t, want %t", c.Workload, c.Network, has["latency_network"], share)
		}
		for _, s := range c.Samples {
			for name := range s.Counters {
				if strings.HasPrefix(name, "failed: ") {
					t.Errorf("%s of %s: %s", c.Workload, c.Network, name)
				}
			}
		}
		measured[c.Workload]++
	}
	if measured["attach"] != 2*5 || measured["lifecycle"] != 2*3 {
		t.Errorf("measured %v: with one and three workers five networks are attached to, and two engines and the host make containers", measured)
	}
}

// brokenEnginesNameTheHop breaks networks of real parts, and reads where the functional check
// reports that it lost the packet: their devices' names are nobody's choice but theirs. What is
// not broken is measured, and what the daemons use meanwhile is counted.
func brokenEnginesNameTheHop(t *testing.T, tare string) {
	for _, c := range [][]string{
		{"docker-nat.h2", "iptables", "-I", "FORWARD", "-p", "tcp", "--dport", "5210", "-j", "DROP"},
		{"containerd-bridge.h2", "iptables", "-I", "FORWARD", "-p", "tcp", "--sport", "5210", "-j", "DROP"},
		{"flannel-vxlan.h2", "ip", "link", "set", "flannel.1", "down"},
	} {
		do(t, tare, append([]string{"lab", "exec", "--name", engines(), c[0], "--"}, c[1:]...)...)
	}
	out, err := exec.Command(tare, "run", "--lab", engines(), "--paths", catalog.SameHost+","+catalog.CrossHost+","+catalog.PublishedPort,
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
		"docker-nat " + catalog.PublishedPort:     {"lost behind eth0 in docker-nat.h2 (h1 eth0 -> h2 eth0)"},
		"containerd-bridge " + catalog.CrossHost:  {"the answer is lost behind cni0 in containerd-bridge.h2 (h2/c1 eth0 -> h2 veth"},
		"flannel-vxlan " + catalog.CrossHost:      {" cni0 flannel.1 eth0 -> h2 eth0", "flannel.1 in flannel-vxlan.h2 is down"},
		"docker-bridge " + catalog.SameHost:       nil,
		catalog.Baseline + " " + catalog.SameHost: nil,
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
