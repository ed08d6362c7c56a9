package real

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// gone is how long the kernel gets to remove what no process holds any more.
const gone = 5 * time.Second

// leavesNothing checks that the machine is after the test as it was before.
func leavesNothing(t *testing.T) {
	t.Helper()
	before := footprint(t)
	t.Cleanup(func() {
		var left []string
		for deadline := time.Now().Add(gone); ; time.Sleep(50 * time.Millisecond) {
			left = slices.DeleteFunc(footprint(t), func(line string) bool { return slices.Contains(before, line) })
			if len(left) == 0 || time.Now().After(deadline) {
				break
			}
		}
		for _, line := range left {
			t.Errorf("after the cluster there is %s", line)
		}
	})
}

// footprint lists what a cluster may leave or change on the machine.
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
			lines = append(lines, file+": "+strings.TrimSpace(line))
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{
		"/sys/fs/cgroup/*/tare-lab-*", "/sys/fs/cgroup/*/kubepods*", "/run/*", "/run/netns/*", "/var/lib/*", "/var/log/*", "/etc/cni/*", "/opt/*",
		"/usr/libexec/*", "/tmp/*kube*", "/sys/class/net/*", filepath.Join(cache, "tare", "*"),
	} {
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
