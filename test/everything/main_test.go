package everything

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tare/test/labmain"
	"tare/test/labtest"
)

func TestMain(m *testing.M) { labmain.Run(m, "everything", nil) }

// asRoot returns the path of tare, for tests that root alone can run.
func asRoot(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("real engines need root: run the tests as root")
	}
	return labtest.Tare(t)
}

// runs reports whether a program runs in a lab that this test has started.
func runs(t *testing.T, program string) bool {
	t.Helper()
	return slices.ContainsFunc(labtest.Inside(t, labtest.Labs(t)), func(pid string) bool {
		name, err := os.ReadFile("/proc/" + pid + "/comm")
		return err == nil && strings.TrimSpace(string(name)) == program
	})
}

// killed kills a command whose lab is up and runs the next one. Then no process, control group or
// entry of the ledger of the lab is left.
func killed(t *testing.T, cmd, next *exec.Cmd) {
	t.Helper()
	labs := labtest.Labs(t)
	groups := labtest.Groups(t, labtest.Inside(t, labs))
	labtest.AtLeast(t, "control groups of the lab", len(groups), 1)
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("a killed command ended well")
	}
	if out, err := next.CombinedOutput(); err != nil {
		t.Errorf("the next command: %v: %s", err, out)
	}
	labtest.Await(t, "no process of the lab is left", func() bool { return len(labtest.Inside(t, labs)) == 0 })
	for _, group := range groups {
		labtest.NoGroup(t, group)
		entries, err := filepath.Glob("/run/tare/" + strings.TrimPrefix(group, "tare-") + "*")
		if err != nil || len(entries) > 0 {
			t.Errorf("the ledger has %v, %v", entries, err)
		}
	}
}
