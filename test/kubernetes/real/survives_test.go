package real

import (
	"encoding/json"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// twoPaths are one that stays when something happens to the second node, and one that does not. There
// are blocks enough that the run has not ended when two commands of a busy kubectl have.
var twoPaths = []string{"--paths", "same-host,cross-host", "--workloads", "tcp_rr", "--blocks", "24", "--duration", "100ms", "--design", "windows"}

// during starts a run, does something when its first block is saved, and gives what it wrote.
func (c cluster) during(do func()) (w weighed, said string, status int) {
	c.t.Helper()
	out := filepath.Join(c.t.TempDir(), "result.json")
	cmd := exec.Command(os.Getenv("TARE_BINARY"), append([]string{"run", "--site", "kubernetes", "--out", out}, twoPaths...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig)
	var printed strings.Builder
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for begun := time.Now(); !saved(out); {
		select {
		case err := <-ended:
			c.t.Fatalf("it ended before its first block was saved: %v: %s", err, printed.String())
		case <-time.After(50 * time.Millisecond):
		}
		if time.Since(begun) > 5*time.Minute {
			_ = cmd.Process.Signal(syscall.SIGQUIT) // says where it hangs
			c.t.Fatalf("no block was saved in 5 min: %v: %s", <-ended, printed.String())
		}
	}
	do()
	<-ended // its status is asked for
	text, err := os.ReadFile(out)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &w); err != nil {
		c.t.Fatal(err)
	}
	return w, printed.String(), cmd.ProcessState.ExitCode()
}

// saved reports whether a run has written its result, as it does after each block.
func saved(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Size() > 0
}

// reasonOf is why pods were not measured on a path; empty: they were.
func (w weighed) reasonOf(path string) string {
	for _, cell := range w.Cells {
		if cell.Network == "pods" && cell.Path == path && cell.Status != "ok" {
			return cell.Reason
		}
	}
	return ""
}

// What goes wrong during a run costs the cells that it concerns, with a sentence; the others go on,
// and nothing is left.
func testSiteSurvives(t *testing.T) {
	c := start(t)
	for name, of := range map[string]func(c cluster){
		"pod evicted":        cluster.testEvicted,
		"node cut off":       cluster.testCutOff,
		"tare in a pod":      cluster.testKilledInPod,
		"API server":         cluster.testServerRestarted,
		"idle streams ended": cluster.testIdleStreams,
	} {
		t.Run(name, func(t *testing.T) { of(c.in(t)) })
	}
	c.left()
}

// secondLost holds that the path to the second node failed with some words, and the other did not.
func (c cluster) secondLost(w weighed, said string, status int, words string) {
	c.t.Helper()
	if got := w.carried(); status != 1 || !slices.Equal(got, []string{"same-host"}) {
		c.t.Errorf("status %d, measured on %v, want 1 and same-host: %s", status, got, said)
	}
	if got := w.reasonOf("cross-host"); !strings.Contains(got, words) {
		c.t.Errorf("cross-host failed by %q, want %q", got, words)
	}
}

func (c cluster) testEvicted() {
	w, said, status := c.during(func() {
		c.kubectl("", "drain", "h2", "--ignore-daemonsets", "--force", "--delete-emptydir-data", "--timeout=30s")
	})
	c.kubectl("", "uncordon", "h2")
	c.secondLost(w, said, status, "it was evicted or deleted")
}

func (c cluster) testCutOff() {
	w, said, status := c.during(func() {
		c.atHost("h2", "nft", `table inet cut { chain in { type filter hook prerouting priority -400; iifname "eth0" drop; }; chain out { type filter hook postrouting priority 400; oifname "eth0" drop; }; }`)
	})
	c.atHost("h2", "nft", "delete", "table", "inet", "cut")
	c.secondLost(w, said, status, "h2")
	c.until("tare clean has removed what the run could not", func() bool {
		out, _, status := c.tare(c.kubeconfig, "clean", "--site", "kubernetes")
		return status == 0 && strings.Contains(out, "nothing is left")
	})
}

// testKilledInPod kills what was sent into a pod.
func (c cluster) testKilledInPod() {
	w, said, status := c.during(func() {
		where := c.kubectl("", "get", "pods", "-A", "-l", "tare.place=h2-c1", "-o", "jsonpath={.items[0].metadata.namespace}")
		c.kubectl("", "exec", "-n", where, "h2-c1", "--", "sh", "-c",
			`for p in /proc/[0-9]*; do read -r name <$p/comm; case $name in .tare-*) kill -9 ${p#/proc/};; esac; done`)
	})
	c.secondLost(w, said, status, "pod h2-c1 still runs: tare was killed in it")
}

// testServerRestarted kills the API server, through which all streams go, and starts it again as a kubelet
// does: also where its port is still taken, or its store does not answer yet.
func (c cluster) testServerRestarted() {
	w, said, status := c.during(func() {
		argv := c.commandOf("kube-apiserver")
		if c.kill("kube-apiserver --") != 1 {
			c.t.Error("not one API server was killed")
		}
		c.atHost("h1", append([]string{"sh", "-c", `for n in 1 2 3 4 5; do "$@"; sleep 1; done >/dev/null 2>&1 </dev/null &`, "sh"}, argv...)...)
	})
	const sentence = "the stream to it was ended on its way"
	if status != 1 || !strings.Contains(w.reasonOf("cross-host"), sentence) || !strings.Contains(w.reasonOf("same-host"), sentence) {
		c.t.Errorf("status %d, cells %+v: %s", status, w.Cells, said)
	}
	c.until("the API server answers", func() bool {
		cmd := exec.Command(binary(c.t), "kubectl", "get", "nodes")
		cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig)
		return cmd.Run() == nil
	})
}

