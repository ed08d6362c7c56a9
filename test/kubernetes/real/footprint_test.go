package real

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// gone is more than the kernel takes to remove what no process holds any more.
const gone = time.Minute

// killedBefore takes down what a run left that was killed: its clusters have the names of this
// one's, but their API servers are out of reach.
func killedBefore(t *testing.T) {
	t.Helper()
	labs, err := filepath.Glob("/run/tare/test-*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, lab := range labs {
		cluster{t: t, name: strings.TrimSuffix(filepath.Base(lab), ".json")}.down()
	}
}

// leavesNothing checks that nothing of a cluster is on the machine after the test that was not
// there before.
func leavesNothing(t *testing.T) {
	t.Helper()
	before := footprint(t)
	t.Cleanup(func() {
		var left []string
		soon(gone, func() bool {
			left = slices.DeleteFunc(footprint(t), func(line string) bool { return slices.Contains(before, line) })
			return len(left) == 0
		})
		for _, line := range left {
			t.Errorf("after the cluster there is %s", line)
		}
	})
}

// parts are in the names of all that a cluster's programs make where they run.
var parts = []string{"kube", "containerd", "etcd", "cni", "flannel"}

// footprint lists what a cluster may leave or change on the machine. What others make there at
// the same time has other names.
func footprint(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, file := range []string{
		"/proc/self/mounts", "/proc/sys/vm/overcommit_memory", "/proc/sys/kernel/panic", "/proc/sys/kernel/panic_on_oops",
		"/proc/sys/kernel/keys/root_maxkeys", "/proc/sys/kernel/keys/root_maxbytes", "/proc/sys/net/netfilter/nf_conntrack_max",
	} {
		text, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			ofCluster := slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(line, part) })
			if file != "/proc/self/mounts" || ofCluster {
				lines = append(lines, file+": "+strings.TrimSpace(line))
			}
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	patterns := []string{"/sys/fs/cgroup/tare-lab-test-*", "/sys/fs/cgroup/*/tare-lab-test-*", "/run/tare/test-*", filepath.Join(cache, "tare", "kubernetes-test-*"), "/tmp/*kube*"}
	for _, folder := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/*", "/run", "/run/netns", "/var/lib", "/var/log", "/etc/cni", "/opt", "/usr/libexec", "/sys/class/net"} {
		for _, part := range parts {
			patterns = append(patterns, filepath.Join(folder, "*"+part+"*"))
		}
	}
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, paths...)
	}
	return append(lines, processes(t, mark)...)
}

// mark begins what is in the environment of a cluster's processes, by which they are
// distinguished from what others do on the machine. The cluster's name follows.
const mark = "TARE_TEST_OF="

// processes lists the processes that the tests have started in a cluster; of is how the mark
// begins.
func processes(t *testing.T, of string) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, path := range paths {
		environ, err := os.ReadFile(path)
		marked := slices.ContainsFunc(strings.Split(string(environ), "\x00"), func(v string) bool { return strings.HasPrefix(v, of) })
		if err != nil || !marked {
			continue // it has just ended, or is another's
		}
		command, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if err == nil {
			lines = append(lines, filepath.Dir(path)+": "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return lines
}
