package labtest

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Nobody is an ordinary user.
const Nobody = 65534

// AsOrdinaryUser runs the tests of an ordinary user, which are named
// TestLabUser... or TestRealUser..., of the calling test binary once more without
// root, in a user namespace: those of the calling test's own tier. Where they are
// an ordinary user's already they need not be repeated.
func AsOrdinaryUser(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Logf("this process is uid %d's", os.Geteuid())
		return
	}
	tests := "TestLabUser"
	if strings.HasPrefix(t.Name(), "TestReal") {
		tests = "TestRealUser"
	}
	cmd := exec.Command(Readable(t), "-test.run=^"+tests, "-test.v", "-test.timeout=10m")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR=", "HOME=/")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: Nobody, Gid: Nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("as uid %d: %v\n%s", Nobody, err, out)
	}
	if passed := strings.Count(string(out), "\n--- PASS: "+tests); passed == 0 {
		t.Fatalf("as uid %d no test ran:\n%s", Nobody, out)
	}
}

// Readable copies the test binary to where every user may run it.
func Readable(t *testing.T) string {
	t.Helper()
	NeedsTier(t)
	dir, err := os.MkdirTemp("", "tare-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "tare.test")
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	into, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(into, from); err != nil {
		t.Fatal(err)
	}
	if err := into.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, path} {
		if err := os.Chmod(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return path
}
