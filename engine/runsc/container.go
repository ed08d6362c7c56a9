package runsc

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"tare/engine"
	"tare/lab"
)

// Run starts a sandbox that takes over the network namespace of c, as it is: addresses and
// routes are added before. The namespace then has none, and what is asked of the container is
// asked inside the sandbox. It ends with the container.
func Run(c *lab.Container) error {
	path, err := c.BindNamespace()
	if err != nil {
		return err
	}
	if err := start(c.Host, c.Short, path); err != nil {
		return err
	}
	if err := c.ForgetIPv6(c.Addr); err != nil {
		return err
	}
	pid, err := readPID(c.Host, c.Short)
	if err != nil {
		return err
	}
	if err := bound(pid, c.Host.CPUs); err != nil {
		return fmt.Errorf("%w, as %s is", err, c.Host.Name)
	}
	c.Push(func() error { return kill(pid) }) // its files end with the lab
	c.EnterBy(lab.Self, ExecVerb, c.Short)
	return nil
}

// Cycle creates and starts a container without a network, under a name that is free. remove
// deletes it. If Cycle fails, no container is left.
func Cycle(h *lab.Host, name string) (func() error, error) {
	removeIt := func() error { return remove(h, name) }
	if err := start(h, name, ""); err != nil {
		return nil, errors.Join(err, removeIt())
	}
	return removeIt, nil
}

// start starts a container of a host in a network namespace, by its path; empty: a new one,
// with nothing but a loopback.
func start(h *lab.Host, name, network string) error {
	spec, err := bundle(name, network)
	if err != nil {
		return err
	}
	at := filepath.Join(folder, name)
	if err := h.WriteFile(filepath.Join(at, "config.json"), spec, 0o600); err != nil {
		return err
	}
	argv, err := command("run", "--detach", "--bundle", at, "--pid-file", pidFile(name), name)
	if err != nil {
		return err
	}
	_, err = h.Run(argv...)
	return err
}

// remove ends a container and forgets it. It is no error if there is none of that name.
func remove(h *lab.Host, name string) error {
	argv, err := command("delete", "--force", name)
	if err != nil {
		return err
	}
	_, err = h.Run(argv...)
	return errors.Join(err, h.Inside(func() error { return os.RemoveAll(filepath.Join(folder, name)) }))
}

// pidFile is where runsc writes the number of a container's sandbox.
func pidFile(name string) string { return filepath.Join(folder, name, "pid") }

func readPID(h *lab.Host, name string) (pid int, err error) {
	err = h.Inside(func() error {
		text, err := os.ReadFile(pidFile(name))
		if err != nil {
			return err
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("find sandbox of %s: %w", name, err)
	}
	return pid, nil
}

// bound fails unless a sandbox may run on a host's CPUs only, where that has any.
func bound(pid int, cpus lab.CPUSet) error {
	var may unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &may); err != nil {
		return fmt.Errorf("read CPUs of sandbox: %w", err)
	}
	if len(cpus) > 0 && (may.Count() != len(cpus) || slices.ContainsFunc(cpus, func(cpu int) bool { return !may.IsSet(cpu) })) {
		return fmt.Errorf("sandbox is not bound to CPUs %s", cpus)
	}
	return nil
}

// kill ends a sandbox: the kernel ends what runs in it.
func kill(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("end sandbox: %w", err)
	}
	return nil
}

// The configuration of a container (OCI runtime specification 1.2), as far as it is needed.
type (
	specification struct {
		Version  string  `json:"ociVersion"`
		Process  process `json:"process"`
		Root     files   `json:"root"`
		Hostname string  `json:"hostname"`
		Mounts   []mount `json:"mounts"`
		Linux    kernel  `json:"linux"`
	}
	process struct {
		User struct {
			UID int `json:"uid"`
			GID int `json:"gid"`
		} `json:"user"`
		Args         []string            `json:"args"`
		Env          []string            `json:"env"`
		Folder       string              `json:"cwd"`
		Capabilities map[string][]string `json:"capabilities"`
	}
	files struct {
		Path string `json:"path"`
	}
	mount struct {
		At      string   `json:"destination"`
		Kind    string   `json:"type"`
		Source  string   `json:"source"`
		Options []string `json:"options,omitempty"`
	}
	kernel struct {
		Namespaces []namespace `json:"namespaces"`
	}
	namespace struct {
		Kind string `json:"type"`
		Path string `json:"path,omitempty"`
	}
)

// bundle is the configuration of a container of a host. Two files are the machine's: a sandbox
// counts no CPU time by itself, and is on this machine.
func bundle(name, network string) ([]byte, error) {
	shared, err := engine.Mounts()
	if err != nil {
		return nil, err
	}
	mounts := []mount{
		{At: "/proc", Kind: "proc", Source: "proc"},
		{At: "/dev", Kind: "tmpfs", Source: "tmpfs"},
		{At: "/sys", Kind: "sysfs", Source: "sysfs", Options: []string{"ro"}},
	}
	for _, path := range []string{"/proc/stat", "/proc/sys/kernel/random/boot_id"} {
		if _, err := os.Stat(path); err == nil {
			shared = append(shared, engine.Mount{From: path, At: path})
		}
	}
	for _, m := range shared {
		mounts = append(mounts, mount{At: m.At, Kind: "bind", Source: m.From, Options: []string{"rbind", "ro"}})
	}
	spec := specification{
		Version: "1.2.0", Root: files{Path: root}, Hostname: name, Mounts: mounts,
		Process: process{
			Args: engine.WaitCommand(), Folder: "/",
			Env:          []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
			Capabilities: map[string][]string{},
		},
		Linux: kernel{Namespaces: []namespace{{Kind: "pid"}, {Kind: "ipc"}, {Kind: "uts"}, {Kind: "mount"}, {Kind: "network", Path: network}}},
	}
	for _, set := range []string{"bounding", "effective", "permitted"} {
		spec.Process.Capabilities[set] = capabilities()
	}
	return json.Marshal(spec)
}

// capabilities are those of a container of Docker by default, as far as servers need them.
func capabilities() []string {
	return []string{"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_KILL", "CAP_NET_BIND_SERVICE", "CAP_SETGID", "CAP_SETUID"}
}
