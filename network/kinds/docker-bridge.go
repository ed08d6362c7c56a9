package kinds

import (
	"cmp"
	"errors"
	"fmt"

	"tare/catalog"
	"tare/engine/docker"
	"tare/lab"
	"tare/network"
)

// dockerBridge is Docker's default network.
func dockerBridge() network.Network {
	return network.Network{
		Needs:       docker.Needs(),
		StartEngine: startDockerEngine,
		Cycle:       docker.Cycle,
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			noteBridgeNetfilter(cluster.Hosts[0], setup)
			return runDockers(cluster, setup, func(*lab.Container) docker.Container { return docker.Container{} })
		},
		Try: tryDocker,
	}
}

// noteBridgeNetfilter notes that bridged packets pass no rules here. On most hosts
// they do, since dockerd loads br_netfilter if it can.
func noteBridgeNetfilter(h *lab.Host, setup *network.Setup) {
	if _, err := h.ReadSysctl(network.BridgeNetfilter); err != nil {
		setup.Note("no-br-netfilter: bridged packets pass no rules here; on hosts where dockerd loads br_netfilter they do")
	}
}

// startDockerEngine starts what several networks of Docker's share: an engine with default
// settings in each host.
func startDockerEngine(cluster *lab.Cluster, setup *network.Setup) error {
	return startDockers(cluster, setup, docker.LiveRestore)
}

// startDockers starts the engine that was asked for in every host at once. flags are dockerd's.
func startDockers(cluster *lab.Cluster, setup *network.Setup, flags ...string) error {
	backend := cmp.Or(setup.Params[catalog.Backend], catalog.ByIptables)
	choice, err := docker.Choose(cluster.Hosts[0], setup.Params[catalog.DockerVersion], backend)
	if err != nil {
		return err
	}
	setup.Part()["dockerd"] = choice.Version
	if setup.Params[catalog.UserlandProxy] == catalog.Off {
		flags = append(flags, docker.NoProxy)
	}
	return network.AllHosts(cluster, func(h *lab.Host) error { return choice.Start(h, cluster.Spec.MTU, flags...) })
}

// tryDocker reports whether the kernel has what dockerd needs.
func tryDocker(cluster *lab.Cluster, setup *network.Setup) error {
	if err := setUpBridge(cluster, setup); err != nil {
		return err
	}
	return docker.Try(cluster.Hosts[0])
}

// runDockers has the engine of each host run the host's containers, as describe
// describes them but for their names. If that fails it removes them all: other
// networks may share the engine.
func runDockers(cluster *lab.Cluster, setup *network.Setup, describe func(c *lab.Container) docker.Container) error {
	err := setup.Populate(cluster, func(c *lab.Container) error { return runDocker(cluster, c, describe(c)) })
	if err == nil {
		return nil
	}
	return errors.Join(err, network.EachHost(cluster, func(h *lab.Host) error {
		var errs []error
		for _, c := range h.Containers() {
			errs = append(errs, h.RemoveContainer(c))
		}
		return errors.Join(errs...)
	}))
}

// runDocker runs one container under its name.
func runDocker(cluster *lab.Cluster, c *lab.Container, as docker.Container) error {
	as.Name = dockerName(cluster, c.Host, c.Number)
	return docker.Run(c, as)
}

// dockerName is the engine's name for the n-th container of a host.
func dockerName(cluster *lab.Cluster, h *lab.Host, n int) string {
	return fmt.Sprintf("%s-%s-c%d", cluster.Spec.Name, h.Short, n)
}
