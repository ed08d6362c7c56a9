package network

import (
	"errors"
	"net/netip"
	"strings"

	"tare/lab"
)

// vfParam holds the PCI addresses of the virtual functions.
const vfParam = "vf"

// srIOV gives each container a virtual function of a real adapter: the only
// network that takes something of the machine's own, which the user names.
func srIOV() Network {
	return Network{
		Name:     "sr-iov",
		Doc:      "a virtual function of a real adapter per container, taken from this machine by --vf",
		Parent:   Baseline,
		Fidelity: Product,
		Paths:    []string{SameHost, CrossHost},
		Needs:    []Need{root()},
		Missing:  "virtual functions of an SR-IOV adapter",
		Get:      "echo 2 > /sys/class/net/NIC/device/sriov_numvfs",
		Params: []Param{{
			Name: vfParam, Doc: "PCI addresses of the virtual functions for the containers: h1/c1, h2/c1, h1/c2 and so on",
		}},
		Lay: laySRIOV,
	}
}

// laySRIOV deals the functions to containers, a host's turn each. There are as
// many containers as functions; paths that need more are not served.
func laySRIOV(u *lab.Underlay, l *Laying) error {
	if l.Params[vfParam] == "" {
		return errors.New("no virtual function is named: give one for each host with --vf PCI,PCI (lspci -D shows them)")
	}
	functions := strings.Split(l.Params[vfParam], ",")
	if len(functions) < len(u.Hosts) {
		return errors.New("fewer virtual functions than hosts: give one for each host with --vf PCI,PCI")
	}
	l.Note("the adapter of the virtual functions is between the containers: --link, --nic and --mtu are not of it")
	for n, pci := range functions {
		h := u.Hosts[n%len(u.Hosts)]
		c, err := h.AddContainer()
		if err != nil {
			return err
		}
		device, err := c.TakeVF(strings.TrimSpace(pci))
		if err != nil {
			return err
		}
		c.Addr = overlayAddr(h, len(h.Containers))
		if err := c.AddAddress(device, netip.PrefixFrom(c.Addr, 16)); err != nil {
			return err
		}
	}
	return nil
}
