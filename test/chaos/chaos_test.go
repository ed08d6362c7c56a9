package chaos

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tare/result"
	"tare/test/labmain"
	"tare/test/labtest"
)

var (
	rounds = flag.Int("rounds", 10, "how often something goes wrong")
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
		{"run", []string{"tare run --networks route,vxlan --paths cross-host,same-host --workloads tcp_stream,tcp_rr --blocks 6 --duration 20ms --out result.json"}},
		{"windows", []string{"tare run --networks bridge,proxy --paths published-port,same-host --workloads tcp_rr --design windows --blocks 6 --duration 20ms --out result.json"}},
		{"lab", []string{
			"tare lab up route --name %s", "tare lab exec --name %[1]s h1 -- ping -qc 2 -i 0.2 10.0.0.2",
			"tare run --lab %[1]s --paths cross-host --workloads tcp_rr --blocks 6 --duration 20ms --out result.json", "tare lab down --name %[1]s",
		}},
		{"doctor", []string{"tare lab up bridge --name %s", "tare doctor --lab %[1]s", "tare lab down --name %[1]s"}},
		{"list", []string{"tare list networks"}},
	}
}

// trouble is what goes wrong: in the shell's surroundings before its commands, or at a
// moment while they run.
type trouble struct {
	name   string
	before string // of the shell's lines
	strike func(t *testing.T, tare string, shell int)
}

func troubles() []trouble {
	kill := func(which string) func(*testing.T, string, int) {
		return func(t *testing.T, tare string, shell int) { signal(t, which, shell, syscall.SIGKILL) }
	}
	return []trouble{
		{"kill -9 of tare", "", kill("tare")},
		{"kill -9 of a keeper", "", kill("keeper")},
		{"kill -9 of an agent", "", kill("agent")},
		{"kill -9 of any process", "", kill("")},
		{"SIGSTOP of any process for 5 s", "", func(t *testing.T, _ string, shell int) {
			if pid := signal(t, "", shell, syscall.SIGSTOP); pid > 0 {
				time.Sleep(5 * time.Second)
				_ = syscall.Kill(pid, syscall.SIGCONT) // it may have been killed
			}
		}},
		{"Ctrl-C", "", func(t *testing.T, _ string, shell int) { _ = syscall.Kill(-shell, syscall.SIGINT) }},
		{"a full disk", "mount -t tmpfs -o size=64k none . && cd \"$PWD\" && dd if=/dev/zero of=full bs=1k count=60 2>/dev/null", nil},
		{"a folder that can't be written to", "mount --bind . . && mount -o remount,bind,ro . && cd \"$PWD\"", nil},
	}
}

// TestLabChaos lets something go wrong in each round, and then looks for what is left.
func TestLabChaos(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	draw := rand.New(rand.NewPCG(*seed, 1))
	t.Logf("seed %d", *seed)
	tare := labtest.Tare(t)
	for round := range *rounds {
		v, w := verbs()[draw.IntN(len(verbs()))], troubles()[draw.IntN(len(troubles()))]
		after := time.Duration(draw.Int64N(int64(longest)))
		t.Run(fmt.Sprintf("%d %s, %s after %v", round+1, v.name, w.name, after.Round(time.Millisecond)), func(t *testing.T) {
			labtest.NoLeaks(t)
			suffer(t, tare, v, w, after)
		})
	}
}

// suffer does one round.
func suffer(t *testing.T, tare string, v verb, w trouble, after time.Duration) {
	folder, name := t.TempDir(), fmt.Sprintf("chaos-%d", os.Getpid())
	groups := cgroups(t)
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
	if w.strike != nil {
		select {
		case <-time.After(after):
			w.strike(t, tare, shell.Process.Pid)
		case err := <-ended: // before anything went wrong
			ended <- err
		}
	}
	select {
	case err := <-ended:
		if status := shell.ProcessState.ExitCode(); status == 99 {
			t.Fatalf("the trouble could not be made: %v\n%s", err, printed.String())
		}
	case <-time.After(2 * time.Minute):
		_ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL)
		t.Fatalf("it does not end\n%s", printed.String())
	}
	if strings.Contains(printed.String(), "panic:") || strings.Contains(printed.String(), "goroutine ") {
		t.Errorf("it panicked:\n%s", printed.String())
	}
	restore(t, tare, name)
	whole(t, filepath.Join(folder, "result.json"))
	if left := cgroups(t); left != groups {
		t.Errorf("control groups %s, before %s", left, groups)
	}
}

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
	out, err = exec.Command(tare, "run", "--networks", "host", "--paths", "same-host", "--workloads", "tcp_rr", "--blocks", "1", "--duration", "20ms", "--out", next).CombinedOutput()
	if err != nil {
		t.Errorf("the next command: %v\n%s", err, out)
	}
	if _, err := os.Stat("/run/tare"); err == nil {
		left, _ := filepath.Glob("/run/tare/*")
		t.Errorf("the ledger has %v", left)
	}
}

// whole holds that a result can be read, if it is there.
func whole(t *testing.T, path string) {
	t.Helper()
	if _, err := result.ReadFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a result: %v", err)
	}
}

// cgroups are tare's control groups.
func cgroups(t *testing.T) string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"/sys/fs/cgroup/tare*", "/sys/fs/cgroup/*/tare*"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return strings.Join(all, " ")
}

// signal sends a signal to one of the processes of tare that the shell has started, of a
// kind or any, and gives its number; 0: there is none at this moment.
func signal(t *testing.T, which string, shell int, s syscall.Signal) int {
	t.Helper()
	var pids []int
	for _, text := range labtest.Marked(t) {
		var pid int
		if _, err := fmt.Sscan(text, &pid); err != nil || pid == os.Getpid() || pid == shell {
			continue
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		words := strings.Split(string(line), "\x00")
		if err != nil || len(words) < 2 || !strings.HasSuffix(words[0], "tare") && words[0] != "/proc/self/exe" {
			continue
		}
		kind := words[1]
		if kind != "keeper" && kind != "agent" {
			kind = "tare"
		}
		if which == "" || which == kind {
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 {
		return 0
	}
	pid := pids[rand.IntN(len(pids))]
	_ = syscall.Kill(pid, s) // it may have ended
	return pid
}
