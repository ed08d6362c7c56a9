package network_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tare/lab"
	"tare/site"
	"tare/test/labtest"
)

// What is written into /etc of a host with an engine stays there, and of the
// sysctls only those of the network namespace can be set.
func TestRealDockerHostsAreSealed(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := buildDocker(t, "docker-host")
	shell(t, l, "h1", "echo h1 >/etc/tare-test && test -d /etc/docker && sysctl -qw net.ipv4.ip_forward=1")
	if got := shell(t, l, "h2", "cat /etc/tare-test || true"); got != "" {
		t.Errorf("h2 sees what h1 has written: %q", got)
	}
	if _, err := os.Stat("/etc/tare-test"); err == nil {
		t.Error("the machine sees what h1 has written")
	}
	// The value is the one that it has: a machine that is not sealed is as before.
	if _, status, err := exec(t.Context(), l, "h1", "sh", "-c", "f=/proc/sys/kernel/keys/root_maxkeys; v=$(cat $f); echo $v >$f"); err != nil || status == 0 {
		t.Errorf("a sysctl of the machine can be set from h1: status %d, %v", status, err)
	}
}

// What is started in a container ends with its own status, when it is
// interrupted, and when its client is gone.
func TestRealDockerProcessesEnd(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := buildDocker(t, "docker-bridge")
	if _, status, err := exec(t.Context(), l, "h1/c1", "/proc/self/exe", "call", "nonsense"); err != nil || status != 1 {
		t.Errorf("a command that fails: status %d, %v, want 1", status, err)
	}
	running := func(words string) int {
		text := shell(t, l, "h1", `for p in /proc/[0-9]*; do tr '\0' ' ' < $p/cmdline; echo; done 2>/dev/null; true`)
		return strings.Count("\n"+text, "\n"+words+" ")
	}
	await := func(words string, want int) {
		t.Helper()
		for deadline := time.Now().Add(5 * time.Second); running(words) != want; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d of %q run, want %d", running(words), words, want)
			}
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		_, status, err := exec(ctx, l, "h1/c1", "/proc/self/exe", "greet", "0.0.0.0:99")
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
	shell(t, l, "h1", "mkfifo /run/in; exec 1>/dev/null 2>&1; sleep 60 >/run/in & "+binary+" "+lab.ContainerExecVerb+" "+dockerIn+
		"exec --interactive --env "+lab.ExecMark+" docker-bridge-h1-c1 /tare agent </run/in & echo $! >/run/client")
	await("/tare agent", 1)
	shell(t, l, "h1", "kill -KILL $(cat /run/client)")
	await("/tare agent", 0)
}

// ownDocker builds a lab with an engine and waits to be killed.
func ownDocker() error {
	l, err := site.Start(context.Background())
	if err != nil {
		return err
	}
	spec := site.Spec{CC: "cubic", Pin: string(lab.PinApart), Clusters: []site.ClusterSpec{on("docker-nat")}}
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
	before := machine(t)
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
	inside := insideLab(t)
	if running := living(t, inside); running < 8 { // two engines of two daemons, two containers and their shims
		t.Errorf("%d processes of the lab run", running)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	for deadline := time.Now().Add(5 * labtest.LeakWait); living(t, inside) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d processes of the lab are left", living(t, inside))
		}
	}
	if err := site.Sweep(); err != nil { // as any command does
		t.Fatal(err)
	}
	noCgroup(t, group)
	if after := machine(t); after != before {
		t.Errorf("the machine is\n%s\nand was\n%s", after, before)
	}
}

// insideLab is the PID namespace of this test's only lab.
func insideLab(t *testing.T) string {
	t.Helper()
	own, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range labtest.Marked(t) {
		if name, err := os.Readlink("/proc/" + pid + "/ns/pid"); err == nil && name != own {
			return name
		}
	}
	t.Fatal("no process runs in a lab")
	return ""
}

// living counts the processes of a PID namespace.
func living(t *testing.T, namespace string) int {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, link := range links {
		if name, err := os.Readlink(link); err == nil && name == namespace {
			count++
		}
	}
	return count
}
