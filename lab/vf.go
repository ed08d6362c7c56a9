package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// pciAddress is a function's as lspci -D writes it.
var pciAddress = regexp.MustCompile(`^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

// TakeVF moves the interface of an SR-IOV virtual function, given by its PCI
// address, from the machine's own network into the container, up and under the
// name that it has. It is the one thing of the machine's network that a lab
// touches, and only because the user named it. The kernel returns it to the
// machine's initial network namespace, under its name, when the container ends.
func (c *Container) TakeVF(pci string) (device string, err error) {
	device, err = vfDevice("/sys/bus/pci/devices", pci)
	if err != nil {
		return "", err
	}
	if c.Host.cluster.lab.Machine == nil {
		return "", errors.New("take VF " + pci + ": this lab can't reach the machine's network")
	}
	machine, err := c.Host.cluster.lab.Machine()
	if err != nil {
		return "", fmt.Errorf("take VF %s: %w", pci, err)
	}
	defer machine.Close()
	if err := c.takeFrom(machine, device); err != nil {
		return "", fmt.Errorf("take VF %s: %w", pci, err)
	}
	return device, c.SetUp(device)
}

// takeFrom moves a device out of another network namespace, left down.
func (ns *Namespace) takeFrom(other *os.File, device string) error {
	handle, err := netlink.NewHandleAt(netns.NsHandle(other.Fd()), unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("open netlink: %w", err)
	}
	defer handle.Close()
	link, err := retry(func() (netlink.Link, error) { return handle.LinkByName(device) })
	if err != nil {
		return fmt.Errorf("find %s: %w", device, err)
	}
	if err := handle.LinkSetNsFd(link, int(ns.net.Fd())); err != nil {
		return fmt.Errorf("move %s into %s: %w", device, ns.Name, err)
	}
	return nil
}

// vfDevice finds the interface of a virtual function below a folder of PCI
// devices.
func vfDevice(devices, pci string) (string, error) {
	if !pciAddress.MatchString(pci) {
		return "", fmt.Errorf("VF %q: give its PCI address, as 0000:3b:02.0", pci)
	}
	at := filepath.Join(devices, pci)
	if _, err := os.Stat(at); err != nil {
		return "", fmt.Errorf("VF %s: no such PCI device: %w: lspci -D lists them", pci, err)
	}
	if _, err := os.Stat(filepath.Join(at, "physfn")); err != nil {
		return "", fmt.Errorf("VF %s: it is not a virtual function, and tare takes no whole interface: %w: echo 2 > /sys/class/net/NIC/device/sriov_numvfs makes two", pci, err)
	}
	interfaces, err := os.ReadDir(filepath.Join(at, "net"))
	if err == nil && len(interfaces) != 1 {
		err = fmt.Errorf("it has %d", len(interfaces))
	}
	if err != nil {
		return "", fmt.Errorf("VF %s: it has no network interface: %w: bind it to its kernel driver", pci, err)
	}
	return interfaces[0].Name(), nil
}
