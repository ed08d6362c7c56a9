package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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

// join joins the group of a test: version 2 gives a descriptor of its leaf.
func join(t *testing.T, root string, descriptor bool) {
	t.Helper()
	attr := new(syscall.SysProcAttr)
	close, err := joinCgroup(root, "/tare-x", 2, attr)
	if err != nil {
		t.Fatal(err)
	}
	if attr.UseCgroupFD != descriptor {
		t.Errorf("processes start by a group's descriptor: %t, want %t", attr.UseCgroupFD, descriptor)
	}
	if descriptor {
		path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", attr.CgroupFD))
		if err != nil || filepath.Base(path) != leaf {
			t.Errorf("the descriptor is of %q, %v, want %s", path, err, leaf)
		}
	}
	if err := close(); err != nil {
		t.Error(err)
	}
}

// A host's group is never below one with tasks on other CPUs.
func TestControlGroupNames(t *testing.T) {
	c := Config{Cgroup: "/tare-x"}
	for name, cpus := range map[string]CPUSet{"/tare-x": nil, "/tare-x+0": {0}, "/tare-x+0-2,5": {0, 1, 2, 5}} {
		if got := c.cgroupOf(cpus); got != name {
			t.Errorf("CPUs %v: %s, want %s", cpus, got, name)
		}
	}
	if got := (Config{}).cgroupOf(CPUSet{0}); got != "" {
		t.Errorf("a lab without control groups has %s", got)
	}
}

// The files of a machine's control groups, on two CPUs: what is written where. The
// folders are ordinary ones, so the kernel's own refusals are not tested here.
func TestControlGroupFiles(t *testing.T) {
	t.Run("version 1", func(t *testing.T) {
		root := t.TempDir()
		top := filepath.Join(root, "sys/fs/cgroup/cpu")
		group := filepath.Join(top, "tare-x")
		groupFiles(t, top, "cpu.shares")
		groupFiles(t, group, "cpu.shares", "tasks")
		if err := makeCgroup(root, "/tare-x", 2); err != nil {
			t.Fatal(err)
		}
		join(t, root, false)
		for name, want := range map[string]string{"cpu.shares": "2048", "tasks": "0"} {
			if got := contents(t, filepath.Join(group, name)); got != want {
				t.Errorf("%s holds %q, want %q", name, got, want)
			}
		}
	})
	t.Run("version 2", func(t *testing.T) {
		root := t.TempDir()
		top := filepath.Join(root, "sys/fs/cgroup")
		group := filepath.Join(top, "tare-x")
		groupFiles(t, top, "cgroup.controllers")
		groupFiles(t, group, "cpu.weight", "cgroup.procs", "cgroup.subtree_control")
		groupFiles(t, filepath.Join(group, leaf), "cpu.weight")
		if err := makeCgroup(root, "/tare-x", 2); err != nil {
			t.Fatal(err)
		}
		join(t, root, true)
		for path, want := range map[string]string{
			"cpu.weight": "200", "cgroup.subtree_control": "+cpu", "cgroup.procs": "", leaf + "/cpu.weight": "200",
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
		if _, err := joinCgroup(root, "/tare-x", 2, new(syscall.SysProcAttr)); err == nil || !strings.Contains(err.Error(), "echo +cpu >") {
			t.Errorf("join: %v", err)
		}
	})
	t.Run("none", func(t *testing.T) {
		root := t.TempDir()
		if err := makeCgroup(root, "/tare-x", 2); err != nil {
			t.Error(err)
		}
		if _, err := joinCgroup(root, "/tare-x", 2, new(syscall.SysProcAttr)); err == nil || !strings.Contains(err.Error(), "mount -t cgroup2") {
			t.Errorf("join: %v", err)
		}
	})
}
