package probe

import (
	"os"
	"path/filepath"
	"testing"
)

// machineWith makes a root folder with these files.
func machineWith(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range files {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestAutogrouped(t *testing.T) {
	const on, own = "proc/sys/kernel/sched_autogroup_enabled", "proc/self/cgroup"
	for about, c := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"a kernel without autogroup": {map[string]string{own: "0::/\n"}, false},
		"autogroup off":              {map[string]string{on: "0\n", own: "0::/\n"}, false},
		"no control groups":          {map[string]string{on: "1\n"}, true},
		"version 1, the root": {map[string]string{
			on: "1\n", own: "2:cpuset:/a\n1:cpu,cpuacct:/\n0::/\n",
			"sys/fs/cgroup/cpu/cpu.shares": "1024\n", "sys/fs/cgroup/cpu/release_agent": "\n",
		}, true},
		"version 1, a group": {map[string]string{on: "1\n", own: "1:cpu,cpuacct:/a\n0::/\n"}, false},
		"version 1, a container's root": {map[string]string{
			on: "1\n", own: "1:cpu:/\n", "sys/fs/cgroup/cpu/cpu.shares": "1024\n",
		}, false},
		"version 1, out of sight": {map[string]string{on: "1\n", own: "1:cpu:/\n"}, true},
		"version 2, the root":     {map[string]string{on: "1\n", own: "0::/\n", "sys/fs/cgroup/cgroup.procs": ""}, true},
		"version 2, a group with the controller": {map[string]string{
			on: "1\n", own: "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.weight": "100\n",
		}, false},
		"version 2, below a group with the controller": {map[string]string{
			on: "1\n", own: "0::/a/b\n", "sys/fs/cgroup/a/cpu.weight": "100\n",
		}, false},
		"version 2, a group without the controller": {map[string]string{
			on: "1\n", own: "0::/a/b\n", "sys/fs/cgroup/a/b/cgroup.procs": "",
		}, true},
		"version 2, a container's root": {map[string]string{
			on: "1\n", own: "0::/\n", "sys/fs/cgroup/cpu.weight": "100\n",
		}, false},
	} {
		got, err := Autogrouped(machineWith(t, c.files))
		if err != nil || got != c.want {
			t.Errorf("%s: %t, %v; want %t", about, got, err, c.want)
		}
	}
}
