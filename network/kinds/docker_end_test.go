package kinds_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"strconv"
	"strings"
	"testing"

	"tare/catalog"
	"tare/lab"
	"tare/site"
	"tare/test/labtest"
)

// hostsAreSealed holds that what is written into /etc of a host with an engine stays there, and
// of the sysctls only those of the network namespace can be set.
func hostsAreSealed(t *testing.T, l *site.Lab) {
	own := "/etc/tare-test-" + os.Getenv(labtest.Mark)
	shell(t, l, "docker-host.h1", "echo h1 >"+own+" && test -d /etc/docker && sysctl -qw net.ipv4.ip_forward=1")
	if got := shell(t, l, "docker-host.h2", "cat "+own+" || true"); got != "" {
		t.Errorf("h2 sees what h1 has written: %q", got)
	}
	if _, err := os.Stat(own); err == nil {
		t.Error("the machine sees what h1 has written")
	}
	// The value is the one that it has: a machine that is not sealed is as before.
	if _, status, err := exec(t.Context(), l, "docker-host.h1", "sh", "-c", "f=/proc/sys/kernel/keys/root_maxkeys; v=$(cat $f); echo $v >$f"); err != nil || status == 0 {
		t.Errorf("a sysctl of the machine can be set from h1: status %d, %v", status, err)
	}
}

// processesEnd holds that what is started in a container ends with its own status, when it is
// interrupted, and when its client is gone.
func processesEnd(t *testing.T, l *site.Lab) {
	const host, container = "docker-bridge.h1", "docker-bridge.h1/c1"
	if _, status, err := exec(t.Context(), l, container, "/proc/self/exe", "call", "nonsense"); err != nil || status != 1 {
		t.Errorf("a command that fails: status %d, %v, want 1", status, err)
	}
	running := func(words string) int {
		count, err := strconv.Atoi(strings.TrimSpace(shell(t, l, host, "pgrep -fc '^"+words+"( |$)' || true")))
		if err != nil {
			t.Fatal(err)
		}
		return count
	}
	await := func(words string, want int) {
		t.Helper()
		labtest.Await(t, fmt.Sprintf("%d of %q run", want, words), func() bool { return running(words) == want })
	}
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		_, status, err := exec(ctx, l, container, "/proc/self/exe", "greet", "0.0.0.0:99")
		if err != nil {
			t.Error(err)
		}
		ended <- status
	}()
	await("/tare greet", 1)
	interrupt()
	if status := <-ended; status != 128+2 && status != 2 {
		t.Errorf("an interrupted command: status %d", status)
	}
	await("/tare greet", 0)
	// Its client is killed while the input is open: the engine closes the process's.
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	others := running("/tare agent")
	shell(t, l, host, "mkfifo /run/in; exec 1>/dev/null 2>&1; sleep 600 >/run/in & "+binary+" "+lab.ContainerExecVerb+" "+dockerIn+
		"exec --interactive --env "+lab.ExecMark+" docker-bridge-h1-c1 /tare agent </run/in & echo $! >/run/client")
	await("/tare agent", others+1)
	shell(t, l, host, "kill -KILL $(cat /run/client)")
	await("/tare agent", others)
}

// ownDocker builds a lab with an engine and waits to be killed.
func ownDocker() error {
	l, err := site.Start(context.Background())
	if err != nil {
		return err
	}
	spec := site.Spec{CC: "cubic", Pin: catalog.PinApart, Clusters: []site.ClusterSpec{on("docker-nat")}}
	if err := l.Build(context.Background(), spec); err != nil {
		return err
	}
	if why := l.Topology.Clusters[0].Error; why != "" {
		return fmt.Errorf("build: %s", why)
	}
	if err := json.NewEncoder(os.Stdout).Encode(l.Topology.Spec.Cgroup); err != nil {
		return err
	}
	select {}
}

// Killed with its engines up, a lab leaves empty control groups at most, and
// these until the next.
func TestRealDockerOwnerKilledLeavesNothing(t *testing.T) {
	if !asRoot(t) {
		return
	}
	labtest.NoLeaks(t)
	cmd := osexec.Command("/proc/self/exe", "own-docker")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var group string
	if err := json.NewDecoder(out).Decode(&group); err != nil || group == "" {
		t.Fatalf("control group %q, %v", group, err)
	}
	labs := labtest.Labs(t)
	labtest.AtLeast(t, "processes of the lab", len(labtest.Inside(t, labs)), 8) // two engines of two daemons, two containers and their shims
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	labtest.Await(t, "no process of the lab is left", func() bool { return len(labtest.Inside(t, labs)) == 0 })
	if err := site.Sweep(); err != nil { // as any command does
		t.Fatal(err)
	}
	labtest.NoGroup(t, group)
}
