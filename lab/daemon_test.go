package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tare/test/labtest"
)

// hasFile is ready once a file is there.
func hasFile(path string) func() error {
	return func() error { _, err := os.Stat(path); return err }
}

// hasText is for a file that its writer may be killed before it has written to.
func hasText(path string) func() error {
	return func() error {
		text, err := os.ReadFile(path)
		if err == nil && len(text) == 0 {
			err = errors.New("it is empty")
		}
		return err
	}
}

func testStartDaemon(t *testing.T) {
	l := open(t)
	cluster := setUp(t, l, pairOf("x"))
	var daemons []*Process
	for _, h := range cluster.Hosts { // each has its own Scratch
		begun := time.Now()
		p, err := h.StartDaemon(Daemon{
			Name: "d", Argv: []string{"sh", "-c", "sleep 0.1; echo $WORD > " + Scratch + "/up; exec sleep 100"},
			Env: []string{"WORD=" + h.Short}, Ready: hasFile(Scratch + "/up"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took < 100*time.Millisecond {
			t.Errorf("in %s it was ready after %v, before it had begun", h.Name, took)
		}
		if word, _ := run(t, l, h.Namespace, "cat "+Scratch+"/up"); word != h.Short {
			t.Errorf("in %s it wrote %q", h.Name, word)
		}
		daemons = append(daemons, p)
	}
	if err := l.Remove(cluster); err != nil {
		t.Error(err)
	}
	for _, p := range daemons {
		select {
		case <-p.Done:
		case <-time.After(5 * time.Second):
			t.Error("a daemon outlives its cluster")
		}
	}
}

// testDaemonStartsAgain ends a daemon: another takes its place, and ends with the
// cluster.
func testDaemonStartsAgain(t *testing.T) {
	l := open(t)
	cluster := setUp(t, l, pairOf("x"))
	h := cluster.Hosts[0]
	up := Scratch + "/up"
	p, err := h.StartDaemon(Daemon{
		Name: "d", Argv: []string{"sh", "-c", "echo $$ >> " + up + "; exec sleep 100"}, Ready: hasText(up), Restarts: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	started := func() []string {
		pids, _ := run(t, l, h.Namespace, "cat "+up)
		return strings.Fields(pids)
	}
	for end := time.Now().Add(5 * time.Second); len(started()) < 2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("started %v: it is not started again", started())
		}
	}
	if err := l.Remove(cluster); err != nil {
		t.Error(err)
	}
	time.Sleep(2 * restartWait) // in which it must not come back
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range lines {
		if line, err := os.ReadFile(path); err == nil && strings.HasPrefix(string(line), "sleep\x00100") {
			t.Errorf("%s outlives its cluster", path)
		}
	}
}

func testDaemonThatFails(t *testing.T) {
	h := setUp(t, open(t), pairOf("x")).Hosts[0]
	never := func() error { return errors.New("no socket yet") }
	for _, c := range []struct {
		line  string
		ready func() error
		says  []string
	}{
		{"echo starting; echo cannot bind >&2; exit 3", never,
			[]string{"start d in x.h1: it ended (exit status 3)", "its log ends: starting | cannot bind"}},
		{"kill -SEGV $$", never, []string{"it ended (killed by SIGSEGV)"}},
		{"echo waiting for a peer; exec sleep 100", never,
			[]string{"not ready after 200ms: no socket yet", "its log ends: waiting for a peer"}},
	} {
		_, err := h.StartDaemon(Daemon{Name: "d", Argv: []string{"sh", "-c", c.line}, Ready: c.ready, Within: 200 * time.Millisecond})
		for _, text := range c.says {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%q: %v, want %q", c.line, err, text)
			}
		}
		if err := h.WriteFile(Scratch+"/d.log", nil, 0o644); err != nil { // the next begins with an empty log
			t.Error(err)
		}
	}
	if _, err := h.StartDaemon(Daemon{Name: "none", Argv: []string{"no-such-daemon"}}); err == nil || !strings.Contains(err.Error(), "no-such-daemon in x.h1") {
		t.Errorf("a program that is not there: %v", err)
	}
}

func testRun(t *testing.T) {
	h := setUp(t, open(t), pairOf("x")).Hosts[0]
	if err := h.WriteFile(Scratch+"/a/b", []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, out, says string }{
		{"cat " + Scratch + "/a/b", "text\n", ""},
		{"echo out; echo why >&2; exit 4", "out\n", "exit status 4: why"},
		{"echo only this; exit 4", "only this\n", "exit status 4: only this"},
		{"kill -KILL $$", "", "killed by SIGKILL"},
		{"sleep 100 & echo at once", "at once\n", ""}, // what stays holds the files open
	} {
		out, err := h.Run("sh", "-c", c.line)
		if out != c.out || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %q, %v; want %q, %q", c.line, out, err, c.out, c.says)
		}
	}
	long := fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x; echo the end >&2; exit 1", 1<<20)
	if out, err := h.Run("sh", "-c", long); len(out) != 1<<20 || !strings.HasSuffix(err.Error(), "the end") {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

func testRemains(t *testing.T) {
	l := open(t)
	stays, goes := setUp(t, l, pairOf("stays")), setUp(t, l, pairOf("goes"))
	// As an engine does: what holds a container outlives the engine, and the
	// container is in a separate network namespace.
	const engine = "setsid sh -c 'unshare -n sleep 100 & wait' & sleep 0.05; echo > /run/tare/started; exec sleep 100"
	for _, cluster := range []*Cluster{stays, goes} {
		_, err := cluster.Hosts[0].StartDaemon(Daemon{
			Name: "engine", Argv: []string{"sh", "-c", engine},
			Ready: func() error { _, err := os.Stat(Scratch + "/started"); return err },
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := len(labtest.Marked(t)); got != 7 {
		t.Errorf("%d processes run in the lab, want its init and three of each engine", got)
	}
	if err := l.Remove(goes); err != nil {
		t.Error(err)
	}
	for deadline := time.Now().Add(labtest.LeakWait); len(labtest.Marked(t)) > 4 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if got := len(labtest.Marked(t)); got != 4 {
		t.Errorf("%d processes run in the lab, want its init and the engine that stays", got)
	}
}

// The engine's client is a shell that starts the command elsewhere, as a daemon
// would.
func testEnd(t *testing.T) {
	l := open(t)
	h := setUp(t, l, pairOf("x")).Hosts[0]
	c := adopt(t, h, os.Getpid(), "sh", "-c", `setsid "$@" & trap 'kill $!; exit' TERM; echo > /run/started; wait`, "client")
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	process, err := l.Processes.Start(c.Namespace, Command{Argv: []string{"sleep", "100"}, Env: os.Environ(), Files: [3]*os.File{null, null, null}})
	if err != nil {
		t.Fatal(err)
	}
	err = h.await(process, Daemon{Ready: func() error { _, err := os.Stat("/run/started"); return err }})
	if err != nil {
		t.Fatal(err)
	}
	endsAlone(t, process)
}

// A program in separate process groups, as a server that an agent starts, ends with
// what started it.
func testEndOfKin(t *testing.T) {
	l := open(t)
	h := setUp(t, l, pairOf("x")).Hosts[0]
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	process, err := l.Processes.Start(h.Namespace, Command{
		Argv: []string{"sh", "-c", `setsid sh -c 'setsid sleep 100 & echo > /run/started; wait' & wait`},
		Env:  os.Environ(), Files: [3]*os.File{null, null, null},
	})
	if err != nil {
		t.Fatal(err)
	}
	err = h.await(process, Daemon{Ready: func() error { _, err := os.Stat("/run/started"); return err }})
	if err != nil {
		t.Fatal(err)
	}
	endsAlone(t, process)
}

// endsAlone ends a process, after which nothing runs in the lab but its init.
func endsAlone(t *testing.T, process *Process) {
	t.Helper()
	if err := process.End(); err != nil {
		t.Error(err)
	}
	<-process.Done
	for deadline := time.Now().Add(labtest.LeakWait); len(labtest.Marked(t)) > 1 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if got := len(labtest.Marked(t)); got != 1 {
		t.Errorf("%d processes run in the lab, want its init alone", got)
	}
}
