package network

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"tare/lab"
)

// dockerRun is what a container of Docker's has of its own.
type dockerRun struct {
	Network string     // the engine's: "host", "none" or a name; empty: docker0
	Addr    netip.Addr // that it is told to have; invalid: the engine chooses
	At      netip.Addr // the address of its host at which Ports are published
	Ports   []portMap
}

// runOn has the engine of each host run its containers, each as run says. When
// that fails none stays: the engine may be other networks' too.
func runOn(cluster *lab.Cluster, setup *Setup, run func(c *lab.Container) dockerRun) error {
	err := setup.populate(cluster, func(c *lab.Container) error { return runDocker(cluster, c, run(c)) })
	if err == nil {
		return nil
	}
	return errors.Join(err, eachHost(cluster, func(h *lab.Host) error {
		var errs []error
		for _, c := range h.Containers() {
			errs = append(errs, h.RemoveContainer(c))
		}
		return errors.Join(errs...)
	}))
}

// dockerName is what the engine calls the n-th container of a host.
func dockerName(cluster *lab.Cluster, h *lab.Host, n int) string {
	return fmt.Sprintf("%s-%s-c%d", cluster.Spec.Name, h.Short, n)
}

// attachTries is how often a container is started that a swarm lost: the first
// to attach may, while the swarm's nodes settle, and the engine then gives up.
const attachTries = 3

// runDocker starts a container of the image and adopts it. Its address is the
// one that the engine gave it; without, it has the host's.
func runDocker(cluster *lab.Cluster, c *lab.Container, run dockerRun) error {
	h, name := c.Host, dockerName(cluster, c.Host, c.Number)
	c.Detach.Push(func() error { return removeDocker(h, name) })
	for try := 1; ; try++ {
		err := startDockerContainer(h, name, run)
		if err == nil {
			break
		}
		if try == attachTries || !strings.Contains(err.Error(), "attaching to network failed") {
			return err
		}
		if err := removeDocker(h, name); err != nil {
			return err
		}
	}
	var is struct {
		State           struct{ Pid int }
		NetworkSettings struct {
			Networks map[string]struct{ IPAddress string }
		}
	}
	if err := askDocker(h, http.MethodGet, "/containers/"+name+"/json", nil, &is); err != nil {
		return err
	}
	c.Addr = h.Addr
	for _, network := range is.NetworkSettings.Networks {
		if network.IPAddress == "" {
			continue
		}
		var err error
		if c.Addr, err = netip.ParseAddr(network.IPAddress); err != nil {
			return fmt.Errorf("read address of container %s: %w", name, err)
		}
	}
	return c.Adopt(is.State.Pid, dockerEnter(name)...)
}

// startDockerContainer creates and starts a container on its host's CPUs.
func startDockerContainer(h *lab.Host, name string, run dockerRun) error {
	folders, err := programs()
	if err != nil {
		return err
	}
	var binds []string
	for _, folder := range folders {
		binds = append(binds, folder+":"+folder+":ro")
	}
	type object = map[string]any
	exposed, bound := object{}, object{}
	for _, port := range run.Ports {
		inside := fmt.Sprintf("%d/%s", port.container, port.protocol)
		exposed[inside] = object{}
		bound[inside] = []object{{"HostIp": run.At.String(), "HostPort": strconv.Itoa(int(port.host))}}
	}
	spec := object{
		"Image": ImageName, "ExposedPorts": exposed,
		"HostConfig": object{
			"NetworkMode": run.Network, "PortBindings": bound, "Binds": binds,
			"CpusetCpus": h.CPUs.String(), "LogConfig": object{"Type": "none"},
		},
	}
	if run.Addr.IsValid() {
		spec["NetworkingConfig"] = object{"EndpointsConfig": object{
			run.Network: object{"IPAMConfig": object{"IPv4Address": run.Addr.String()}},
		}}
	}
	if err := askDocker(h, http.MethodPost, "/containers/create?name="+name, spec, nil); err != nil {
		return err
	}
	return beginDocker(h, name)
}

const (
	startTries = 5                      // how often a container is started whose network is lost to it
	startStep  = 200 * time.Millisecond // between them
)

// beginDocker starts a container that is made. The engine finds a network of
// Swarm's, attaches to it and looks for it again; where it went in between, the
// engine means to attach anew, but takes the error for another one
// (findAndAttachNetwork in moby's daemon/container_operations.go, 20.10): so it
// is asked again.
func beginDocker(h *lab.Host, name string) error {
	for try := 1; ; try++ {
		err := askDocker(h, http.MethodPost, "/containers/"+name+"/start", nil, nil)
		if try == startTries || !networkLost(err) {
			return err
		}
		time.Sleep(startStep)
	}
}

func networkLost(err error) bool {
	said := new(dockerError)
	return errors.As(err, &said) && said.status == http.StatusNotFound &&
		strings.HasPrefix(said.message, "network ") && strings.HasSuffix(said.message, " not found")
}

// removeDocker removes a container with its end; one that is not there is no
// error.
func removeDocker(h *lab.Host, name string) error {
	err := askDocker(h, http.MethodDelete, "/containers/"+name+"?force=1&v=1", nil, nil)
	if gone := new(dockerError); errors.As(err, &gone) && gone.status == http.StatusNotFound {
		return nil
	}
	return err
}

// dockerRuntime runs the containers of every network of Docker's.
func dockerRuntime() Runtime {
	return Runtime{Name: "docker", Cycle: func(h *lab.Host, name string) (func() error, error) {
		remove := func() error { return removeDocker(h, name) }
		if err := startDockerContainer(h, name, dockerRun{Network: "none"}); err != nil {
			return nil, errors.Join(err, remove())
		}
		return remove, nil
	}}
}

// dockerEnter starts a process in a container of the engine's.
func dockerEnter(name string) []string {
	return append([]string{lab.Self, lab.ErrandVerb}, dockerCommand("exec", "--interactive", "--env", lab.ErrandMark, name)...)
}
