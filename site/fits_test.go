package site_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tare/site"
	"tare/test/labtest"
)

// A lab that would not fit is refused with the number, the limit and the command, before
// anything is built.
func TestTooLargeLabsAreRefused(t *testing.T) {
	large := site.Spec{Clusters: []site.ClusterSpec{
		{Name: "host", Network: "host", Hosts: 40, Containers: 10}, {Name: "route", Network: "route", Hosts: 40, Containers: 10},
	}}
	for want, c := range map[string]struct {
		files       map[string]string
		descriptors int
	}{
		"": {map[string]string{"proc/sys/user/max_net_namespaces": "482\n", "proc/meminfo": "MemAvailable: 1048576 kB\n"}, 1100},
		"the lab needs 482 network namespaces, and this machine allows 440: sysctl user.max_net_namespaces=482": {
			map[string]string{"proc/sys/user/max_net_namespaces": "440\n"}, -1},
		"the lab needs 1064 open files, and this machine allows 900: ulimit -Hn 1064, as root": {nil, 900},
		"the lab needs 241 MiB of memory, and this machine allows 100: use fewer --hosts or --containers than for 241 MiB": {
			map[string]string{"proc/meminfo": "MemTotal: 9 kB\nMemAvailable: 102400 kB\n"}, -1},
		"the lab needs 100 threads in its control group, and this machine allows 50: let the group of this shell have 100 more (pids.max; with systemd TasksMax)": {
			map[string]string{"proc/self/cgroup": "5:pids:/a/b\n1:cpu:/\n", "sys/fs/cgroup/pids/a/pids.max": "300\n", "sys/fs/cgroup/pids/a/pids.current": "250\n", "sys/fs/cgroup/pids/a/b/pids.max": "max\n"}, -1},
		"the lab needs 241 MiB of memory in its control group, and this machine allows 64: let the group of this shell have 241 MiB more": {
			map[string]string{"proc/self/cgroup": "0::/user\n", "sys/fs/cgroup/user/memory.max": "67108864\n"}, -1},
		"the lab needs 16 entries in the table of neighbours, and this machine allows 8: sysctl net.ipv4.neigh.default.gc_thresh3=16": {
			map[string]string{"proc/sys/net/ipv4/neigh/default/gc_thresh3": "8\n"}, -1},
	} {
		root := t.TempDir()
		for path, text := range c.files {
			if err := os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := site.Fits(large, root, c.descriptors)
		text := ""
		if err != nil {
			text = err.Error()
			labtest.Equal(t, "it is a limit's", errors.As(err, new(*site.LimitError)), true)
		}
		labtest.Equal(t, "error", text, want)
	}
}
