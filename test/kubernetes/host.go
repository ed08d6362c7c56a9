package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// request is what a host is asked to run.
type request struct {
	Settings settings
	Secrets  secrets
}

// runHost prepares the host that it runs in and starts its daemons, as the request
// on standard input says.
func runHost(ctx context.Context, argument string) error {
	number, err := strconv.Atoi(argument)
	if err != nil {
		return fmt.Errorf("read number of host: %w", err)
	}
	var r request
	if err := json.NewDecoder(os.Stdin).Decode(&r); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	n := node{request: r, number: number, name: nodeName(number)}
	if err := n.checkAddr(); err != nil {
		return err
	}
	return n.run(ctx)
}

// node is a host that becomes a node of the cluster.
type node struct {
	request
	number int
	name   string
}

// run has the API server start while the node's image is imported.
func (n node) run(ctx context.Context) error {
	if err := errors.Join(seal(), filterBridges()); err != nil {
		return err
	}
	group, err := makeCgroup(n.Settings.Name, n.name)
	if err != nil {
		return err
	}
	server := func() error { return n.awaitServer(ctx) }
	if n.number == 1 {
		if server, err = n.startServer(ctx); err != nil {
			return err
		}
	}
	if err := importImage(ctx); err != nil {
		return err
	}
	if err := n.startDatapath(ctx); err != nil {
		return err
	}
	if err := server(); err != nil {
		return err
	}
	if n.number == 1 {
		if err := n.startControllers(); err != nil {
			return err
		}
	}
	if err := n.startKubelet(ctx, group); err != nil {
		return err
	}
	return n.startProxy(ctx)
}

// checkAddr fails unless the host has the address that the cluster gives it.
func (n node) checkAddr() error {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return fmt.Errorf("read addresses of %s: %w", n.name, err)
	}
	for _, addr := range addrs {
		if strings.HasPrefix(addr.String(), nodeAddr(n.number).String()+"/") {
			return nil
		}
	}
	return fmt.Errorf("read addresses of %s: %v has no %v: change nodeAddr to how labs number their hosts", n.name, addrs, nodeAddr(n.number))
}

// wantedSysctls are what a kubelet sets where they are not so already. They are the
// machine's.
func wantedSysctls() map[string]string {
	return map[string]string{
		"vm/overcommit_memory":      "1",
		"kernel/panic":              "10",
		"kernel/panic_on_oops":      "1",
		"kernel/keys/root_maxkeys":  "1000000",
		"kernel/keys/root_maxbytes": "25000000",
	}
}

// seal keeps a kubelet from changing the machine: it finds its sysctls as it wants
// them, and writes its logs into the host's memory. The lab protects the rest of
// the sysctls and /var/lib.
func seal() error {
	for name, value := range wantedSysctls() {
		file := filepath.Join(own, "sysctl", name)
		if err := writeFile(file, []byte(value+"\n"), 0o644); err != nil {
			return err
		}
		if err := unix.Mount(file, "/proc/sys/"+name, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("protect /proc/sys/%s: bind %s: %w", name, file, err)
		}
	}
	if err := unix.Mount("tmpfs", "/var/log", "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("protect /var/log: mount tmpfs: %w", err)
	}
	return nil
}

// filterBridges has packets that cross a bridge pass the rules of kube-proxy, as
// Kubernetes asks of a node: else the answer of a pod to one on the same node does
// not come from the service.
func filterBridges() error {
	for _, name := range []string{"bridge-nf-call-iptables", "bridge-nf-call-ip6tables"} {
		if err := os.WriteFile("/proc/sys/net/bridge/"+name, []byte("1"), 0o644); err != nil {
			return fmt.Errorf("filter bridges: %w: modprobe br_netfilter", err)
		}
	}
	return nil
}

// hierarchies is where the hierarchies of control groups are.
const hierarchies = "/sys/fs/cgroup"

// makeCgroup makes the control group below which the node's pods are, in every
// hierarchy. It is in that of the lab, with which tare removes it.
func makeCgroup(lab, name string) (group string, err error) {
	all, err := os.ReadDir(hierarchies)
	if err != nil {
		return "", fmt.Errorf("list hierarchies of control groups: %w", err)
	}
	if _, err := os.Stat(hierarchies + "/cpuset"); err != nil {
		return "", fmt.Errorf("find hierarchy cpuset: %w: run it where control groups are of version 1", err)
	}
	ofLab := "/tare-lab-" + lab
	group = ofLab + "/" + name
	for _, hierarchy := range all {
		if !hierarchy.IsDir() {
			continue // a link: two controllers are one hierarchy
		}
		if err := os.MkdirAll(filepath.Join(hierarchies, hierarchy.Name(), group), 0o755); err != nil {
			return "", fmt.Errorf("make control group: %w", err)
		}
	}
	return group, errors.Join(fillCpuset(ofLab), fillCpuset(group))
}

// fillCpuset gives a control group all CPUs and memory: a new one has none, and a
// kubelet wants all of them.
func fillCpuset(group string) error {
	const root = hierarchies + "/cpuset"
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		all, err := os.ReadFile(filepath.Join(root, file))
		if err == nil {
			err = os.WriteFile(filepath.Join(root, group, file), all, 0o644)
		}
		if err != nil {
			return fmt.Errorf("fill cpuset: %w", err)
		}
	}
	return nil
}

// importImage gives the host's containerd the image of busybox.
func importImage(ctx context.Context) error {
	path := filepath.Join(own, "image.tar")
	if err := writeImage(path); err != nil {
		return err
	}
	if err := command(ctx, "ctr", "--address", containerd, "--namespace", "k8s.io", "images", "import", path); err != nil {
		return err
	}
	return os.Remove(path) // it would take memory twice
}
