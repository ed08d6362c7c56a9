package everything

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tare/test/labtest"
)

// A run that is killed in the middle of a container's life leaves nothing: what only the ledger
// knows is gone with the next command.
func TestRealKillLeavesNothing(t *testing.T) {
	tare := asRoot(t)
	labtest.NoLeaks(t)
	progress := &progressOf{begins: make(chan struct{}), when: "of 50, run"}
	cmd := exec.Command(tare, "run", "--networks", "docker-nat,containerd-bridge,vxlan", "--paths", "host-to-container,published-port",
		"--workloads", "attach", "--workers", "3", "--blocks", "50", "--duration", "60ms", "--json")
	cmd.Stderr = progress
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-progress.begins:
	case <-time.After(5 * time.Minute):
		t.Error("no block ever began")
	}
	labtest.Await(t, "runc runs, which it does while a container is made or removed", func() bool { return runs(t, "runc") })
	killed(t, cmd, exec.Command(tare, "run", "--networks", "docker-bridge", "--paths", "same-host", "--workloads", "attach", "--blocks", "1", "--duration", "60ms", "--json"))
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
