package podman

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tare/engine"
	"tare/lab"
)

// Container describes a container.
type Container struct {
	Name    string
	Network string     // as of podman run --network
	Addr    netip.Addr // its address, where Podman does not know it
	At      netip.Addr // the address of its host at which Ports are published, of IPv6 too where the host has that
	Ports   []engine.Port
}

// Run starts a container of engine.ImageName on the host of c, and adopts it as c. It is removed
// when c is detached.
func Run(c *lab.Container, as Container) error {
	c.Detach.Push(func() error { return remove(c.Host, as.Name) })
	if err := start(c.Host, as); err != nil {
		return err
	}
	text, err := c.Host.Run(command("inspect", "--format", "{{.State.Pid}}{{range .NetworkSettings.Networks}} {{.IPAddress}}{{end}}", as.Name)...)
	if err != nil {
		return err
	}
	pid, addr, known := strings.Cut(strings.TrimSpace(text), " ")
	number, err := strconv.Atoi(pid)
	if err != nil {
		return fmt.Errorf("read process of container %s: %w", as.Name, err)
	}
	c.Addr = as.Addr
	if known {
		if c.Addr, err = netip.ParseAddr(addr); err != nil {
			return fmt.Errorf("read address of container %s: %w", as.Name, err)
		}
	}
	enter := append([]string{lab.Self, lab.ContainerExecVerb}, command("exec", "--interactive", "--env", lab.ExecMark, as.Name)...)
	return c.Adopt(number, enter...)
}

// Cycle creates and starts a container without a network, under a name that is free. remove
// deletes it. If Cycle fails, no container is left.
func Cycle(h *lab.Host, name string) (func() error, error) {
	removeIt := func() error { return remove(h, name) }
	if err := start(h, Container{Name: name, Network: "none"}); err != nil {
		return nil, errors.Join(err, removeIt())
	}
	return removeIt, nil
}

// start creates and starts a container. It gets no control groups: its processes
// inherit the CPUs of the command that starts it, which are its host's.
func start(h *lab.Host, c Container) error {
	limits, err := ownLimits()
	if err != nil {
		return err
	}
	mounts, err := engine.Mounts()
	if err != nil {
		return err
	}
	args := append([]string{"run", "--detach", "--name", c.Name, "--network", c.Network, "--cgroups", "disabled", "--log-driver", "none"}, limits...)
	for _, m := range mounts {
		args = append(args, "--volume", m.From+":"+m.At+":ro")
	}
	for _, port := range c.Ports {
		for _, at := range h.Both(c.At) {
			args = append(args, "--publish", fmt.Sprintf("%s:%d/%s", netip.AddrPortFrom(at, port.Host), port.Container, port.Protocol))
		}
	}
	args = append(append(args, engine.ImageName), engine.WaitCommand()...)
	_, err = h.Run(command(args...)...)
	return err
}

// ownLimits gives a container the limits of this process: Podman's own are higher, which needs
// CAP_SYS_RESOURCE.
func ownLimits() (args []string, err error) {
	for _, limit := range []struct {
		name     string
		resource int
	}{{"nofile", unix.RLIMIT_NOFILE}, {"nproc", unix.RLIMIT_NPROC}} {
		var now unix.Rlimit
		if err := unix.Getrlimit(limit.resource, &now); err != nil {
			return nil, fmt.Errorf("read limit %s: %w", limit.name, err)
		}
		args = append(args, "--ulimit", fmt.Sprintf("%s=%d:%d", limit.name, int64(now.Cur), int64(now.Max))) // -1: unlimited
	}
	return args, nil
}

// remove stops and removes a container. It is no error if there is none of that name.
func remove(h *lab.Host, name string) error {
	_, err := h.Run(command("rm", "--force", "--ignore", "--time", "0", name)...)
	return err
}