// commandOf is the command line of a process of the cluster.
func (c cluster) commandOf(words string) []string {
	t := c.t
	t.Helper()
	for _, line := range processes(t, mark+c.name) {
		path, command, _ := strings.Cut(line, ": ")
		if strings.Contains(command, words+" --") {
			text, err := os.ReadFile(filepath.Join(path, "cmdline"))
			if err != nil {
				t.Fatal(err)
			}
			return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
		}
	}
	t.Fatalf("no process is called %s", words)
	return nil
}

// testIdleStreams measures through what ends streams on which nothing goes for 20 s, as load
// balancers before API servers do. Two of the five places take part in one path alone.
func (c cluster) testIdleStreams() {
	const idle = 20 * time.Second
	address := c.kubectl("", "config", "view", "-o", "jsonpath={.clusters[0].cluster.server}")
	at, err := url.Parse(address)
	if err != nil {
		c.t.Fatal(err)
	}
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.t.Fatal(err)
	}
	defer proxy.Close()
	go relay(proxy, at.Host, idle)
	text, err := os.ReadFile(c.kubeconfig)
	if err != nil {
		c.t.Fatal(err)
	}
	kubeconfig := filepath.Join(c.t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(strings.ReplaceAll(string(text), address, "https://"+proxy.Addr().String())), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.kubeconfig = kubeconfig
	w, said := c.weigh("--paths", "same-host,cross-host", "--blocks", "3", "--duration", "4s", "--design", "windows")
	if got := w.carried(); !slices.Equal(got, []string{"cross-host", "same-host"}) {
		c.t.Errorf("measured on %v: %s", got, said)
	}
}

// relay passes connections on, and ends those on which nothing has gone either way for so long.
func relay(from net.Listener, to string, idle time.Duration) {
	for {
		near, err := from.Accept()
		if err != nil {
			return // it is closed
		}
		far, err := net.Dial("tcp", to)
		if err != nil {
			near.Close()
			continue
		}
		last := time.AfterFunc(idle, func() { near.Close(); far.Close() })
		pass := func(to, from net.Conn) {
			defer to.Close()
			buffer := make([]byte, 64<<10)
			for {
				n, err := from.Read(buffer)
				last.Reset(idle)
				if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
					return
				}
			}
		}
		go pass(near, far)
		go pass(far, near)
	}
}
