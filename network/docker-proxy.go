package network

import "tare/lab"

// dockerProxy is a port that Docker publishes by its own process alone.
func dockerProxy() Network {
	return Network{
		Name:     "docker-proxy",
		Doc:      "a port published by docker-proxy: Docker with --iptables=false --userland-proxy=true",
		Parent:   "docker-bridge",
		Fidelity: Product,
		Paths:    []string{PublishedPort, ContainerToPublishedPort},
		Outside:  true,
		Needs:    dockerNeeds(),
		Runtime:  dockerRuntime(),
		Missing:  "what dockerd takes of the kernel",
		Get:      "modprobe -a overlay bridge veth nft_compat",
		Lay: func(u *lab.Underlay, l *Laying) error {
			if err := startDockers(u, "--iptables=false", "--userland-proxy=true"); err != nil {
				return err
			}
			// Without rules nothing is masqueraded, so hosts must know the way back.
			if err := routeBetweenHosts(u); err != nil {
				return err
			}
			return runOn(u, l, func(c *lab.Container) dockerRun { return dockerRun{At: c.Host.Addr, Ports: l.published(c)} })
		},
		Try: tryDocker,
	}
}
