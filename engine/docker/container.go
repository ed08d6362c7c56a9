package docker

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"tare/engine"
	"tare/lab"
)

// Container describes a container of an engine.
type Container struct {
	Name    string
	Network string     // the engine's: "host", "none" or a name; empty: docker0
	Addr    netip.Addr // its address; invalid: the engine chooses
	At      netip.Addr // the address of its host at which Ports are published, of IPv6 too where the host has that
	Ports   []engine.Port
}

// attachTries is how often Run starts a container whose first attachment to a
// Swarm network fails: while the swarm's nodes settle, the engine gives up on it.
const attachTries = 3

// Run starts a container of engine.ImageName on the host of c, and adopts it as
// c. Its address is the one that the engine gave it; without one, it has the
// host's. It is removed when c is detached.
func Run(c *lab.Container, as Container) error {
	h := c.Host
	c.Detach.Push(func() error { return remove(h, as.Name) })
	for try := 1; ; try++ {
		err := create(h, as)
		if err == nil {
			break
		}
		if try == attachTries || !strings.Contains(err.Error(), "attaching to network failed") {
			return err
		}
		if err := remove(h, as.Name); err != nil {
			return err
		}
	}
	var state struct {
		State           struct{ Pid int }
		NetworkSettings struct {
			Networks map[string]struct{ IPAddress string }
		}
	}
	if err := ask(h, http.MethodGet, "/containers/"+as.Name+"/json", nil, &state); err != nil {
		return err
	}
	c.Addr = h.Addr
	for _, network := range state.NetworkSettings.Networks {
		if network.IPAddress == "" {
			continue
		}
		var err error
		if c.Addr, err = netip.ParseAddr(network.IPAddress); err != nil {
			return fmt.Errorf("read address of container %s: %w", as.Name, err)
		}
	}
	return c.Adopt(state.State.Pid, enter(as.Name)...)
}

// Cycle creates and starts a container without a network, under a name that is
// free. remove deletes it. If Cycle fails, no container is left.
func Cycle(h *lab.Host, name string) (func() error, error) {
	removeIt := func() error { return remove(h, name) }
	if err := create(h, Container{Name: name, Network: "none"}); err != nil {
		return nil, errors.Join(err, removeIt())
	}
	return removeIt, nil
}

// create creates and starts a container on its host's CPUs.
func create(h *lab.Host, c Container) error {
	mounts, err := engine.Mounts()
	if err != nil {
		return err
	}
	var binds []string
	for _, m := range mounts {
		binds = append(binds, m.From+":"+m.At+":ro")
	}
	type object = map[string]any
	exposed, bound := object{}, object{}
	for _, port := range c.Ports {
		inside := fmt.Sprintf("%d/%s", port.Container, port.Protocol)
		exposed[inside] = object{}
		var at []object
		for _, host := range h.Both(c.At) {
			at = append(at, object{"HostIp": host.String(), "HostPort": strconv.Itoa(int(port.Host))})
		}
		bound[inside] = at
	}
	spec := object{
		"Image": engine.ImageName, "Cmd": engine.WaitCommand(), "ExposedPorts": exposed,
		"HostConfig": object{
			"NetworkMode": c.Network, "PortBindings": bound, "Binds": binds,
			"CpusetCpus": h.CPUs.String(), "LogConfig": object{"Type": "none"},
		},
	}
	if c.Addr.IsValid() {
		own := object{"IPv4Address": c.Addr.String()}
		if h.At().Is6() {
			own["IPv6Address"] = lab.IPv6Of(c.Addr).String()
		}
		spec["NetworkingConfig"] = object{"EndpointsConfig": object{c.Network: object{"IPAMConfig": own}}}
	}
	if err := ask(h, http.MethodPost, "/containers/create?name="+c.Name, spec, nil); err != nil {
		return err
	}
	return start(h, c.Name)
}

const (
	startWait = time.Minute            // how long a container is started again that the engine could not attach
	startStep = 200 * time.Millisecond // between two tries
)

// start starts a container that was created. The engine finds a network of
// Swarm's, attaches to it and looks for it again. If it was removed in between,
// the engine intends to attach again but mistakes the error for another one
// (findAndAttachNetwork in moby's daemon/container_operations.go, 20.10); and it
// gives its manager 20 s for an answer (swarmRequestTimeout in daemon/cluster),
// which a busy machine may not keep. So the request is repeated.
func start(h *lab.Host, name string) error {
	for deadline := time.Now().Add(startWait); ; time.Sleep(startStep) {
		err := ask(h, http.MethodPost, "/containers/"+name+"/start", nil, nil)
		if !notAttached(err) || time.Now().After(deadline) {
			return err
		}
	}
}

// notAttached reports whether an engine may attach a container by the next request.
func notAttached(err error) bool {
	refused := new(refusal)
	if !errors.As(err, &refused) {
		return false
	}
	lost := refused.status == http.StatusNotFound && strings.HasPrefix(refused.message, "network ") && strings.HasSuffix(refused.message, " not found")
	late := strings.HasPrefix(refused.message, "attaching to network failed") && strings.HasSuffix(refused.message, "context deadline exceeded")
	return lost || late
}

// remove stops and removes a container. It is no error if there is none of that
// name.
func remove(h *lab.Host, name string) error {
	err := ask(h, http.MethodDelete, "/containers/"+name+"?force=1&v=1", nil, nil)
	if refused := new(refusal); errors.As(err, &refused) && refused.status == http.StatusNotFound {
		return nil
	}
	return err
}

// enter is the command that starts a process in a container of the engine.
func enter(name string) []string {
	return append([]string{lab.Self, lab.ContainerExecVerb}, client("exec", "--interactive", "--env", lab.ExecMark, name)...)
}
