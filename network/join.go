package network

import (
	"errors"
	"fmt"
	"net/netip"

	"tare/lab"
)

// populate remembers how the network attaches a container, and attaches those
// asked for to each host. attach gives a new container its namespace and all
// that joins it to the network; it pushes on Detach what must be taken back
// outside that namespace. One that attach fails on is removed.
func (l *Laying) populate(u *lab.Underlay, attach func(c *lab.Container) error) error {
	l.attach = attach
	return allHosts(u, func(h *lab.Host) error { return l.add(h, l.Containers) })
}

// add attaches so many containers to a host, one after another, so that their
// addresses are those of every lab of the plan.
func (l *Laying) add(h *lab.Host, count int) error {
	for range count {
		if _, err := l.addOne(h); err != nil {
			return err
		}
	}
	return nil
}

func (l *Laying) addOne(h *lab.Host) (*lab.Container, error) {
	c, err := h.AddContainer()
	if err != nil {
		return nil, err
	}
	if err := l.attach(c); err != nil {
		return nil, errors.Join(fmt.Errorf("attach %s: %w", c.Name, err), h.RemoveContainer(c))
	}
	return c, nil
}

// Join attaches one more container to a host of a network that has been built,
// as its first ones were; on the host's own network it is the host itself. The
// host's RemoveContainer takes it back. Containers may join and go side by side.
func (n Network) Join(h *lab.Host, l *Laying) (*lab.Container, error) {
	if l.attach == nil {
		return h.Place(), nil
	}
	c, err := l.addOne(h)
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

// AttachHost is the host on which a container joins that is to be reached, or
// to reach, on a path.
func (n Network) AttachHost(u *lab.Underlay, path string) (*lab.Host, error) {
	switch {
	case path == SamePod:
		return nil, fmt.Errorf("path %s: a pod has its network before its containers come: leave it out for attach", path)
	case Within(path):
		return u.Hosts[0], nil
	case len(u.Hosts) < 2:
		return nil, fmt.Errorf("path %s needs two hosts: build the lab with --hosts 2", path)
	}
	return u.Hosts[1], nil
}

// AttachEnds gives the ends between which the first packet goes on a path, for a
// container that joined on the path's AttachHost. It is the server, but for
// container-to-own-host; the client is the first container of the first host, or
// a host.
func (n Network) AttachEnds(u *lab.Underlay, path string, c *lab.Container) (lab.Question, error) {
	own := u.Hosts[0]
	if path == ContainerToOwnHost {
		at := netip.AddrPortFrom(own.Addr, 0)
		return lab.Question{Client: c.Namespace, Server: own.Namespace, Bind: at, Dial: at}, nil
	}
	at := netip.AddrPortFrom(c.Addr, 0)
	ends := lab.Question{Client: own.Namespace, Server: c.Namespace, Bind: at, Dial: at}
	if path == SameHost && c.Addr == own.Addr {
		at = netip.AddrPortFrom(loopback(), 0)
		ends.Bind, ends.Dial = at, at
	}
	if c.Number > 0 && (path == PublishedPort || path == ContainerToPublishedPort) {
		host := c.Host.Addr
		if n.PublishedAt != nil {
			host = n.PublishedAt(c.Host)
		}
		ends.Bind = netip.AddrPortFrom(c.Addr, Port)
		ends.Dial = netip.AddrPortFrom(host, attachedPort(c))
	}
	if c.Number > 0 && path != HostToContainer && path != PublishedPort {
		all := own.Containers()
		if len(all) == 0 || all[0] == c {
			return ends, fmt.Errorf("path %s needs container c1 on %s: build the lab with more --containers", path, own.Short)
		}
		ends.Client = all[0].Namespace
	}
	return ends, nil
}
