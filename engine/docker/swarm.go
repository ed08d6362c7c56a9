package docker

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"tare/engine"
	"tare/lab"
)

const (
	swarmPool = "10.230.0.0/16" // of the networks that Swarm makes for itself
	swarmPort = ":2377"
	swarmWait = engine.RequestTimeout // how long the nodes may take to be ready
	swarmStep = 50 * time.Millisecond
)

// JoinSwarm makes one swarm of the hosts' engines, with the first as its manager,
// and waits until every node is ready.
func JoinSwarm(hosts []*lab.Host) error {
	manager := hosts[0]
	at := manager.Addr.String() + swarmPort
	_, err := Command(manager, "swarm", "init", "--advertise-addr", at, "--listen-addr", at, "--default-addr-pool", swarmPool)
	if err != nil {
		return err
	}
	token, err := Command(manager, "swarm", "join-token", "--quiet", "worker")
	if err != nil {
		return err
	}
	errs := make([]error, len(hosts))
	var wait sync.WaitGroup
	for n, h := range hosts[1:] {
		wait.Go(func() {
			_, errs[n] = Command(h, "swarm", "join", "--advertise-addr", h.Addr.String(), "--listen-addr", h.Addr.String()+swarmPort,
				"--token", strings.TrimSpace(token), at)
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return awaitNodes(manager, len(hosts))
}

// awaitNodes waits until the manager lists every node as ready: a container that
// attaches earlier may wait for ever.
func awaitNodes(manager *lab.Host, count int) error {
	var text string
	for deadline := time.Now().Add(swarmWait); time.Now().Before(deadline); time.Sleep(swarmStep) {
		var err error
		if text, err = Command(manager, "node", "ls", "--format", "{{.Status}}"); err != nil {
			return err
		}
		if strings.Count(text, "Ready") == count {
			return nil
		}
	}
	return fmt.Errorf("wait for %d nodes of the swarm: after %v they are %s", count, swarmWait, strings.Join(strings.Fields(text), ", "))
}

// CreateOverlay creates an overlay network that plain containers can attach to,
// on a swarm's manager, for hosts that are joined by a link of the given MTU. It
// waits until the manager has assigned the VNI: other engines learn of a container
// that attaches earlier only after minutes.
func CreateOverlay(manager *lab.Host, name, subnet string, mtu int) error {
	_, err := Command(manager, "network", "create", "--driver", "overlay", "--attachable", "--subnet", subnet,
		"--opt", "com.docker.network.driver.mtu="+strconv.Itoa(mtu), name)
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(swarmWait); time.Now().Before(deadline); time.Sleep(swarmStep) {
		vni, err := Command(manager, "network", "inspect", "--format", `{{index .Options "com.docker.network.driver.overlay.vxlanid_list"}}`, name)
		if err != nil {
			return err
		}
		if strings.TrimSpace(vni) != "" {
			return nil
		}
	}
	return fmt.Errorf("wait for the VNI of network %s: none after %v", name, swarmWait)
}
