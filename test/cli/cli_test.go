package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"tare/test/labtest"
	"tare/test/script"
)

// patience bounds every wait for something that should happen soon.
const patience = 20 * time.Second

func TestLabScripts(t *testing.T) { runScripts(t, "testdata/lab") }

// TestRealScripts runs those that need a Debian package.
func TestRealScripts(t *testing.T) { runScripts(t, "testdata/real") }

// TestDeepScripts runs those that ask for numbers or kill what serves, and long ones.
func TestDeepScripts(t *testing.T) { runScripts(t, "testdata/deep") }

// runScripts runs the scripts of a folder, several at the same time, beside those of the
// other folders.
func runScripts(t *testing.T, folder string) {
	t.Parallel()
	binary := labtest.Tare(t)
	commands := script.Commands()
	commands["interrupt"], commands["nothing"] = interrupt, nothingLeft
	testscript.Run(t, testscript.Params{
		Dir:         folder,
		WorkdirRoot: script.Folder(t),
		Setup:       func(env *testscript.Env) error { return setUp(env, binary, filepath.Base(folder)) },
		Cmds:        commands,
	})
}

// install writes a program by another process: had this one the file open, what
// another script starts at the same time would hold it, and the kernel would refuse to
// execute it (ETXTBSY).
func install(path string, content []byte) error {
	cmd := exec.Command("sh", "-c", `cat >"$1" && chmod 755 "$1"`, "sh", path)
	cmd.Stdin = bytes.NewReader(content)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("install %s: %w: %s", path, err, out)
	}
	return nil
}

// setUp gives each script its own copy of the binary, so that its processes can
// be distinguished from all others, a name for its lab, which those of other folders with its
// name do not have, and a folder that any user may write to.
func setUp(env *testscript.Env, binary, folder string) error {
	own := filepath.Join(env.WorkDir, "bin", "tare")
	if err := os.Mkdir(filepath.Dir(own), 0o755); err != nil {
		return err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	if err := errors.Join(install(own, content), install(filepath.Join(env.WorkDir, "bin", "nowhere"), []byte(nowhere))); err != nil {
		return err
	}
	env.Setenv("TARE", own)
	env.Setenv("PATH", filepath.Dir(own)+":"+env.Getenv("PATH")+":/usr/sbin:/sbin")
	env.Defer(func() { endAll(env, own) })
	// The ledger of an ordinary user's labs.
	env.Setenv("XDG_RUNTIME_DIR", "")
	env.Setenv("TMPDIR", env.WorkDir)
	// One short cell: enough for what is no question of numbers.
	env.Setenv("CELL", "--networks=host --paths=same-host --workloads=tcp_rr --design=windows --duration=100ms --warmup=5ms")
	env.Setenv("LAB", fmt.Sprintf("%d-%s-%s", os.Getpid(), folder, strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")))
	user := ""
	if os.Geteuid() == 0 {
		user = "setpriv --reuid=65534 --regid=65534 --clear-groups"
	}
	env.Setenv("AS_USER", user)
	return os.Chmod(env.WorkDir, 0o777)
}

// endAll ends what a script that failed has left: only what runs its own
// binary, or was started by it.
func endAll(env *testscript.Env, own string) {
	pids, err := runs(own)
	if err != nil {
		env.T().Log(err)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			env.T().Log(err)
		}
	}
	if len(pids) > 0 {
		down := exec.Command(own, "lab", "down", "--name", env.Getenv("LAB"))
		out, err := down.CombinedOutput()
		env.T().Log(string(out), err)
	}
}

// runs gives the processes that run a binary, and those that it started: they
// have its environment.
func runs(binary string) ([]int, error) {
	own, err := os.Stat(binary)
	if err != nil {
		return nil, err
	}
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	var pids []int
	for _, link := range links {
		if info, err := os.Stat(link); err != nil || !os.SameFile(info, own) && !startedBy(binary, link) {
			continue // it has ended, or is somebody else's
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	return pids, err
}

// startedBy reports whether the process of a link in /proc has the environment of
// a script with that binary.
func startedBy(binary, link string) bool {
	env, err := os.ReadFile(filepath.Join(filepath.Dir(link), "environ"))
	return err == nil && bytes.Contains(env, []byte("TARE="+binary+"\x00"))
}

// interrupt SIGNAL STATUS FILE[:WORD] COMMAND... starts a command, sends it the
// signal as soon as FILE is there and has WORD in it, and checks its exit status;
// 128 and more means that a signal ended it.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: interrupt SIGNAL STATUS FILE[:WORD] COMMAND...")
	}
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL}
	sig, known := signals[args[0]]
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	if !known {
		ts.Fatalf("unknown signal %s", args[0])
	}
	words := strings.Fields(strings.Join(args[3:], " "))
	path := words[0]
	if path == "tare" {
		path = ts.Getenv("TARE")
	}
	command := exec.Command(path, words[1:]...)
	command.Dir = ts.MkAbs(".")
	command.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "XDG_RUNTIME_DIR=", "TMPDIR="+command.Dir, "PATH="+ts.Getenv("PATH"))
	log, err := os.Create(ts.MkAbs("interrupted.txt"))
	ts.Check(err)
	defer log.Close()
	command.Stdout, command.Stderr = log, log
	ts.Check(command.Start())
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	file, word, _ := strings.Cut(args[2], ":")
	appeared := waitFor(func() bool {
		text, err := os.ReadFile(ts.MkAbs(file))
		return err == nil && strings.Contains(string(text), word)
	})
	ts.Check(command.Process.Signal(sig))
	select {
	case err = <-ended:
	case <-time.After(patience):
		ts.Check(command.Process.Kill())
		ts.Fatalf("%s still ran %v after SIG%s", words[0], patience, args[0])
	}
	if !appeared {
		ts.Fatalf("%s was not there after %v:\n%s", args[2], patience, ts.ReadFile("interrupted.txt"))
	}
	ts.Check(exitsWith(err, want))
}

func exitsWith(err error, want int) error {
	var exit *exec.ExitError
	got := 0
	if errors.As(err, &exit) {
		state, ok := exit.Sys().(syscall.WaitStatus)
		if got = exit.ExitCode(); ok && state.Signaled() {
			got = 128 + int(state.Signal())
		}
	} else if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("exit status %d, want %d", got, want)
	}
	return nil
}

// waitFor asks until it is so, or patience ends.
func waitFor(so func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		if so() {
			return true
		}
	}
	return so()
}

// nothing left: no process of the script's binary runs, and so no namespace
// of it is held; no temporary file of a result lies about.
func nothingLeft(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || args[0] != "left" {
		ts.Fatalf("usage: nothing left")
	}
	var running []int
	gone := waitFor(func() bool {
		var err error
		running, err = runs(ts.Getenv("TARE"))
		ts.Check(err)
		return len(running) == 0
	})
	if !gone {
		ts.Fatalf("still running: %v", running)
	}
	hidden, err := filepath.Glob(ts.MkAbs(".*.json.*"))
	ts.Check(err)
	if len(hidden) > 0 {
		ts.Fatalf("left behind: %v", hidden)
	}
}

// nowhere runs a command where no namespace can be made. The limits are those of a new
// user namespace, never the machine's.
const nowhere = `#!/bin/sh
exec unshare -Ur sh -c '
for limit in user net pid mnt; do
	echo 0 > /proc/sys/user/max_${limit}_namespaces || exit 99
done
exec setpriv --bounding-set=-all --inh-caps=-all "$@"' sh "$@"
`
