package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// up builds the cluster and prints where its kubeconfig is; where the cluster runs
// already, it only prints that.
func up(ctx context.Context, want settings) error {
	if os.Geteuid() != 0 {
		return errors.New("build cluster: only root can: run it as root")
	}
	home, err := homeOf(want.Name)
	if err != nil {
		return err
	}
	exists, err := labExists(ctx, want.Name)
	if err != nil {
		return err
	}
	if exists {
		return again(ctx, home, want)
	}
	began := time.Now()
	err = build(ctx, home, want)
	if err != nil {
		return errors.Join(err, down(context.WithoutCancel(ctx), want.Name))
	}
	fmt.Fprintf(os.Stderr, "the cluster runs after %.1f s: %v\n", time.Since(began).Seconds(), want)
	return home.print()
}

// again prints where the kubeconfig of a cluster is that runs and is as wanted.
func again(ctx context.Context, home home, want settings) error {
	const advice = "make kubernetes-down takes it down"
	has, err := home.settings()
	if err != nil {
		return fmt.Errorf("find cluster: lab %s exists, but its start did not end: %s", want.Name, advice)
	}
	if has != want {
		return fmt.Errorf("build cluster: another one runs, with %v: %s", has, advice)
	}
	if err := home.serves(ctx); err != nil {
		return fmt.Errorf("reach cluster: %w: %s", err, advice)
	}
	fmt.Fprintf(os.Stderr, "the cluster runs already: %v\n", has)
	return home.print()
}

// down takes everything down that up has made.
func down(ctx context.Context, name string) error {
	home, err := homeOf(name)
	if err != nil {
		return err
	}
	exists, err := labExists(ctx, name)
	if err != nil {
		return err
	}
	if exists {
		err = tare(ctx, "lab", "down", "--name", name).run()
	}
	return errors.Join(err, home.remove())
}

// build builds the lab, starts the daemons in its hosts and waits until the
// cluster can run pods.
func build(ctx context.Context, home home, want settings) error {
	if err := needPrograms(want); err != nil {
		return err
	}
	relay, relayAddr, err := listenForRelay()
	if err != nil {
		return err
	}
	defer relay.Close()
	secrets, err := newSecrets(want.Nodes)
	if err != nil {
		return err
	}
	// Pods get their congestion control from the machine, and so do the hosts.
	cc, err := os.ReadFile("/proc/sys/net/ipv4/tcp_congestion_control")
	if err != nil {
		return fmt.Errorf("read the machine's congestion control: %w", err)
	}
	// A kubelet gives its pods all CPUs, so the hosts have them, too. Pods reach each
	// other without NAT, as Kubernetes asks of a network.
	err = tare(ctx, "lab", "up", network, "--name", want.Name, "--hosts", fmt.Sprint(want.Nodes), "--containers", "0",
		"--pin", "none", "--cc", strings.TrimSpace(string(cc)), "--ip-masq", "off", "--promisc-mode", "off").run()
	if err != nil {
		return err
	}
	if err := startHosts(ctx, request{want, secrets}); err != nil {
		return err
	}
	if err := atHost(ctx, want.Name, 1, relayVerb, apiAddr()).with(relay).run(); err != nil {
		return err
	}
	kubeconfig, err := secrets.kubeconfig(admin, relayAddr)
	if err != nil {
		return err
	}
	if err := awaitCluster(ctx, []byte(kubeconfig), want); err != nil {
		return err
	}
	return home.write(kubeconfig, want)
}

// startHosts has all hosts start their daemons at the same time.
func startHosts(ctx context.Context, r request) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write request: %w", err)
	}
	ended := make(chan error)
	for n := range r.Settings.Nodes {
		go func() {
			host := atHost(ctx, r.Settings.Name, n+1, hostVerb, fmt.Sprint(n+1))
			host.cmd.Stdin = strings.NewReader(string(text))
			ended <- host.run()
		}()
	}
	var errs []error
	for range r.Settings.Nodes {
		errs = append(errs, <-ended)
	}
	return errors.Join(errs...)
}

// needPrograms fails where the machine lacks a program, before anything is made.
func needPrograms(want settings) error {
	errs := []error{needProgram("etcd", "etcd-server"), needProgram("busybox", "busybox-static"), needProgram("ctr", "containerd")}
	if want.Datapath == flannel {
		_, err := partPath("flanneld")
		errs = append(errs, needProgram("etcdctl", "etcd-client"), err)
	}
	return errors.Join(errs...)
}

// invocation is a command of tare.
type invocation struct{ cmd *exec.Cmd }

// tare makes a command of the tare that TARE_BINARY names, or that is on the PATH.
// A context that ends interrupts it, and it removes what it has begun.
func tare(ctx context.Context, args ...string) invocation {
	name := os.Getenv("TARE_BINARY")
	if name == "" {
		name = "tare"
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	return invocation{cmd}
}

// atHost makes a command that runs a verb of this binary in a host of a lab.
func atHost(ctx context.Context, lab string, number int, args ...string) invocation {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return tare(ctx, append([]string{"lab", "exec", "--name", lab, nodeName(number), "--", self}, args...)...)
}

// with gives the command a file as its standard input.
func (i invocation) with(input *os.File) invocation {
	i.cmd.Stdin = input
	return i
}

// run runs the command. Its error quotes what the command printed.
func (i invocation) run() error {
	out, err := i.cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("run %s: %w: %s", strings.Join(i.cmd.Args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// labExists reports whether tare has a cluster's lab in its ledger.
func labExists(ctx context.Context, name string) (bool, error) {
	list := tare(ctx, "lab", "list", "--json")
	text, err := list.cmd.Output()
	var labs []struct{ Name string }
	if err == nil {
		err = json.Unmarshal(text, &labs)
	}
	if err != nil {
		return false, fmt.Errorf("list labs by %s: %w: set TARE_BINARY to the path of tare", list.cmd.Path, err)
	}
	for _, l := range labs {
		if l.Name == name {
			return true, nil
		}
	}
	return false, nil
}

// home is the folder of what a cluster has outside its lab.
type home string

func homeOf(name string) (home, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find folder of the cluster: %w: set HOME", err)
	}
	folder := usual
	if name != usual {
		folder += "-" + name
	}
	return home(filepath.Join(cache, "tare", folder)), nil
}

func (h home) kubeconfig() string { return filepath.Join(string(h), "kubeconfig") }
func (h home) asked() string      { return filepath.Join(string(h), "settings.json") }

func (h home) kubectlCache() string { return filepath.Join(string(h), "kubectl") }

func (h home) print() error {
	_, err := fmt.Println("KUBECONFIG=" + h.kubeconfig())
	return err
}

// write writes what a complete cluster has; the settings come last.
func (h home) write(kubeconfig string, s settings) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	if err := writeFile(h.kubeconfig(), []byte(kubeconfig), 0o600); err != nil {
		return err
	}
	return writeFile(h.asked(), text, 0o600)
}

// settings are those of the cluster that runs.
func (h home) settings() (settings, error) {
	var s settings
	text, err := os.ReadFile(h.asked())
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(text, &s)
}

func (h home) remove() error {
	if err := os.RemoveAll(string(h)); err != nil {
		return fmt.Errorf("remove folder of the cluster: %w", err)
	}
	return nil
}
