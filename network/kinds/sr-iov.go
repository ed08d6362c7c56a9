package kinds

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"tare/catalog"
	"tare/engine"
	"tare/lab"
	"tare/network"
)

// srIOV gives each container a virtual function of a real adapter. It is the only
// network that uses a device of the machine, which the user names.
func srIOV() network.Network {
	return network.Network{
		Needs: []engine.Need{engine.NeedRoot()},
		SetUp: setUpSRIOV,
	}
}

// setUpSRIOV distributes the functions to the hosts in turn. A host has no more
// containers than functions; paths that need more are not served.
func setUpSRIOV(cluster *lab.Cluster, setup *network.Setup) error {
	if setup.Params[catalog.VF] == "" {
		return errors.New("no virtual function is named: give one for each host with --vf PCI,PCI (lspci -D shows them)")
	}
	functions := strings.Split(setup.Params[catalog.VF], ",")
	if len(functions) < len(cluster.Hosts) {
		return errors.New("fewer virtual functions than hosts: give one for each host with --vf PCI,PCI")
	}
	setup.Note("the adapter of the virtual functions is between the containers: --link, --nic and --mtu do not apply to it")
	free := map[*lab.Host][]string{} // by host, in the order of its containers
	for n, pci := range functions {
		h := cluster.Hosts[n%len(cluster.Hosts)]
		free[h] = append(free[h], strings.TrimSpace(pci))
	}
	setup.Attach = func(c *lab.Container) error {
		own := free[c.Host]
		if c.Number > len(own) {
			return fmt.Errorf("every virtual function of %s is in use: name more with --vf than there are --containers", c.Host.Short)
		}
		return takeVF(c, own[c.Number-1])
	}
	return network.EachHost(cluster, func(h *lab.Host) error { return setup.Add(h, min(setup.Containers, len(free[h]))) })
}

// takeVF gives a container a virtual function with an address.
func takeVF(c *lab.Container, pci string) error {
	if err := c.Create(); err != nil {
		return err
	}
	device, err := c.TakeVF(pci)
	if err != nil {
		return err
	}
	c.Addr = overlayAddr(c.Host, c.Number)
	return c.AddAddress(device, netip.PrefixFrom(c.Addr, underlayBits))
}
