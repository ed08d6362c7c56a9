package network

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"tare/lab"
)

// runDocker starts count containers of the image in a host, one after another,
// so that their addresses are those of every lab of the plan, and adopts them.
// flags are those of `docker run` for the n-th, from 1. What it started is gone
// when it fails.
func runDocker(u *lab.Underlay, h *lab.Host, count int, flags func(n int) []string) error {
	for n := 1; n <= count; n++ {
		err := startContainer(u, h, n, flags(n))
		if err == nil {
			err = adoptDocker(h, dockerName(u, h, n))
		}
		if err != nil {
			return errors.Join(fmt.Errorf("start container c%d in %s: %w", n, h.Name, err), removeDocker(u, h, n))
		}
	}
	return nil
}

// dockerName is what the engine calls the n-th container of a host.
func dockerName(u *lab.Underlay, h *lab.Host, n int) string {
	return fmt.Sprintf("%s-%s-c%d", u.Spec.Name, h.Short, n)
}

// attachTries is how often a container is started that a swarm lost: the first
// to attach may, while the swarm's nodes settle, and the engine then gives up.
const attachTries = 3

func startContainer(u *lab.Underlay, h *lab.Host, n int, flags []string) error {
	args := []string{"run", "--detach", "--name", dockerName(u, h, n), "--log-driver", "none"}
	if len(h.CPUs) > 0 {
		args = append(args, "--cpuset-cpus", h.CPUs.String())
	}
	args = append(append(args, flags...), ImageName)
	for try := 1; ; try++ {
		_, err := docker(h, args...)
		if err == nil || try == attachTries || !strings.Contains(err.Error(), "attaching to network failed") {
			return err
		}
		if _, err := docker(h, "rm", "--force", dockerName(u, h, n)); err != nil {
			return err
		}
	}
}

// adoptDocker takes a container of the engine's as the host's next. Its
// address is the one that the engine gave it; without, it has the host's.
func adoptDocker(h *lab.Host, name string) error {
	text, err := docker(h, "inspect", "--format", "{{.State.Pid}}{{range .NetworkSettings.Networks}} {{.IPAddress}}{{end}}", name)
	if err != nil {
		return err
	}
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return fmt.Errorf("inspect container %s: the engine says nothing", name)
	}
	pid, err := strconv.Atoi(fields[0])
	if err != nil {
		return fmt.Errorf("inspect container %s: %w", name, err)
	}
	addr := h.Addr
	if len(fields) > 1 {
		if addr, err = netip.ParseAddr(fields[1]); err != nil {
			return fmt.Errorf("inspect container %s: %w", name, err)
		}
	}
	c, err := h.Adopt(pid, dockerEnter(name)...)
	if err != nil {
		return err
	}
	c.Addr = addr
	return nil
}

// dockerEnter starts a process in a container of the engine's.
func dockerEnter(name string) []string {
	return append([]string{lab.Self, lab.ErrandVerb}, dockerCommand("exec", "--interactive", "--env", lab.ErrandMark, name)...)
}

// removeDocker removes what runDocker started, as far as it came.
func removeDocker(u *lab.Underlay, h *lab.Host, count int) error {
	args := []string{"rm", "--force", "--volumes"}
	for n := 1; n <= count; n++ {
		args = append(args, dockerName(u, h, n))
	}
	_, err := docker(h, args...)
	if err != nil && strings.Contains(err.Error(), "No such container") {
		return nil
	}
	return err
}
