package site_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"tare/lab"
	"tare/network"
	"tare/site"
	"tare/test/labtest"
)

// specOf is a lab of networks, each on two hosts with a container each.
func specOf(networks ...string) site.Spec {
	spec := site.Spec{CC: "cubic", Pin: string(lab.PinApart), Clusters: []site.ClusterSpec{}}
	for _, name := range networks {
		spec.Clusters = append(spec.Clusters, site.ClusterSpec{
			Name: name, Network: name, NIC: string(lab.NICFull), MTU: 1500, Hosts: 2, Containers: 1,
		})
	}
	return spec
}

// start starts a keeper that ends with the test and leaves nothing.
func start(t *testing.T) *site.Lab {
	t.Helper()
	labtest.NoLeaks(t)
	l, err := site.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// build is start with networks set up.
func build(t *testing.T, networks ...string) *site.Lab {
	t.Helper()
	l := start(t)
	if err := l.Build(t.Context(), specOf(networks...)); err != nil {
		t.Fatal(err)
	}
	for _, b := range l.Topology.Clusters {
		if b.Error != "" {
			t.Fatalf("%s: %s", b.Name, b.Error)
		}
	}
	return l
}

// run runs a shell line at a place, with text to read, and gives what it
// wrote and its exit status.
func run(t *testing.T, l *site.Lab, at, text, line string) (string, int) {
	t.Helper()
	reads, writes, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	readEnd, writeEnd, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer readEnd.Close()
	if _, err := io.WriteString(writes, text); err != nil {
		t.Fatal(err)
	}
	writes.Close()
	status, err := l.Exec(t.Context(), at, []string{"sh", "-c", line}, reads, writeEnd, os.Stderr)
	reads.Close()
	writeEnd.Close()
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(readEnd)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer), status
}

func TestLabUserLabIsAsTheSpecSays(t *testing.T) {
	l := build(t, "host", "bridge")
	want := "host.h1 host.h2 bridge.h1 bridge.h1/c1 bridge.h2 bridge.h2/c1"
	if got := strings.Join(l.Topology.Namespaces, " "); got != want {
		t.Errorf("namespaces %s, want %s", got, want)
	}
	privilege := "user namespace"
	if os.Geteuid() == 0 {
		privilege = "root"
	}
	if l.Topology.Privilege != privilege {
		t.Errorf("privilege %q, want %q", l.Topology.Privilege, privilege)
	}
	held, err := l.Look(t.Context(), "")
	if err != nil || len(held) != len(l.Topology.Namespaces) {
		t.Errorf("Look at all gives %d of %d, %v", len(held), len(l.Topology.Namespaces), err)
	}
	if _, err := l.Look(t.Context(), "bridge.h9"); err == nil {
		t.Error("Look at a host that is not there gives no error")
	}
	if err := l.Build(t.Context(), specOf("veth")); err == nil || !strings.Contains(err.Error(), "is built already") {
		t.Errorf("a second Build: %v", err)
	}
	if _, err := l.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "is built already") {
		t.Errorf("a probe next to a lab that is built: %v", err)
	}
	if got, _ := run(t, l, "bridge.h1", "", "echo alive"); got != "alive\n" {
		t.Errorf("after it the lab prints %q", got)
	}
}

func TestLabUserProbeLeavesRoomForALab(t *testing.T) {
	l := start(t)
	probed, err := l.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range probed {
		if a.Error != "" && (a.Missing == "" || a.Get == "") {
			t.Errorf("%s can't be set up, and the error does not name what is missing: %s", a.Name, a.Error)
		}
		if a.Name == network.Baseline && a.Error != "" {
			t.Errorf("%s can't be set up: %s", a.Name, a.Error)
		}
	}
	if err := l.Build(t.Context(), specOf("veth")); err != nil {
		t.Error(err)
	}
}

// Only root can become another user; an ordinary user's keeper is tried with the
// user's own process, which it obeys.
func TestLabUserAnotherUserIsRefused(t *testing.T) {
	l := build(t, "veth")
	if os.Geteuid() != 0 {
		if got, _ := run(t, l, "h1", "", "echo mine"); got != "mine\n" {
			t.Errorf("the lab's own user receives %q", got)
		}
		return
	}
	cmd := exec.Command(labtest.Readable(t), "unauthenticated", l.Address())
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: labtest.Nobody, Gid: labtest.Nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "belongs to another user") {
		t.Errorf("another user receives %q, %v", out, err)
	}
	if got, _ := run(t, l, "h1", "", "echo alive"); got != "alive\n" {
		t.Errorf("after it the lab prints %q", got)
	}
}

// A build that is interrupted ends at once, however much is left of it.
func TestLabUserInterruptedBuildEndsAtOnce(t *testing.T) {
	labtest.NoLeaks(t)
	l, err := site.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	spec := specOf("bridge")
	spec.Clusters[0].Hosts, spec.Clusters[0].Containers = 40, 150
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if err := l.Build(ctx, spec); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an interrupted build: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it ended after %v", took)
	}
}
