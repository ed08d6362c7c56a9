package chaos

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tare/result"
	"tare/test/labmain"
	"tare/test/labtest"
)

var (
	rounds = flag.Int("rounds", 0, "how often something goes wrong; 0: ten times, in a virtual machine five")
	seed   = flag.Uint64("seed", 0, "of the order; 0: drawn")
)

func TestMain(m *testing.M) {
	flag.Parse()
	labmain.Run(m, "chaos", nil)
}

// longest is about what the longest verb takes.
const longest = 4 * time.Second

// verb is what a user does; %s is a name of the round.
type verb struct {
	name  string
	lines []string // for a shell
}

func verbs() []verb {
	return []verb{
		{"run", []string{"tare run --networks route,vxlan --paths cross-host --workloads tcp_stream,tcp_rr --blocks 3 --duration 20ms --out result.json"}},
		{"windows", []string{"tare run --networks bridge,proxy --paths published-port,same-host --workloads tcp_rr --design windows --blocks 6 --duration 20ms --out result.json"}},
		{"lab", []string{
			"tare lab up route --name %s", "tare lab exec --name %[1]s h1 -- ping -qc 2 -i 0.2 10.0.0.2",
			"tare run --lab %[1]s --paths cross-host --workloads tcp_rr --blocks 6 --duration 20ms --out result.json", "tare lab down --name %[1]s",
		}},
		{"doctor", []string{"tare lab up bridge --name %s", "tare doctor --lab %[1]s", "tare lab down --name %[1]s"}},
		{"list", []string{"tare list networks --probe"}},
	}
}

// engines is what a user does where real parts run in the lab.
func engines() []verb {
	run := func(networks, paths string) verb {
		return verb{networks, []string{"tare run --networks " + networks + " --paths " + paths + " --workloads tcp_rr --blocks 2 --duration 20ms --out result.json"}}
	}
	return []verb{
		run("docker-bridge", "same-host"), run("docker-overlay", "cross-host"), run("containerd-bridge", "same-host"),
		run("flannel-vxlan", "cross-host"), run("ovs-vxlan", "cross-host"), run("bgp", "cross-host"),
	}
}

// trouble is what goes wrong: in the shell's surroundings before its commands, or at a
// moment while they run.
type trouble struct {
	name   string
	before string // of the shell's lines
	strike func(t *testing.T, draw *rand.Rand, shell int)
	after  func(t *testing.T) // the machine is as before; nil: it is
}

func troubles() []trouble {
	kill := func(which string) func(*testing.T, *rand.Rand, int) {
		return func(t *testing.T, draw *rand.Rand, shell int) { signal(t, draw, which, shell, syscall.SIGKILL) }
	}
	return []trouble{
		{name: "kill -9 of tare", strike: kill("tare")},
		{name: "kill -9 of a keeper", strike: kill("keeper")},
		{name: "kill -9 of an agent", strike: kill("agent")},
		{name: "kill -9 of any process", strike: kill("")},
		{name: "SIGSTOP of any process for 5 s", strike: func(t *testing.T, draw *rand.Rand, shell int) {
			if pid := signal(t, draw, "", shell, syscall.SIGSTOP); pid > 0 {
				<-time.After(5 * time.Second)
				_ = syscall.Kill(pid, syscall.SIGCONT) // it may have been killed
			}
		}},
		{name: "Ctrl-C", strike: func(_ *testing.T, _ *rand.Rand, shell int) { _ = syscall.Kill(-shell, syscall.SIGINT) }},
		{name: "a full disk", before: "mount -t tmpfs -o size=64k none . && cd \"$PWD\" && dd if=/dev/zero of=full bs=1k count=60 2>/dev/null"},
		{name: "a folder that can't be written to", before: "mount --bind . . && mount -o remount,bind,ro . && cd \"$PWD\""},
	}
}

