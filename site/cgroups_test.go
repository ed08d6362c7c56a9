package site_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"tare/lab"
	"tare/site"
	"tare/test/labtest"
)

// TestLabUserEngines runs the tests of engines as the init of a lab.
func TestLabUserEngines(t *testing.T) {
	labtest.NoLeaks(t)
	runtime.LockOSThread() // the parent-death signal is that of the thread
	defer runtime.UnlockOSThread()
	cmd := exec.Command("/proc/self/exe", "engines")
	cmd.SysProcAttr = lab.Attributes(true)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// hierarchies are the roots of the machine's control groups.
func hierarchies(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("/sys/fs/cgroup/*/cgroup.procs") // version 1
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.procs"); err == nil {
		found = append(found, "/sys/fs/cgroup/cgroup.procs")
	}
	for n := range found {
		found[n] = filepath.Dir(found[n])
	}
	return found
}

// groups are those of a lab that exist, in all hierarchies.
func groups(t *testing.T, name string) []string {
	t.Helper()
	return groupsNamed(t, site.CgroupsOf(name))
}

// groupsNamed are the control groups whose names begin so, in all hierarchies.
func groupsNamed(t *testing.T, name string) []string {
	t.Helper()
	var all []string
	for _, root := range hierarchies(t) {
		found, err := filepath.Glob(filepath.Join(root, name+"*"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

// makeGroups makes groups of a lab in every hierarchy, that of a host with one in
// it, as an engine does.
func makeGroups(t *testing.T, name string) {
	t.Helper()
	for _, root := range hierarchies(t) {
		for _, group := range []string{site.CgroupsOf(name), hostGroup(name) + "/docker/c1"} {
			if err := os.MkdirAll(filepath.Join(root, group), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(groups(t, name)) == 0 {
		t.Fatal("this machine has no control groups")
	}
}

// hostGroup is the group of a lab's host that is bound to CPU 0.
func hostGroup(name string) string { return site.CgroupsOf(name) + lab.CgroupMark + "0" }

// claim claims a lab's groups, prints that, and waits to be killed.
func claim(name string) error {
	file, err := site.ClaimCgroups(name)
	if err != nil {
		return err
	}
	fmt.Println("claimed")
	_, err = os.Stdin.Read(make([]byte, 1)) // nobody writes
	return errors.Join(err, site.ReleaseCgroups(file))
}

// TestLabCgroupsOfKilledOwners: groups exist while their owner lives, even if
// another command sweeps, and the next command after it was killed removes them.
func TestLabCgroupsOfKilledOwners(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Logf("uid %d makes no control groups", os.Geteuid())
		return
	}
	name := labName("killed-groups")
	cmd := exec.Command("/proc/self/exe", "claim", name)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // open as long as the process lives
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	makeGroups(t, name)
	if err := site.Sweep(); err != nil {
		t.Error(err)
	}
	if len(groups(t, name)) == 0 {
		t.Error("the groups of an owner that lives were removed")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("a killed owner ends without an error")
	}
	if err := site.Sweep(); err != nil { // as any command does
		t.Error(err)
	}
	if left := groups(t, name); len(left) > 0 {
		t.Errorf("left behind: %s", strings.Join(left, " "))
	}
	if left, err := filepath.Glob("/run/tare/" + name + "*"); err != nil || len(left) > 0 {
		t.Errorf("the ledger has %v, %v", left, err)
	}
}

// TestLabCgroupsAreReleased: an owner that ends in order takes its groups along,
// also those in which something still ends.
func TestLabCgroupsAreReleased(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Logf("uid %d makes no control groups", os.Geteuid())
		return
	}
	name := labName("released-groups")
	file, err := site.ClaimCgroups(name)
	if err != nil {
		t.Fatal(err)
	}
	makeGroups(t, name)
	sleeper := exec.Command("sleep", "100")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(hierarchies(t)[0], hostGroup(name), "docker", "c1", "cgroup.procs")
	if err := os.WriteFile(inside, fmt.Append(nil, sleeper.Process.Pid), 0o644); err != nil {
		t.Fatal(err)
	}
	released := make(chan error, 1)
	go func() { released <- site.ReleaseCgroups(file) }()
	empty := filepath.Join(hierarchies(t)[0], site.CgroupsOf(name))
	labtest.Await(t, "the groups are being removed", func() bool { _, err := os.Stat(empty); return err != nil })
	late := filepath.Join(hierarchies(t)[0], site.CgroupsOf(name)+lab.CgroupMark+"1", "docker", "c2") // of an engine that is being killed
	if err := os.MkdirAll(late, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := sleeper.Process.Signal(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	var exit *exec.ExitError
	if err := sleeper.Wait(); !errors.As(err, &exit) {
		t.Error(err)
	}
	if err := <-released; err != nil {
		t.Error(err)
	}
	if left := groups(t, name); len(left) > 0 {
		t.Errorf("left behind: %s", strings.Join(left, " "))
	}
}
