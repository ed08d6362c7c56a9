package lab

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// IPIP is a device that carries IPv4 in IPv4 (RFC 2003) to whichever host is
// the next hop of the route that leads into it.
type IPIP struct {
	Name   string
	Local  netip.Addr   // source of the outer header
	Device string       // towards the peers
	MTU    int          // of the inner packets
	Peers  []netip.Addr // the hosts whose packets are accepted
}

const (
	ipv4Header     = 20
	tunnelTTL      = 64
	protocolIPIP   = 4 // IANA, IPv4 encapsulation
	dontFragment   = 0x4000
	moreOrFragment = 0x3fff
)

// AddIPIP adds a device for IPIP, up: the kernel's where it has one, which
// accepts packets from every host, else, or where it would load a module for that, one made
// by BPF programs (Linux 5.12), which accepts those of the peers. kernel reports which. The
// two interoperate.
func (ns *Namespace) AddIPIP(t IPIP) (kernel bool, err error) {
	switch err := checkModule("/", "ipip", "tunl0"); {
	case errors.As(err, new(*ModuleError)):
		return false, ns.addIPIPByBPF(t)
	case err != nil:
		return false, err
	}
	err = ns.add(&netlink.Iptun{
		LinkAttrs: attrs(t.Name, t.MTU, nil), Local: t.Local.AsSlice(), Ttl: tunnelTTL, PMtuDisc: 1, Proto: protocolIPIP,
	})
	if err == nil {
		return true, ns.SetUp(t.Name)
	}
	if !errors.Is(err, unix.EOPNOTSUPP) {
		return false, err
	}
	return false, ns.addIPIPByBPF(t)
}

// addIPIPByBPF makes the device out of a veth pair's end without ARP. What is
// sent by it gets its outer header and leaves by the lower device; what arrives
// there from a peer loses it and arrives at this device. The pair's other end
// only makes it ready. It has the lower device's MAC address, so that the stack
// takes what is redirected.
func (ns *Namespace) addIPIPByBPF(t IPIP) error {
	lower, err := ns.addBPFDevice(t.Name, t.Device, t.MTU)
	if err != nil {
		return err
	}
	link, err := ns.link(t.Name)
	if err != nil {
		return err
	}
	if err := ns.links.LinkSetARPOff(link); err != nil {
		return fmt.Errorf("switch ARP of %s in %s off: %w", t.Name, ns.Name, err)
	}
	peers, err := ns.addressSet("ipip_peers", t.Peers)
	if err != nil {
		return err
	}
	return errors.Join(
		ns.attach(&ns.Undo, t.Name, "ipip_out", ebpf.AttachTCXEgress, encapsulateIPIP(t.Local, lower)),
		ns.attach(&ns.Undo, t.Device, "ipip_in", ebpf.AttachTCXIngress, decapsulateIPIP(t.Local, peers, link.Attrs().Index)),
		peers.Close()) // the program holds it
}

// addBPFDevice makes a device, up, out of a veth pair, of the MAC address of
// the lower device, whose index it gives.
func (ns *Namespace) addBPFDevice(name, lowerName string, mtu int) (lower int, err error) {
	found, err := retry(func() (netlink.Link, error) { return ns.links.LinkByName(lowerName) })
	if err != nil {
		return 0, fmt.Errorf("find %s in %s: %w", lowerName, ns.Name, err)
	}
	// Ask before anything is made.
	if probe, err := load("probe", asm.Instructions{asm.Mov.Imm(asm.R0, tcxNext), asm.Return()}); err != nil {
		return 0, err
	} else if err := probe.Close(); err != nil {
		return 0, err
	}
	other := name + "-peer"
	if err := AddVeth(End{ns, name, found.Attrs().HardwareAddr}, End{ns, other, nil}, mtu); err != nil {
		return 0, err
	}
	return found.Attrs().Index, errors.Join(ns.SetUp(other), ns.SetUp(name))
}

// addressSet makes a set of addresses for a program to look up.
func (ns *Namespace) addressSet(name string, addrs []netip.Addr) (*ebpf.Map, error) {
	spec := &ebpf.MapSpec{Name: name, Type: ebpf.Hash, KeySize: 4, ValueSize: 1, MaxEntries: uint32(max(len(addrs), 1))}
	for _, addr := range addrs {
		b := addr.As4()
		spec.Contents = append(spec.Contents, ebpf.MapKV{Key: b[:], Value: uint8(1)})
	}
	set, err := ebpf.NewMap(spec)
	if err != nil {
		return nil, fmt.Errorf("make BPF map %s in %s: %w", name, ns.Name, err)
	}
	return set, nil
}
