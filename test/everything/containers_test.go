package everything

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tare/network"
	"tare/result"
)

// TestRealContainersAreMade by real engines and by none: those of an engine have
// the network's share, and the machine is as before.
func TestRealContainersAreMade(t *testing.T) {
	tare := asRoot(t)
	before := look(t)
	var out, progress bytes.Buffer
	cmd := exec.Command(tare, "run", "--networks", "host,docker-bridge,containerd-bridge,bgp", "--paths", "same-host",
		"--workloads", "attach,lifecycle", "--workers", "1,3", "--blocks", "1", "--duration", "60ms", "--json")
	cmd.Stdout, cmd.Stderr = &out, &progress
	runErr := cmd.Run()
	unchanged(t, before, 5*time.Second)
	var res result.Result
	if err := json.Unmarshal(out.Bytes(), &res); err != nil {
		t.Fatalf("read result: %v", err)
	}
	if runErr != nil {
		t.Errorf("tare run: %v: %s", runErr, progress.String())
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
		n, _ := network.Find(c.Network)
		if share := c.Workload == "attach" && n.Runtime.Name != ""; has["latency_network"] != share || has["latency_lifecycle"] != share {
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
	if measured["attach"] != 2*4 || measured["lifecycle"] != 2*3 {
		t.Errorf("measured %v: with one and three workers each four networks are attached to, and two engines and the host make containers", measured)
	}
}

// TestRealKillWhileContainersComeAndGo leaves nothing: what only the ledger knows is
// gone with the next command.
func TestRealKillWhileContainersComeAndGo(t *testing.T) {
	tare := asRoot(t)
	before := look(t)
	progress := &progressOf{begins: make(chan struct{}), when: "of 50, run"}
	cmd := exec.Command(tare, "run", "--networks", "docker-nat,containerd-bridge,vxlan", "--paths", "host-to-container,published-port",
		"--workloads", "attach", "--workers", "3", "--blocks", "50", "--duration", "60ms", "--json")
	cmd.Stderr = progress
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-progress.begins:
	case <-time.After(2 * time.Minute):
		t.Error("no block ever began")
	}
	// In the middle of a container's life: runc runs only while one is made or removed.
	for deadline := time.Now().Add(time.Minute); !strings.Contains(daemons(t), "runc"); {
		if time.Now().After(deadline) {
			t.Error("runc ran in no minute of the blocks")
			break
		}
	}
	killed(t, before, cmd, exec.Command(tare, "run", "--networks", "docker-bridge", "--paths", "same-host", "--workloads", "attach", "--blocks", "1", "--duration", "60ms", "--json"))
}

// progressOf closes begins when a command reports that something begins.
type progressOf struct {
	output bytes.Buffer
	when   string
	begins chan struct{}
	begun  bool
}

func (p *progressOf) Write(text []byte) (int, error) {
	n, err := p.output.Write(text)
	if !p.begun && strings.Contains(p.output.String(), p.when) {
		p.begun = true
		close(p.begins)
	}
	return n, err
}
