package labtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// Labs are the PID namespaces of the labs that this test has started, itself or by a command.
func Labs(t testing.TB) []string {
	t.Helper()
	own, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, pid := range Marked(t) {
		name, err := os.Readlink("/proc/" + pid + "/ns/pid")
		if err == nil && name != own && !slices.Contains(all, name) { // else it has ended
			all = append(all, name)
		}
	}
	return all
}

// Inside lists the processes of labs, whatever marks they carry, but those of containers that have
// their own PID namespace.
func Inside(t testing.TB, labs []string) []string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	var pids []string
	for _, link := range links {
		if name, err := os.Readlink(link); err == nil && slices.Contains(labs, name) {
			pids = append(pids, filepath.Base(filepath.Dir(filepath.Dir(link))))
		}
	}
	return pids
}

// group is a lab's in a control group's path; what follows its name is for one set of CPUs.
var group = regexp.MustCompile(`/(tare-[^/+\n]+)`)

// Groups are how the names of the control groups begin that processes are in, if a lab made them.
func Groups(t testing.TB, pids []string) []string {
	t.Helper()
	var all []string
	for _, pid := range pids {
		text, _ := os.ReadFile("/proc/" + pid + "/cgroup") // none: it has ended
		for _, found := range group.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(all, found[1]) {
				all = append(all, found[1])
			}
		}
	}
	return all
}

// NoGroup waits until the control groups of a lab are removed, by the lab or by another command.
func NoGroup(t testing.TB, name string) {
	t.Helper()
	Await(t, "the control groups of "+name+" are removed", func() bool {
		left, err := filepath.Glob("/sys/fs/cgroup/*/" + name + "*")
		own, errOwn := filepath.Glob("/sys/fs/cgroup/" + name + "*")
		return err == nil && errOwn == nil && len(left)+len(own) == 0
	})
}
