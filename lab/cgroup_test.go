package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// groupFiles makes a folder with the files that the kernel would put there.
func groupFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The files of a machine's control groups, on two CPUs: what is written where. The
// folders are ordinary ones, so the kernel's own refusals are not tested here.
func TestControlGroupFiles(t *testing.T) {
	t.Run("version 1", func(t *testing.T) {
		root := t.TempDir()
		top := filepath.Join(root, "sys/fs/cgroup/cpu")
		group := filepath.Join(top, "tare-x")
		groupFiles(t, top, "cpu.shares")
		groupFiles(t, group, "cpu.shares", "cgroup.procs")
		if err := makeCgroup(root, "/tare-x", 2); err != nil {
			t.Fatal(err)
		}
		if err := joinCgroup(root, "/tare-x", 2); err != nil {
			t.Fatal(err)
		}
		if shares, procs := contents(t, group+"/cpu.shares"), contents(t, group+"/cgroup.procs"); shares != "2048" || procs != "0" {
			t.Errorf("cpu.shares %q, cgroup.procs %q", shares, procs)
		}
	})
	t.Run("version 2", func(t *testing.T) {
		root := t.TempDir()
		top := filepath.Join(root, "sys/fs/cgroup")
		group := filepath.Join(top, "tare-x")
		groupFiles(t, top, "cgroup.controllers")
		groupFiles(t, group, "cpu.weight", "cgroup.procs", "cgroup.subtree_control")
		groupFiles(t, filepath.Join(group, leaf), "cpu.weight", "cgroup.procs")
		if err := makeCgroup(root, "/tare-x", 2); err != nil {
			t.Fatal(err)
		}
		if err := joinCgroup(root, "/tare-x", 2); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]string{
			"cpu.weight": "200", "cgroup.subtree_control": "+cpu", "cgroup.procs": "", leaf + "/cpu.weight": "200", leaf + "/cgroup.procs": "0",
		} {
			if got := contents(t, filepath.Join(group, path)); got != want {
				t.Errorf("%s holds %q, want %q", path, got, want)
			}
		}
	})
	t.Run("version 2 without the controller", func(t *testing.T) {
		root := t.TempDir()
		groupFiles(t, filepath.Join(root, "sys/fs/cgroup"), "cgroup.controllers")
		if err := makeCgroup(root, "/tare-x", 2); err != nil {
			t.Errorf("an engine can't have its group: %v", err)
		}
		if err := joinCgroup(root, "/tare-x", 2); err == nil || !strings.Contains(err.Error(), "echo +cpu >") {
			t.Errorf("join: %v", err)
		}
	})
	t.Run("none", func(t *testing.T) {
		root := t.TempDir()
		if err := makeCgroup(root, "/tare-x", 2); err != nil {
			t.Error(err)
		}
		if err := joinCgroup(root, "/tare-x", 2); err == nil || !strings.Contains(err.Error(), "mount -t cgroup2") {
			t.Errorf("join: %v", err)
		}
	})
}
