package real

import (
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// cluster is a cluster that a test has started.
type cluster struct {
	t          *testing.T
	name       string // of its lab
	kubeconfig string
}

// binary is the path of the binary, which make kubernetes-test has built.
func binary(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(cache, "tare", "parts", "kubernetes")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: run make kubernetes-test", err)
	}
	return path
}

// run runs the binary for a cluster and returns what it writes to its standard output.
func (c cluster) run(args ...string) (string, error) {
	t := c.t
	t.Helper()
	cmd := exec.Command(binary(t), args...)
	cmd.Env = append(os.Environ(), mark+c.name)
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Logf("kubernetes %s: %s", strings.Join(args, " "), errors.String())
	}
	return string(out), err
}

// start starts a cluster, which is taken down with the test. It is called by its test.
func start(t *testing.T, args ...string) cluster {
	t.Helper()
	c := cluster{t: t, name: fmt.Sprintf("test-%08x", crc32.ChecksumIEEE([]byte(t.Name())))}
	t.Cleanup(c.down)
	c.kubeconfig = c.up(args...)
	return c
}

// in is the cluster in another test.
func (c cluster) in(t *testing.T) cluster {
	c.t = t
	return c
}

// up returns the kubeconfig that the last line names.
func (c cluster) up(args ...string) string {
	c.t.Helper()
	out, err := c.run(append([]string{"up", "--name", c.name}, args...)...)
	if err != nil {
		c.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	kubeconfig, found := strings.CutPrefix(lines[len(lines)-1], "KUBECONFIG=")
	if !found {
		c.t.Fatalf("up printed %q", out)
	}
	return kubeconfig
}

func (c cluster) down() {
	c.t.Helper()
	if _, err := c.run("down", c.name); err != nil {
		c.t.Error(err)
	}
}

// kubectl runs kubectl with some input and returns what it prints.
func (c cluster) kubectl(input string, args ...string) string {
	c.t.Helper()
	cmd := exec.Command(binary(c.t), append([]string{"kubectl"}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig)
	cmd.Stdin = strings.NewReader(input)
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		c.t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, errors.String())
	}
	return strings.TrimSpace(string(out))
}

// atHost runs a command in a host of the cluster's lab.
func (c cluster) atHost(host string, command ...string) string {
	c.t.Helper()
	tare := os.Getenv("TARE_BINARY")
	if tare == "" {
		tare = "tare"
	}
	out, err := exec.Command(tare, append([]string{"lab", "exec", "--name", c.name, host, "--"}, command...)...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s at %s: %v: %s", strings.Join(command, " "), host, err, out)
	}
	return strings.TrimSpace(string(out))
}
