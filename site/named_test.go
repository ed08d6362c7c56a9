package site_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"tare/site"
	"tare/test/labtest"
)

func TestCheckName(t *testing.T) {
	for name, good := range map[string]bool{
		"a": true, "X": true, "lab-1": true, "a.b_c": true, "0": true, strings.Repeat("a", 32): true,
		"": false, ".": false, "..": false, "-a": false, ".a": false, "_a": false, "a/b": false, "../a": false,
		"a b": false, "a\n": false, "a\x00": false, "ä": false, strings.Repeat("a", 33): false,
	} {
		if err := site.CheckName(name); (err == nil) != good {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
}

// labName is one that nobody else uses.
func labName(about string) string { return fmt.Sprintf("t%d-%s", os.Getpid(), about) }

// up makes a named lab that ends with the test.
func up(t *testing.T, name string) *site.Lab {
	t.Helper()
	return upFrom(t, name, specOf("host", "bridge"))
}

// upFrom makes one of a specification.
func upFrom(t *testing.T, name string, spec site.Spec) *site.Lab {
	t.Helper()
	labtest.NoLeaks(t)
	spec.Name, spec.Clusters[0].Baseline = name, true
	l, err := site.Up(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := site.Down(context.Background(), name); err != nil && !errors.Is(err, site.ErrNoLab) {
			t.Error(err)
		}
	})
	return l
}

// entry finds a lab in the ledger.
func entry(t *testing.T, name string) (site.Entry, bool) {
	t.Helper()
	all, err := site.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.Name == name {
			return e, true
		}
	}
	return site.Entry{}, false
}

// A named lab outlives the command that made it, also while its keeper does not answer, until
// it is taken down.
func TestLabUserUpJoinListDown(t *testing.T) {
	name := labName("life")
	if err := up(t, name).Close(); err != nil { // the lab stays without this handle
		t.Error(err)
	}
	e, there := entry(t, name)
	labtest.Equal(t, "in the ledger", there, true)
	labtest.Equal(t, "running", e.Running, true)
	labtest.NotEqual(t, "PID", e.PID, 0)
	labtest.Equal(t, "networks", strings.Join(e.Networks, " "), "bridge")
	l, err := site.Join(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if got, status := run(t, l, "h2/c1", "", "echo here"); got != "here\n" || status != 0 {
		t.Errorf("h2/c1 prints %q, status %d", got, status)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	spec := specOf("veth")
	spec.Name = name
	if _, err := site.Up(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("a second Up: %v", err)
	}
	stoppedKeeperStaysInTheLedger(t, name)
	if err := site.Down(t.Context(), name); err != nil {
		t.Error(err)
	}
	if e, there := entry(t, name); there {
		t.Errorf("after Down the ledger has %+v", e)
	}
	if _, err := site.Join(t.Context(), name); !errors.Is(err, site.ErrNoLab) {
		t.Errorf("Join after Down: %v", err)
	}
}

// stoppedKeeperStaysInTheLedger: the lab of one that does not answer is still there, and what
// to do about it is named.
func stoppedKeeperStaysInTheLedger(t *testing.T, name string) {
	t.Helper()
	e, _ := entry(t, name)
	if err := syscall.Kill(e.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	err := site.Down(short, name)
	cancel()
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	errInterrupted := site.Down(interrupted, name)
	e, there := entry(t, name)
	if err := syscall.Kill(e.PID, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d, is stopped: kill -CONT", e.PID)) {
		t.Errorf("a stopped keeper: %v", err)
	}
	if !errors.Is(errInterrupted, context.Canceled) {
		t.Errorf("an interrupted command: %v", errInterrupted)
	}
	labtest.Equal(t, "in the ledger", there, true)
	labtest.Equal(t, "running", e.Running, true)
}

func TestLabUserUnknownNames(t *testing.T) {
	for _, name := range []string{labName("none"), "../etc/passwd", ""} {
		if err := site.Down(t.Context(), name); !errors.Is(err, site.ErrNoLab) {
			t.Errorf("Down of %q: %v", name, err)
		}
		if _, err := site.Join(t.Context(), name); !errors.Is(err, site.ErrNoLab) {
			t.Errorf("Join of %q: %v", name, err)
		}
	}
	spec := specOf("veth")
	spec.Name = "../escape"
	if _, err := site.Up(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "use letters") {
		t.Errorf("Up of ../escape: %v", err)
	}
}

// The lab of a tare with another protocol is there, and is refused with what to do.
func TestLabUserOfAnotherProtocol(t *testing.T) {
	name := labName("other")
	l := up(t, name)
	socket := l.Address()
	if err := os.Rename(socket, socket+".own"); err != nil {
		t.Fatal(err)
	}
	other, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := other.Accept()
			if err != nil {
				return
			}
			_, _ = bufio.NewReader(conn).ReadString('\n')
			_, _ = io.WriteString(conn, `{"error":"the protocol of the lab is another"}`+"\n")
			conn.Close()
		}
	}()
	spec := specOf("veth")
	spec.Name = name
	_, errUp := site.Up(t.Context(), spec)
	_, errJoin := site.Join(t.Context(), name)
	for want, err := range map[string]error{
		"such a lab exists already": errUp,
		"join lab " + name + ": the protocol of the lab is another: use the version of tare that made it":      errJoin,
		"take lab " + name + " down: the protocol of the lab is another: use the version of tare that made it": site.Down(t.Context(), name),
	} {
		labtest.Contains(t, "error", fmt.Sprint(err), want)
	}
	if err := errors.Join(other.Close(), os.Rename(socket+".own", socket)); err != nil {
		t.Fatal(err)
	}
}

// A lab whose keeper was killed stays in the ledger until it is taken down. Its control group
// exists as long as the keeper, even if another command sweeps; after that the next command
// removes it.
func TestLabUserKilledKeeperIsForgotten(t *testing.T) {
	name := labName("killed")
	l := up(t, name)
	group := l.Topology.Spec.Cgroup
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := site.Sweep(); err != nil {
		t.Error(err)
	}
	if grouped(t) && len(groupsNamed(t, group)) == 0 {
		t.Errorf("the lab has no control group %q", group)
	}
	e, there := entry(t, name)
	if !there {
		t.Fatal("the ledger lacks the lab")
	}
	if err := syscall.Kill(e.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// Up made it this process's child and waits for it: it is gone once reaped.
	labtest.Await(t, "the killed keeper is gone", func() bool { return syscall.Kill(e.PID, 0) != nil })
	if err := site.Sweep(); err != nil {
		t.Error(err)
	}
	if group != "" {
		labtest.Equal(t, "control groups left behind", strings.Join(groupsNamed(t, group), " "), "")
	}
	if e, there := entry(t, name); !there || e.Running {
		t.Errorf("the ledger has %+v, %t; want one that does not run", e, there)
	}
	if err := site.Down(t.Context(), name); err != nil {
		t.Error(err)
	}
	if e, there := entry(t, name); there {
		t.Errorf("after Down the ledger has %+v", e)
	}
}

// A lab whose building is interrupted is not there at all.
func TestLabUserInterruptedUpLeavesNothing(t *testing.T) {
	labtest.NoLeaks(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	spec := specOf("bridge")
	spec.Name = labName("interrupted")
	if l, err := site.Up(ctx, spec); err == nil {
		t.Error("Up ignores its context", l.Close())
	}
	if e, there := entry(t, spec.Name); there {
		t.Errorf("the ledger has %+v", e)
	}
}
