package guest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tare/probe"
	"tare/result"
	"tare/test/labtest"
)

// TestVMUserNamespacesAreRefused: an ordinary user to whom the machine refuses them
// reads what to do, in each of the three ways in which distributions refuse them.
func TestVMUserNamespacesAreRefused(t *testing.T) {
	labtest.NeedsVM(t)
	for name, setting := range map[string]struct{ file, value string }{
		"Debian": {"/proc/sys/kernel/unprivileged_userns_clone", "0"},
		"Ubuntu": {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"},
		"none":   {"/proc/sys/user/max_user_namespaces", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := os.ReadFile(setting.file)
			if errors.Is(err, os.ErrNotExist) {
				t.Logf("%s %s is not here", labtest.NotTested, setting.file)
				return
			}
			set := func(value string) {
				if err := os.WriteFile(setting.file, []byte(value), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			set(setting.value)
			defer set(strings.TrimSpace(string(before)))
			said, status := asNobody(t, "run")
			labtest.Equal(t, "exit status", status, 3)
			labtest.Contains(t, "what it said", said, strings.NewReplacer("/proc/sys/", "", "/", ".").Replace(setting.file))
		})
	}
}

// TestVMUser is the README's first command as an ordinary user of a kernel as it comes.
func TestVMUser(t *testing.T) {
	labtest.NeedsVM(t)
	said, status := asNobody(t, "run", "--networks", "host,bridge,vxlan", "--workloads", "tcp_rr", "--blocks", "6", "--duration", "50ms", "--design", "windows")
	if status != 0 {
		t.Errorf("status %d: %s", status, said)
	}
	labtest.Equal(t, "the answer names an emulated CPU", strings.Contains(said, result.Emulated+":"), probe.Environment("/").Emulated())
}

// asNobody runs tare as an ordinary user, in a new folder.
func asNobody(t *testing.T, args ...string) (said string, status int) {
	t.Helper()
	folder, err := os.MkdirTemp("", "tare-test-") // not in t.TempDir, which others can't enter
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	}()
	if err := os.Chown(folder, labtest.Nobody, labtest.Nobody); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(labtest.Tare(t))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "tare")
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "HOME="+folder, "XDG_RUNTIME_DIR=")
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: labtest.Nobody, Gid: labtest.Nobody}}
	err = cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}
