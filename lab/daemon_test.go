package lab

import (
	"errors"
	"fmt"
	"os"
	"strconv"
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
		p, err := h.StartDaemon(Daemon{
			Name: "d", Argv: []string{"sh", "-c", "sleep 0.1; echo $WORD > " + Scratch + "/up; exec sleep 100"},
			Env: []string{"WORD=" + h.Short}, Ready: hasFile(Scratch + "/up"),
		})
		if err != nil {
			t.Fatal(err)
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
		<-p.Done
	}
}

// testDaemonStartsAgain ends a daemon: another takes its place, and ends with the
// cluster.
func testDaemonStartsAgain(t *testing.T) {
	l := open(t)
	cluster := setUp(t, l, pairOf("x"))
	h := cluster.Hosts[0]
	up := Scratch + "/up"
	s, err := h.startService(Daemon{
		Name: "d", Argv: []string{"sh", "-c", "echo $$ >> " + up + "; exec sleep 100"}, Ready: hasText(up), Restarts: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	first := s.process
	go s.keep()
	if err := first.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var pids []string
	labtest.Await(t, "it is started again", func() bool {
		text, _ := run(t, l, h.Namespace, "cat "+up)
		pids = strings.Fields(text)
		return len(pids) == 2
	})
	if err := l.Remove(cluster); err != nil {
		t.Error(err)
	}
	for _, pid := range pids {
		id, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		labtest.Await(t, "the daemon has ended with its cluster", func() bool { return syscall.Kill(id, 0) != nil })
	}
	labtest.Equal(t, "it comes back", s.restart(), false)
}

func testDaemonThatFails(t *testing.T) {
	h := setUp(t, open(t), pairOf("x")).Hosts[0]
	never := func() error { return errors.New("no socket yet") }
	talks := func() error {
		labtest.Await(t, "it has said something", func() bool { return hasText(Scratch+"/d.log")() == nil })
		return never()
	}
	for _, c := range []struct {
		line   string
		ready  func() error
		within time.Duration
		says   []string
	}{
		{"echo starting; echo cannot bind >&2; exit 3", never, 0,
			[]string{"start d in x.h1: it ended (exit status 3)", "its log ends: starting | cannot bind"}},
		{"kill -SEGV $$", never, 0, []string{"it ended (killed by SIGSEGV)"}},
		{"echo waiting for a peer; exec sleep 100", talks, time.Millisecond,
			[]string{"not ready after 1ms: no socket yet", "its log ends: waiting for a peer"}},
	} {
		_, err := h.StartDaemon(Daemon{Name: "d", Argv: []string{"sh", "-c", c.line}, Ready: c.ready, Within: c.within})
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
	const engine = `setsid sh -c 'unshare -n sh -c "echo > /run/tare/started; exec sleep 100" & wait' & exec sleep 100`
	for _, cluster := range []*Cluster{stays, goes} {
		_, err := cluster.Hosts[0].StartDaemon(Daemon{
			Name: "engine", Argv: []string{"sh", "-c", engine},
			Ready: hasFile(Scratch + "/started"),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// One that is about to become another program shows no mark.
	labtest.Await(t, "its init and three of each engine run in the lab", func() bool { return len(labtest.Marked(t)) == 7 })
	if err := l.Remove(goes); err != nil {
		t.Error(err)
	}
	labtest.Await(t, "the engine that goes has ended", func() bool { return len(labtest.Marked(t)) <= 4 })
	labtest.Equal(t, "processes in the lab, with its init and the engine that stays", len(labtest.Marked(t)), 4)
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
	err = h.await(process, Daemon{Ready: hasFile("/run/started")})
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
	err = h.await(process, Daemon{Ready: hasFile("/run/started")})
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
	labtest.Await(t, "only the lab's init runs", func() bool { return len(labtest.Marked(t)) == 1 })
}
