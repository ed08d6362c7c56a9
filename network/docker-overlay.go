package network

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"tare/lab"
	"tare/wire"
)

const (
	overlaySubnet = "10.220.0.0/16"
	swarmPool     = "10.230.0.0/16" // of the networks that Swarm makes for itself
	swarmPort     = ":2377"
	// swarmWait is how long the nodes may take to be ready.
	swarmWait = 30 * time.Second
	// lookUpWait is how long the engines may take to tell each other a name.
	lookUpWait = 10 * time.Second
)

// dockerOverlay is Swarm's overlay network, attached to by plain containers.
func dockerOverlay() Network {
	return Network{
		Name:     "docker-overlay",
		Doc:      "Docker Swarm's attachable overlay: bridge + VXLAN in a namespace of Docker's, container MTU = underlay - 50",
		Parent:   "docker-bridge",
		Fidelity: Product,
		Facts:    Facts{Kernel: "vxlan"},
		Stack:    wire.VXLAN(),
		Paths:    []string{SameHost, CrossHost},
		Outside:  true,
		Needs:    dockerNeeds(),
		Runtime:  dockerRuntime(),
		Missing:  "VXLAN devices, or what dockerd takes of the kernel",
		Get:      "modprobe -a vxlan overlay bridge veth nft_compat",
		SetUp:    setUpDockerOverlay,
		Try: func(cluster *lab.Cluster, setup *Setup) error {
			if err := vxlan().SetUp(cluster, setup); err != nil {
				return err
			}
			return tryDockerd(cluster.Hosts[0])
		},
	}
}

func setUpDockerOverlay(cluster *lab.Cluster, setup *Setup) error {
	if err := startDockers(cluster); err != nil {
		return err
	}
	if err := joinSwarm(cluster); err != nil {
		return err
	}
	name := cluster.Spec.Name
	_, err := docker(cluster.Hosts[0], "network", "create", "--driver", "overlay", "--attachable", "--subnet", overlaySubnet,
		"--opt", "com.docker.network.driver.mtu="+strconv.Itoa(cluster.Spec.MTU), name)
	if err != nil {
		return err
	}
	if err := awaitVNI(cluster.Hosts[0], name); err != nil {
		return err
	}
	if err := runOn(cluster, setup, func(*lab.Container) dockerRun { return dockerRun{Network: name} }); err != nil {
		return err
	}
	return checkNames(cluster)
}

// joinSwarm makes one swarm of all hosts, the first its manager.
func joinSwarm(cluster *lab.Cluster) error {
	manager := cluster.Hosts[0]
	at := manager.Addr.String() + swarmPort
	_, err := docker(manager, "swarm", "init", "--advertise-addr", at, "--listen-addr", at, "--default-addr-pool", swarmPool)
	if err != nil {
		return err
	}
	token, err := docker(manager, "swarm", "join-token", "--quiet", "worker")
	if err != nil {
		return err
	}
	err = allHosts(cluster, func(h *lab.Host) error {
		if h == manager {
			return nil
		}
		_, err := docker(h, "swarm", "join", "--advertise-addr", h.Addr.String(), "--listen-addr", h.Addr.String()+swarmPort,
			"--token", strings.TrimSpace(token), at)
		return err
	})
	if err != nil {
		return err
	}
	return awaitNodes(manager, len(cluster.Hosts))
}

// awaitNodes waits until the manager has heard of every node that it is ready: a
// container that attaches before that may wait for ever.
func awaitNodes(manager *lab.Host, count int) error {
	var said string
	for deadline := time.Now().Add(swarmWait); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var err error
		if said, err = docker(manager, "node", "ls", "--format", "{{.Status}}"); err != nil {
			return err
		}
		if strings.Count(said, "Ready") == count {
			return nil
		}
	}
	return fmt.Errorf("wait for %d nodes of the swarm: after %v they are %s", count, swarmWait, strings.Join(strings.Fields(said), ", "))
}

// awaitVNI waits until the manager has given the network its VNI: who attaches
// before that is heard of again after minutes.
func awaitVNI(manager *lab.Host, name string) error {
	for deadline := time.Now().Add(swarmWait); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		vni, err := docker(manager, "network", "inspect", "--format", `{{index .Options "com.docker.network.driver.overlay.vxlanid_list"}}`, name)
		if err != nil {
			return err
		}
		if strings.TrimSpace(vni) != "" {
			return nil
		}
	}
	return fmt.Errorf("wait for the VNI of network %s: none after %v", name, swarmWait)
}

// checkNames asks Docker's name server, in the first container of each host,
// for the first container of the next.
func checkNames(cluster *lab.Cluster) error {
	return allHosts(cluster, func(h *lab.Host) error {
		next := cluster.Hosts[h.Number%len(cluster.Hosts)]
		if len(h.Containers()) == 0 || len(next.Containers()) == 0 {
			return nil
		}
		name, want := dockerName(cluster, next, 1), next.Containers()[0].Addr.String()
		var said string
		var err error
		for deadline := time.Now().Add(lookUpWait); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			said, err = docker(h, "exec", dockerName(cluster, h, 1), lab.SelfInImage, LookUpVerb, name)
			if strings.TrimSpace(said) == want {
				return nil
			}
		}
		return fmt.Errorf("ask Docker's name server in %s for %s: it gives %q (%w), want %s", h.Name, name, strings.TrimSpace(said), err, want)
	})
}