// scarce is a control group with too little memory: the kernel kills what runs in it.
// tare is on a tmpfs there. From a disk its pages could be dropped and read again for
// ever, and nothing be killed.
func scarce(memory string) trouble {
	folder, limit, offer := "/sys/fs/cgroup/memory/chaos", "memory.limit_in_bytes", "true"
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil { // version 2
		folder, limit, offer = "/sys/fs/cgroup/chaos", "memory.max", "echo +memory >/sys/fs/cgroup/cgroup.subtree_control"
	}
	return trouble{
		name: memory + " of memory",
		before: "mkdir bin && mount -t tmpfs none bin && cp $(command -v tare) bin && PATH=$PWD/bin:$PATH && " +
			fmt.Sprintf("%[4]s && mkdir %[1]s && echo %[3]s >%[1]s/%[2]s && echo $$ >%[1]s/cgroup.procs", folder, limit, memory, offer),
		after: func(t *testing.T) {
			if err := os.Remove(folder); err != nil {
				t.Errorf("what ran in little memory is still there: %v", err)
			}
		},
	}
}

// TestDeepChaos lets something go wrong in each round, and then looks for what is left.
func TestDeepChaos(t *testing.T) {
	disturb(t, 10, verbs(), append(troubles(), scarce("40M"), scarce("80M")))
}

// TestDeepChaosOfEngines does so where engines run.
func TestDeepChaosOfEngines(t *testing.T) {
	killed := trouble{name: "kill -9 of an engine's process", strike: func(t *testing.T, draw *rand.Rand, shell int) {
		signal(t, draw, "engine", shell, syscall.SIGKILL)
	}}
	disturb(t, 10, engines(), append(troubles(), killed, killed, killed))
}

// TestVMChaos has control groups of version 2 alone, and a clock that may be set back.
func TestVMChaos(t *testing.T) {
	labtest.NeedsVM(t)
	back := trouble{
		name:   "the clock set back by an hour",
		strike: func(t *testing.T, _ *rand.Rand, _ int) { turnClock(t, -time.Hour) },
		after:  func(t *testing.T) { turnClock(t, time.Hour) },
	}
	disturb(t, 5, verbs(), []trouble{back, back, scarce("40M"), troubles()[0], troubles()[1]})
}

// turnClock sets the clock of the machine.
func turnClock(t *testing.T, by time.Duration) {
	t.Helper()
	to := syscall.NsecToTimeval(time.Now().Add(by).UnixNano())
	if err := syscall.Settimeofday(&to); err != nil {
		t.Fatalf("set the clock: %v", err)
	}
}

// disturb does the rounds, as many as the flag says or else usual.
func disturb(t *testing.T, usual int, verbs []verb, troubles []trouble) {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	draw := rand.New(rand.NewPCG(*seed, 1))
	t.Logf("seed %d", *seed)
	tare := labtest.Tare(t)
	for round := range cmp.Or(*rounds, usual) {
		v, w := verbs[draw.IntN(len(verbs))], troubles[draw.IntN(len(troubles))]
		after := time.Duration(draw.Int64N(int64(longest)))
		t.Run(fmt.Sprintf("%d %s, %s after %v", round+1, v.name, w.name, after.Round(time.Millisecond)), func(t *testing.T) {
			labtest.NoLeaks(t)
			suffer(t, draw, tare, v, w, after)
		})
	}
}

