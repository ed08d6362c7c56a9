package network

import (
	"errors"
	"fmt"
	"net/netip"

	"tare/catalog"
	"tare/lab"
)

// Populate sets how the network attaches a container, and attaches the containers
// of each host. attach gives a new container its namespace and connects it; it
// pushes on Detach what removes that outside the namespace. A container is removed
// if attach fails.
func (setup *Setup) Populate(cluster *lab.Cluster, attach func(c *lab.Container) error) error {
	setup.Attach = attach
	return AllHosts(cluster, func(h *lab.Host) error { return setup.Add(h, setup.Containers) })
}

// Add attaches containers to a host, one after another, so that their addresses
// are the same in every lab of a plan.
func (setup *Setup) Add(h *lab.Host, count int) error {
	for range count {
		if _, err := setup.addOne(h); err != nil {
			return err
		}
	}
	return nil
}

func (setup *Setup) addOne(h *lab.Host) (*lab.Container, error) {
	c, err := h.AddContainer()
	if err != nil {
		return nil, err
	}
	if err := setup.Attach(c); err != nil {
		return nil, errors.Join(fmt.Errorf("attach %s: %w", c.Name, err), h.RemoveContainer(c))
	}
	return c, nil
}

// Join attaches one more container to a host of a network that has been set up, in
// the same way as the first ones. On the host's own network it is the host itself.
// The host's RemoveContainer removes it. Join and RemoveContainer are safe for
// concurrent use.
func (n Network) Join(h *lab.Host, setup *Setup) (*lab.Container, error) {
	if setup.Attach == nil {
		return h.Place(), nil
	}
	c, err := setup.addOne(h)
	if err != nil {
		return nil, err
	}
	err = c.SettleCarriers()
	if len(n.Needs) > 0 {
		err = errors.Join(err, c.SettleCC(), h.SettleCC())
	}
	if err != nil {
		return nil, errors.Join(err, h.RemoveContainer(c))
	}
	return c, nil
}

// AttachHost is the host to which a container is attached for a path.
func (n Network) AttachHost(cluster *lab.Cluster, path string) (*lab.Host, error) {
	switch {
	case path == catalog.SamePod:
		return nil, fmt.Errorf("path %s: a pod has its network before it has containers: leave this path out for attach", path)
	case catalog.Within(path):
		return cluster.Hosts[0], nil
	case len(cluster.Hosts) < 2:
		return nil, fmt.Errorf("path %s needs two hosts: build the lab with --hosts 2", path)
	}
	return cluster.Hosts[1], nil
}

// AttachEnds returns the ends of the first packet on a path, for a container that
// was attached to the path's AttachHost. That container is the server, except on
// container-to-own-host; the client is the first container of the first host, or a
// host.
func (n Network) AttachEnds(cluster *lab.Cluster, path string, c *lab.Container) (lab.Question, error) {
	ends, err := n.attachEnds(cluster, path, c)
	if cluster.Spec.IPv6 && err == nil {
		ends.Bind = netip.AddrPortFrom(lab.IPv6Of(ends.Bind.Addr()), ends.Bind.Port())
		ends.Dial = netip.AddrPortFrom(lab.IPv6Of(ends.Dial.Addr()), ends.Dial.Port())
	}
	return ends, err
}

// attachEnds are those of AttachEnds at their IPv4 addresses.
func (n Network) attachEnds(cluster *lab.Cluster, path string, c *lab.Container) (lab.Question, error) {
	own := cluster.Hosts[0]
	if path == catalog.ContainerToOwnHost {
		at := netip.AddrPortFrom(own.Addr, 0)
		return lab.Question{Client: c.Namespace, Server: own.Namespace, Bind: at, Dial: at}, nil
	}
	at := netip.AddrPortFrom(c.Addr, 0)
	ends := lab.Question{Client: own.Namespace, Server: c.Namespace, Bind: at, Dial: at}
	if path == catalog.SameHost && c.Addr == own.Addr {
		at = netip.AddrPortFrom(Loopback(), 0)
		ends.Bind, ends.Dial = at, at
	}
	if c.Number > 0 && (path == catalog.PublishedPort || path == catalog.ContainerToPublishedPort) {
		ends.Bind = netip.AddrPortFrom(c.Addr, Port)
		ends.Dial = netip.AddrPortFrom(n.PublishedBy(c.Host), attachedPort(c))
	}
	if c.Number > 0 && path != catalog.HostToContainer && path != catalog.PublishedPort {
		all := own.Containers()
		if len(all) == 0 || all[0] == c {
			return ends, fmt.Errorf("path %s needs container c1 on %s: build the lab with more --containers", path, own.Short)
		}
		ends.Client = all[0].Namespace
	}
	return ends, nil
}

// PublishedBy is the address at which a host publishes ports.
func (n Network) PublishedBy(h *lab.Host) netip.Addr {
	if n.PublishedAt != nil {
		return n.PublishedAt(h)
	}
	return h.Addr
}
