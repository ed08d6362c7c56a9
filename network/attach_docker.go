package network

import (
	"errors"
	"fmt"

	"tare/engine/docker"
	"tare/lab"
)

// startDockerEngine starts what several networks of Docker's share: an engine with default
// settings in each host.
func startDockerEngine(cluster *lab.Cluster) error { return startDockers(cluster, docker.LiveRestore) }

// startDockers starts an engine in every host at once. flags are dockerd's.
func startDockers(cluster *lab.Cluster, flags ...string) error {
	return allHosts(cluster, func(h *lab.Host) error { return docker.Start(h, cluster.Spec.MTU, flags...) })
}

// tryDocker reports whether the kernel has what dockerd needs.
func tryDocker(cluster *lab.Cluster, setup *Setup) error {
	if err := setUpBridge(cluster, setup); err != nil {
		return err
	}
	return docker.Try(cluster.Hosts[0])
}

// runDockers has the engine of each host run the host's containers, as describe
// describes them but for their names. If that fails it removes them all: other
// networks may share the engine.
func runDockers(cluster *lab.Cluster, setup *Setup, describe func(c *lab.Container) docker.Container) error {
	err := setup.populate(cluster, func(c *lab.Container) error { return runDocker(cluster, c, describe(c)) })
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

// runDocker runs one container under its name.
func runDocker(cluster *lab.Cluster, c *lab.Container, as docker.Container) error {
	as.Name = dockerName(cluster, c.Host, c.Number)
	return docker.Run(c, as)
}

// dockerName is the engine's name for the n-th container of a host.
func dockerName(cluster *lab.Cluster, h *lab.Host, n int) string {
	return fmt.Sprintf("%s-%s-c%d", cluster.Spec.Name, h.Short, n)
}
