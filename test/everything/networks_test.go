package everything

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tare/network/kinds"
	"tare/report"
	"tare/result"
	"tare/test/labtest"
)

// absent are the networks that need what no package holds: a kernel's modules,
// a card, somebody's closed source. All others must run.
func absent() []string {
	return []string{"ipvlan", "sr-iov", "gre", "geneve", "wireguard", "ipsec", "netkit", "service-ipvs", "havs"}
}

// unchanged waits until the machine is as it was.
func unchanged(t *testing.T, before machine) {
	t.Helper()
	var left []string
	defer func() {
		if len(left) > 0 {
			t.Logf("the machine is not as it was:\n%s", strings.Join(left, "\n"))
		}
	}()
	labtest.Await(t, "the machine is as it was", func() bool {
		left = differences(before, look(t))
		return len(left) == 0
	})
}

// The tests of this file compare the whole machine, so nothing may run beside them.

func TestDeepEveryNetworkIsWeighed(t *testing.T) {
	tare := asRoot(t)
	before := look(t)
	var out, progress bytes.Buffer
	// In windows: with everything up all slots of a network's one block may be late.
	cmd := exec.Command(tare, "run", "--networks", "all", "--workloads", "tcp_rr", "--design", "windows", "--blocks", "1", "--duration", "60ms", "--json")
	cmd.Stdout, cmd.Stderr = &out, &progress
	runErr := cmd.Run()
	unchanged(t, before)
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
	for _, n := range kinds.All() {
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

// TestDeepKillLeavesNothing kills the tool while everything is up. What only the
// ledger knows is gone with the next command.
func TestDeepKillLeavesNothing(t *testing.T) {
	tare := asRoot(t)
	before := look(t)
	cmd := exec.Command(tare, "run", "--networks", "all", "--workloads", "tcp_rr", "--blocks", "50", "--duration", "60ms", "--json")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	labtest.Await(t, "flanneld runs", func() bool { return runs(t, "flanneld") })
	killed(t, cmd, exec.Command(tare, "run", "--networks", "bridge", "--paths", "same-host", "--workloads", "tcp_rr", "--blocks", "1", "--duration", "60ms", "--json"))
	unchanged(t, before)
}
