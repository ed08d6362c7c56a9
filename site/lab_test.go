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

	"tare/catalog"
	"tare/lab"
	"tare/result"
	"tare/site"
	"tare/test/labtest"
)

// specOf is a lab of networks, each on two hosts with a container each.
func specOf(networks ...string) site.Spec {
	spec := site.Spec{CC: "cubic", Pin: catalog.PinApart, Clusters: []site.ClusterSpec{}}
	for _, name := range networks {
		spec.Clusters = append(spec.Clusters, site.ClusterSpec{
			Name: name, Network: name, Axes: result.Params{"nic": string(lab.NICFull), "mtu": 1500.0}, Hosts: 2, Containers: 1,
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
	set(t, l, networks...)
	return l
}

// set sets networks up in a lab.
func set(t *testing.T, l *site.Lab, networks ...string) {
	t.Helper()
	if err := l.Build(t.Context(), specOf(networks...)); err != nil {
		t.Fatal(err)
	}
	for _, b := range l.Topology.Clusters {
		if b.Error != "" {
			t.Fatalf("%s: %s", b.Name, b.Error)
		}
	}
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

// TestLabUserLab asks one lab all that leaves it as it was.
func TestLabUserLab(t *testing.T) {
	l := start(t)
	t.Run("a probe leaves room for it", func(t *testing.T) { probeNamesWhatIsMissing(t, l) })
	set(t, l, catalog.Baseline, "veth", "bridge", "nat", "proxy", "vxlan")
	for _, c := range []struct {
		about string
		test  func(*testing.T, *site.Lab)
	}{
		{"it is as the spec says", isAsTheSpecSays},
		{"it is not warned of sessions", isNotWarnedOfSessions},
		{"another user is refused", anotherUserIsRefused},
		{"exec passes status and text", execPassesStatusAndText},
		{"exec says what is missing", execSaysWhatIsMissing},
		{"exec is interrupted", execIsInterrupted},
		{"hostile requests", survivesHostileRequests},
		{"counts", countShowsWhatEachPlaceDid},
		{"states", statesAreThoseOfThePlace},
		{"containers come and go", containersComeAndGo},
		{"a process without an engine", processWithoutEngine},
		{"where no container can be made", saysWhereNoContainerCanBeMade},
		{"another lab beside it", labsTogetherAreOneSite},
	} {
		t.Run(c.about, func(t *testing.T) { c.test(t, l) })
	}
}

func isAsTheSpecSays(t *testing.T, l *site.Lab) {
	var want []string
	for _, cluster := range l.Topology.Clusters {
		for _, h := range []string{".h1", ".h2"} {
			want = append(want, cluster.Name+h)
			if cluster.Name != catalog.Baseline {
				want = append(want, cluster.Name+h+"/c1")
			}
		}
	}
	labtest.Equal(t, "namespaces", strings.Join(l.Topology.Namespaces, " "), strings.Join(want, " "))
	privilege := "user namespace"
	if os.Geteuid() == 0 {
		privilege = "root"
	}
	labtest.Equal(t, "privilege", l.Topology.Privilege, privilege)
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

func probeNamesWhatIsMissing(t *testing.T, l *site.Lab) {
	probed, err := l.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range probed {
		if a.Error != "" && (a.Missing == "" || a.Get == "") {
			t.Errorf("%s can't be set up, and the error does not name what is missing: %s", a.Name, a.Error)
		}
		if a.Name == catalog.Baseline && a.Error != "" {
			t.Errorf("%s can't be set up: %s", a.Name, a.Error)
		}
	}
}

// Only root can become another user; an ordinary user's keeper is tried with the
// user's own process, which it obeys.
func anotherUserIsRefused(t *testing.T, l *site.Lab) {
	if os.Geteuid() != 0 {
		if got, _ := run(t, l, "veth.h1", "", "echo mine"); got != "mine\n" {
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
	if got, _ := run(t, l, "veth.h1", "", "echo alive"); got != "alive\n" {
		t.Errorf("after it the lab prints %q", got)
	}
}

// An ordinary user can make no control group. Kernel networks run in one session, and
// their numbers carry no warning of it.
func isNotWarnedOfSessions(t *testing.T, l *site.Lab) {
	for _, b := range l.Topology.Clusters {
		if strings.Contains(strings.Join(b.Warnings, "\n"), "autogroup") {
			t.Errorf("%s carries %q", b.Name, b.Warnings)
		}
	}
}

// A build that is interrupted ends at once, however much is left of it: with its keeper.
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
	if err := l.Build(ctx, spec); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an interrupted build: %v", err)
	}
	labtest.Equal(t, "its keeper was killed", l.Killed(), true)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
