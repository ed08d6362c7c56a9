package lab

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"

	"tare/catalog"
)

// Container is a namespace that a network attaches to a host.
type Container struct {
	*Namespace
	Short  string     // "c1"
	Number int        // among its host's, from 1; 0: it is the host itself
	Addr   netip.Addr // its address in its network, once attached
	Host   *Host
	// Detach removes what attaching it made outside its namespace. Only
	// RemoveContainer runs it: when the lab ends, all of that ends anyway.
	Detach Undo
}

// AddContainer returns the next container of the host, by the lowest number that
// is free. It has no namespace yet: Create makes one for it, Adopt takes a real
// engine's. A caller that can't attach it removes it. Containers may be added and
// removed concurrently.
func (h *Host) AddContainer() (*Container, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	number := 1
	for h.taken[number] {
		number++
	}
	if number > catalog.MaxContainers {
		return nil, fmt.Errorf("add container to %s: it has %d, the most", h.Name, catalog.MaxContainers)
	}
	h.taken[number] = true
	short := fmt.Sprintf("c%d", number)
	ns := emptyNamespace(h.Name+"/"+short, h.CC)
	ns.CPUs, ns.cgroup, ns.from = h.CPUs, h.cgroup, h.Namespace
	return &Container{Namespace: ns, Short: short, Number: number, Host: h}, nil
}

// Place is the host itself in the role of a container: nothing is made for it,
// and nothing removed.
func (h *Host) Place() *Container {
	return &Container{Namespace: h.Namespace, Short: h.Short, Addr: h.Addr, Host: h}
}

// Create makes a network namespace for the container, attached to nothing.
func (c *Container) Create() error {
	if err := c.create(); err != nil {
		return err
	}
	if c.Host.ipv6 {
		if err := c.enableIPv6(); err != nil {
			return err
		}
	}
	c.Host.list(c)
	return nil
}

// Adopt takes the network namespace of a real engine's container, found by a
// process in it. enter is the engine's command line that starts a process in the
// container, such as {"docker", "exec", "-i", "ID"}; it runs in the host. Where the host has
// IPv6, the container must have the address that belongs to its Addr: see CheckIPv6.
func (c *Container) Adopt(pid int, enter ...string) error {
	file, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return fmt.Errorf("adopt container %s: %w", c.Name, err)
	}
	c.net, c.via, c.ipv6 = file, enter, c.Host.ipv6
	c.Push(file.Close)
	err = c.openLinks()
	for _, s := range connectionSysctls() {
		err = errors.Join(err, c.Sysctl(s.path, s.value))
	}
	if err == nil {
		err = c.CheckIPv6()
	}
	if err != nil {
		return fmt.Errorf("adopt container %s: %w", c.Name, err)
	}
	c.Host.list(c)
	return nil
}

// EnterBy has a sandbox start the processes of a container that Create made a namespace for: the
// sandbox is what has the namespace's addresses. enter is the command line that starts a process
// in it, such as {"runsc", "exec", "ID"}; it runs in the host.
func (c *Container) EnterBy(enter ...string) { c.via, c.sandboxed = enter, true }

// Sandboxed reports whether a sandbox has the namespace's addresses and connections: of its
// network the kernel knows only the devices.
func (ns *Namespace) Sandboxed() bool { return ns.sandboxed }

// list adds a container that has a namespace to those that Containers returns.
func (h *Host) list(c *Container) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.containers = append(h.containers, c)
	slices.SortFunc(h.containers, func(a, b *Container) int { return cmp.Compare(a.Number, b.Number) })
}

// Containers lists those that have a namespace, by number.
func (h *Host) Containers() []*Container {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.containers)
}

// RemoveContainer removes one container: what attaching it made, in reverse
// order, and its namespace. Its number, and so its address, is free again, unless
// that failed.
func (h *Host) RemoveContainer(c *Container) error {
	if c.Number == 0 {
		return nil
	}
	h.mu.Lock()
	h.containers = slices.DeleteFunc(h.containers, func(other *Container) bool { return other == c })
	h.mu.Unlock()
	if err := errors.Join(c.Detach.Close(), c.Close()); err != nil {
		return fmt.Errorf("remove container %s: %w", c.Name, err)
	}
	h.mu.Lock()
	delete(h.taken, c.Number)
	h.mu.Unlock()
	return nil
}

// closeContainers closes every container when the host ends.
func (h *Host) closeContainers() error {
	var errs []error
	for _, c := range h.Containers() {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
