package site_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tare/lab"
	"tare/probe"
	"tare/site"
	"tare/test/labtest"
)

// cpuGroupOf is the control group with the cpu controller that a process is in.
func cpuGroupOf(t *testing.T, pid string) string {
	t.Helper()
	text, err := os.ReadFile("/proc/" + pid + "/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	unified := ""
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		for controller := range strings.SplitSeq(parts[1], ",") {
			if controller == "cpu" {
				return parts[2]
			}
		}
		if parts[1] == "" {
			unified = parts[2]
		}
	}
	return unified
}

// cpusOf lists the CPUs that a process may use.
func cpusOf(t *testing.T, pid string) string {
	t.Helper()
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "Cpus_allowed_list:")
	return strings.Fields(list)[0]
}

// inLab lists the processes of a lab by the PID namespace of its keeper.
func inLab(t *testing.T, keeper int) []string {
	t.Helper()
	own, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", keeper))
	if err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob("/proc/[0-9]*/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	var pids []string
	for _, path := range all {
		if ns, err := os.Readlink(path); err == nil && ns == own { // else it has just ended
			pids = append(pids, strings.Split(path, "/")[2])
		}
	}
	return pids
}

// grouped reports whether a lab of this test's has a control group that it may join.
func grouped(t *testing.T) bool {
	t.Helper()
	inRoot, err := probe.InRootTaskGroup("/")
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 || !inRoot {
		t.Logf("uid %d, in the root task group: %t: the lab stays where it is", os.Geteuid(), inRoot)
		return false
	}
	return true
}

// What runs in a host is in the control group of its CPUs where the kernel groups by
// session, else where this test runs, as the keeper always is. The groups are removed
// with the lab.
func TestLabRunsInItsControlGroups(t *testing.T) {
	if !grouped(t) {
		return
	}
	labtest.NoLeaks(t)
	l, err := site.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Build(t.Context(), specOf("proxy", "tun-udp")); err != nil {
		t.Fatal(errors.Join(err, l.Close()))
	}
	for _, at := range []string{"proxy.h1", "tun-udp.h2/c1"} {
		if _, err := l.Agent(t.Context(), at, "server"); err != nil {
			t.Fatal(err)
		}
	}
	pids := inLab(t, l.KeeperPID())
	if least := 1 + 2 + 2 + 2; len(pids) < least { // the keeper, agents, and a daemon on each host
		t.Errorf("%d processes run in the lab, want %d or more", len(pids), least)
	}
	bySession, err := probe.Autogrouped("/")
	if err != nil {
		t.Error(err)
	}
	for _, pid := range pids {
		want := cpuGroupOf(t, "self")
		if bySession && pid != strconv.Itoa(l.KeeperPID()) {
			want = "/" + l.Topology.Spec.Cgroup + lab.CgroupMark + cpusOf(t, pid)
		}
		if got := cpuGroupOf(t, pid); got != want && !strings.HasPrefix(got, want+"/") {
			t.Errorf("process %s is in the control group %s, want %s", pid, got, want)
		}
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if left := groupsNamed(t, l.Topology.Spec.Cgroup); len(left) > 0 {
		t.Errorf("left behind: %s", strings.Join(left, " "))
	}
}

// hold builds a lab, prints the name of its control group and waits to be killed.
func hold() error {
	ctx := context.Background()
	l, err := site.Start(ctx)
	if err != nil {
		return err
	}
	if err := l.Build(ctx, specOf("proxy")); err != nil {
		return err
	}
	fmt.Println(l.Topology.Spec.Cgroup)
	select {}
}

// Of a lab whose owner was killed, the control group is removed by the next command.
func TestLabControlGroupOfKilledOwner(t *testing.T) {
	if !grouped(t) {
		return
	}
	labtest.NoLeaks(t)
	cmd := exec.Command("/proc/self/exe", "hold")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	name := strings.TrimSpace(line)
	if err != nil || len(groupsNamed(t, name)) == 0 {
		t.Fatalf("the lab has no control group %q, %v", name, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err := site.Sweep(); err != nil { // as any command does
		t.Error(err)
	}
	if left := groupsNamed(t, name); len(left) > 0 {
		t.Errorf("left behind: %s", strings.Join(left, " "))
	}
}

// ungrouped builds a lab where no control group with the cpu controller can be
// made, and prints each network's warnings on a line.
func ungrouped() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Unmount("/sys/fs/cgroup/cpu", unix.MNT_DETACH); err != nil {
		return err
	}
	ctx := context.Background()
	l, err := site.Start(ctx)
	if err != nil {
		return err
	}
	if err := l.Build(ctx, specOf("bridge", "docker-bridge")); err != nil {
		return errors.Join(err, l.Close())
	}
	for _, b := range l.Topology.Clusters {
		fmt.Printf("%s: %q %s\n", b.Name, b.Warnings, b.Error)
	}
	return l.Close()
}

// Where the lab can have no control group and autogroup is on, the numbers of
// engines carry a warning, and only theirs.
func TestRealEngineWithoutControlGroupWarns(t *testing.T) {
	on, err := probe.Autogrouped("/")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/sys/fs/cgroup/cpu/cpu.shares"); err != nil || !grouped(t) || !on {
		t.Logf("this machine weighs no sessions that it could be kept from weighing: autogroup %t, %v", on, err)
		return
	}
	labtest.NoLeaks(t)
	cmd := exec.Command("/proc/self/exe", "ungrouped")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	plain, engine, found := strings.Cut(string(out), "\n")
	if !found || plain != "bridge: [] " {
		t.Errorf("a network without an engine: %s", plain)
	}
	for _, text := range []string{"docker-bridge: [", `"autogroup: `, "/sys/fs/cgroup", "sysctl kernel.sched_autogroup_enabled=0"} {
		if !strings.Contains(engine, text) {
			t.Errorf("a network with an engine: %s: want %s", engine, text)
		}
	}
}