// suffer does one round.
func suffer(t *testing.T, draw *rand.Rand, tare string, v verb, w trouble, after time.Duration) {
	folder, name := t.TempDir(), fmt.Sprintf("chaos-%d", os.Getpid())
	groups, labs := cgroups(t), ledger(t)
	lines := []string{"PATH=" + filepath.Dir(tare) + ":$PATH:/usr/sbin:/sbin"}
	if w.before != "" {
		lines = append(lines, w.before+" || exit 99")
	}
	for _, line := range v.lines {
		if strings.Contains(line, "%") {
			line = fmt.Sprintf(line, name)
		}
		lines = append(lines, line)
	}
	var printed bytes.Buffer
	shell := exec.Command("unshare", "-m", "sh", "-c", strings.Join(lines, "\n"))
	shell.Dir, shell.Stdout, shell.Stderr = folder, &printed, &printed
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.WaitDelay = 30 * time.Second
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- shell.Wait() }()
	struck := w.strike == nil
	if w.strike != nil {
		select {
		case <-time.After(after):
			w.strike(t, draw, shell.Process.Pid)
			struck = true
		case err := <-ended: // before anything went wrong
			ended <- err
		}
	}
	select {
	case err := <-ended:
		if status := shell.ProcessState.ExitCode(); status == 99 {
			t.Fatalf("the trouble could not be made: %v\n%s", err, printed.String())
		}
	case <-time.After(hangs):
		_ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL)
		t.Fatalf("it does not end\n%s", printed.String())
	}
	if strings.Contains(printed.String(), "panic:") || strings.Contains(printed.String(), "goroutine ") {
		t.Errorf("it panicked:\n%s", printed.String())
	}
	restore(t, tare, name)
	if w.after != nil && struck {
		w.after(t)
	}
	whole(t, filepath.Join(folder, "result.json"))
	labtest.Equal(t, "control groups", cgroups(t), groups)
	labtest.Equal(t, "ledger", ledger(t), labs)
}

// hangs is after how long a command does not end any more. In a guest, and in too little memory, one
// network of tare list after the other waits for a daemon that the kernel has killed.
const hangs = 10 * time.Minute

// restore takes down what a user would, and does a command that must work.
func restore(t *testing.T, tare, name string) {
	t.Helper()
	out, err := exec.Command(tare, "lab", "list").CombinedOutput()
	if err != nil {
		t.Errorf("tare lab list: %v\n%s", err, out)
	}
	if strings.Contains(string(out), name) {
		if out, err := exec.Command(tare, "lab", "down", "--name", name).CombinedOutput(); err != nil {
			t.Errorf("tare lab down: %v\n%s", err, out)
		}
	}
	next := filepath.Join(t.TempDir(), "next.json")
	out, err = exec.Command(tare, "run", "--networks", "host", "--paths", "same-host", "--workloads", "tcp_rr", "--design", "windows", "--blocks", "1", "--duration", "20ms", "--out", next).CombinedOutput()
	if err != nil {
		t.Errorf("the next command: %v\n%s", err, out)
	}
}

// ledger is the ledger of labs and what it holds; empty: there is none.
func ledger(t *testing.T) string { return paths(t, "/run/tare", "/run/tare/*") }

// cgroups are tare's control groups.
func cgroups(t *testing.T) string { return paths(t, "/sys/fs/cgroup/tare*", "/sys/fs/cgroup/*/tare*") }

// paths are those that some patterns match.
func paths(t *testing.T, patterns ...string) string {
	t.Helper()
	var all []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return strings.Join(all, " ")
}

// whole holds that a result can be read, if it is there.
func whole(t *testing.T, path string) {
	t.Helper()
	if _, err := result.ReadFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a result: %v", err)
	}
}

// signal sends a signal to one of the processes that the shell has started: a tare, a
// keeper, an agent, a process of an engine, or any. It gives its number; 0: there is none
// at this moment.
func signal(t *testing.T, draw *rand.Rand, which string, shell int, s syscall.Signal) int {
	t.Helper()
	var pids []int
	for _, text := range labtest.Marked(t) {
		var pid int
		if _, err := fmt.Sscan(text, &pid); err != nil || pid == os.Getpid() || pid == shell {
			continue
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		words := strings.Split(string(line), "\x00")
		if err != nil || len(words) < 2 {
			continue
		}
		kind := words[1]
		switch {
		case !strings.HasSuffix(words[0], "tare") && words[0] != "/proc/self/exe":
			kind = "engine"
		case kind != "keeper" && kind != "agent":
			kind = "tare"
		}
		if which == "" || which == kind {
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 {
		return 0
	}
	slices.Sort(pids)
	pid := pids[draw.IntN(len(pids))]
	_ = syscall.Kill(pid, s) // it may have ended
	return pid
}
