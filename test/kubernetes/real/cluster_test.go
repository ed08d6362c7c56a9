package real

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// cluster is a cluster that a test has started.
type cluster struct {
	t          *testing.T
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

// run runs the binary and returns what it writes to its standard output.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(binary(t), args...)
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Logf("kubernetes %s: %s", strings.Join(args, " "), errors.String())
	}
	return string(out), err
}

// start starts a cluster, which is taken down with the test.
func start(t *testing.T, args ...string) cluster {
	t.Helper()
	t.Cleanup(func() { down(t) })
	return cluster{t, up(t, args...)}
}

// up returns the kubeconfig that the last line names.
func up(t *testing.T, args ...string) string {
	t.Helper()
	out, err := run(t, append([]string{"up"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	kubeconfig, found := strings.CutPrefix(lines[len(lines)-1], "KUBECONFIG=")
	if !found {
		t.Fatalf("up printed %q", out)
	}
	return kubeconfig
}

func down(t *testing.T) {
	t.Helper()
	if _, err := run(t, "down"); err != nil {
		t.Error(err)
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
	out, err := exec.Command(tare, append([]string{"lab", "exec", "--name", "kubernetes", host, "--"}, command...)...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s at %s: %v: %s", strings.Join(command, " "), host, err, out)
	}
	return strings.TrimSpace(string(out))
}
