package everything

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"tare/network"
	"tare/report"
	"tare/result"
	"tare/test/labtest"
)

// absent are the networks that need what no package holds: a kernel's modules,
// a card, somebody's closed source. All others must run.
func absent() []string {
	return []string{"ipvlan", "sr-iov", "gre", "geneve", "wireguard", "ipsec", "netkit", "service-ipvs", "havs"}
}

// asRoot returns the path of tare, for tests that root alone can run.
func asRoot(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("real engines need root: run the tests as root")
	}
	return labtest.Tare(t)
}

// unchanged fails where the machine is not as it was within a moment.
func unchanged(t *testing.T, before machine, wait time.Duration) {
	t.Helper()
	left := differences(before, look(t))
	for deadline := time.Now().Add(wait); len(left) > 0 && time.Now().Before(deadline); left = differences(before, look(t)) {
		time.Sleep(100 * time.Millisecond)
	}
	if len(left) > 0 {
		t.Errorf("the machine is not as it was:\n%s", strings.Join(left, "\n"))
	}
}

func TestRealEveryNetworkIsWeighed(t *testing.T) {
	tare := asRoot(t)
	before := look(t)
	var out, progress bytes.Buffer
	// In windows: with everything up all slots of a network's one block may be late.
	cmd := exec.Command(tare, "run", "--networks", "all", "--workloads", "tcp_rr", "--design", "windows", "--blocks", "1", "--duration", "60ms", "--json")
	cmd.Stdout, cmd.Stderr = &out, &progress
	runErr := cmd.Run()
	unchanged(t, before, 5*time.Second)
	if runErr != nil {
		t.Errorf("tare run: %v: %s", runErr, progress.String())
	}
	var res result.Result
	if err := json.Unmarshal(out.Bytes(), &res); err != nil {
		t.Fatalf("read result: %v", err)
	}
	if held := res.Environment.LabMemoryBytes; held == 0 || held > mostMemory {
		t.Errorf("with everything up the lab holds %d bytes", held)
	}
	checkReport(t, &res)
	weighed := map[string]int{}
	for _, c := range res.Cells {
		if c.Network == "cni" && c.Status == result.StatusSkipped {
			continue // a path that its list does not serve
		}
		if c.Status != result.StatusOK || len(c.Samples) == 0 {
			t.Errorf("%s on %s: %s: %s", c.Network, c.Path, c.Status, c.Reason)
			continue
		}
		weighed[c.Network]++
	}
	for _, n := range network.All() {
		if weighed[n.Name] > 0 {
			continue
		}
		at := slices.IndexFunc(res.Plan.Skipped, func(s result.SkippedNetwork) bool { return s.Name == n.Name })
		switch {
		case at < 0:
			t.Errorf("%s was neither weighed nor skipped", n.Name)
		case !slices.Contains(absent(), n.Name):
			t.Errorf("%s was skipped: %s", n.Name, res.Plan.Skipped[at].Reason)
		}
	}
}

// checkReport holds the report of every network to the terminal's width.
func checkReport(t *testing.T, res *result.Result) {
	t.Helper()
	var text strings.Builder
	if err := report.Terminal(&text, res, report.Options{}); err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(text.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestRealKillLeavesNothing kills the tool while everything is up. What only the
// ledger knows is gone with the next command.
func TestRealKillLeavesNothing(t *testing.T) {
	tare := asRoot(t)
	before := look(t)
	var progress bytes.Buffer
	cmd := exec.Command(tare, "run", "--networks", "all", "--workloads", "tcp_rr", "--blocks", "50", "--duration", "60ms", "--json")
	cmd.Stderr = &progress
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(2 * time.Minute); !strings.Contains(daemons(t), "flanneld"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("flanneld never ran: %s", progress.String())
		}
	}
	killed(t, before, cmd, exec.Command(tare, "run", "--networks", "bridge", "--paths", "same-host", "--workloads", "tcp_rr", "--blocks", "1", "--duration", "60ms", "--json"))
}

// killed kills a command, runs the next one, and holds the machine to be as it was
// before the first.
func killed(t *testing.T, before machine, cmd, next *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("a killed command ended well")
	}
	if out, err := next.CombinedOutput(); err != nil {
		t.Errorf("the next command: %v: %s", err, out)
	}
	unchanged(t, before, 10*time.Second)
}
