package lab

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
)

// Device is the name of every host's interface to the underlay, and of every
// container's to its network.
const Device = "eth0"

// LoopbackMTU is the MTU of a namespace's loopback (drivers/net/loopback.c).
const LoopbackMTU = 64 << 10

// MaxHosts bounds the hosts of an underlay: an address has six bits for them.
const MaxHosts = 63

// Underlay is a set of hosts joined by one link layer. Every network has an
// underlay of its own, all alike (design, decision 2).
type Underlay struct {
	Undo
	Spec     UnderlaySpec
	Hosts    []*Host
	Warnings []string // for every number measured here
	RPS      bool     // arriving packets are steered to the host's CPUs

	lab    *Lab
	fabric *Namespace // the switch that joins the hosts; nil: they are joined directly
}

// UnderlaySpec is an underlay as data.
type UnderlaySpec struct {
	Name  string  // the lab's name for it: "vxlan"
	Hosts int     // 2 or more; 1 is a host without neighbours
	MTU   int     // bytes
	NIC   NIC     // model of the interfaces' offloads
	Link  float64 // bit/s; 0: as fast as the CPU
	// Switch joins two hosts by a switch too: a lab in which some underlay has
	// more is only weighed fairly if all are joined alike.
	Switch bool
}

// Host is a namespace that plays a machine.
type Host struct {
	*Namespace
	Short    string // "h1"
	Number   int    // from 1
	Addr     netip.Addr
	underlay *Underlay
	shared   bool // an engine's, on which other networks stand too

	mu         sync.Mutex // of what follows
	taken      map[int]bool
	containers []*Container
}

// NewUnderlay makes hosts and joins them: two by a veth pair, unless a switch
// is asked for, more by a bridge in a namespace of its own.
//
// It is the lab's once it is whole; one that fails half-way is removed.
func (l *Lab) NewUnderlay(spec UnderlaySpec) (*Underlay, error) {
	u := &Underlay{Spec: spec, lab: l, RPS: l.Steer && l.Pin != PinNone}
	if err := u.build(); err != nil {
		return nil, errors.Join(fmt.Errorf("build underlay %s: %w", spec.Name, err), u.Close())
	}
	l.add(u)
	return u, nil
}

// check refuses what the lab has no addresses or no model for.
func (s UnderlaySpec) check() error {
	if s.Hosts < 1 || s.Hosts > MaxHosts {
		return fmt.Errorf("%d hosts: use 1 to %d", s.Hosts, MaxHosts)
	}
	if !slices.Contains(NICs(), string(s.NIC)) {
		return fmt.Errorf("NIC model %q: use one of %s", s.NIC, strings.Join(NICs(), ", "))
	}
	return nil
}

func (u *Underlay) build() error {
	if err := u.Spec.check(); err != nil {
		return err
	}
	if u.Spec.Link > 0 && LinkIsInexact(u.Spec.Link) {
		u.Warnings = append(u.Warnings, "link-inexact: at this rate the link lets whole GSO packets pass")
	}
	for n := range u.Spec.Hosts {
		if err := u.addHost(n); err != nil {
			return err
		}
	}
	if err := u.join(); err != nil {
		return err
	}
	for _, h := range u.Hosts {
		if err := u.configure(h); err != nil {
			return err
		}
	}
	return u.settle()
}

// settle waits until every link of the underlay sends.
func (u *Underlay) settle() error {
	var errs []error
	for _, h := range u.Hosts {
		errs = append(errs, h.SettleCarriers())
	}
	if u.fabric != nil {
		errs = append(errs, u.fabric.SettleCarriers())
	}
	return errors.Join(errs...)
}

// addHost makes the n-th host, from 0.
func (u *Underlay) addHost(n int) error {
	short := fmt.Sprintf("h%d", n+1)
	cpus, shared := u.lab.place(short, n, u.Spec.Hosts)
	if shared {
		u.warnOnce("shared-cpu: hosts share CPUs: the machine has fewer than the lab has hosts")
	}
	ns, err := newNamespace(u.Spec.Name+"."+short, u.lab.CC)
	if err != nil {
		return err
	}
	u.Push(ns.Close)
	ns.CPUs = cpus
	u.hold(&Host{Namespace: ns, Short: short, Number: n + 1, Addr: UnderlayAddr(0, n+1)})
	return nil
}

// hold makes a host the underlay's.
func (u *Underlay) hold(h *Host) {
	h.underlay, h.taken = u, map[int]bool{}
	u.Push(h.closeContainers)
	u.Hosts = append(u.Hosts, h)
}

func (u *Underlay) warnOnce(text string) {
	for _, had := range u.Warnings {
		if had == text {
			return
		}
	}
	u.Warnings = append(u.Warnings, text)
}

// join lays the link layer between the hosts.
func (u *Underlay) join() error {
	if len(u.Hosts) != 2 || u.Spec.Switch {
		return u.joinBySwitch()
	}
	a, b := u.Hosts[0], u.Hosts[1]
	return AddVeth(End{a.Namespace, Device, MAC(a.Addr)}, End{b.Namespace, Device, MAC(b.Addr)}, u.Spec.MTU)
}

func (u *Underlay) joinBySwitch() error {
	ns, err := newNamespace(u.Spec.Name+".switch", u.lab.CC)
	if err != nil {
		return err
	}
	u.Push(ns.Close)
	u.fabric = ns
	if err := ns.AddBridge("br0", u.Spec.MTU, nil); err != nil {
		return err
	}
	for _, h := range u.Hosts {
		port := "to-" + h.Short
		if err := AddVeth(End{h.Namespace, Device, MAC(h.Addr)}, End{ns, port, nil}, u.Spec.MTU); err != nil {
			return err
		}
		if err := ns.SetMaster(port, "br0"); err != nil {
			return err
		}
		if err := ns.SetFeatures(port, u.nic().features()); err != nil {
			return err
		}
		if err := ns.SetUp(port); err != nil {
			return err
		}
	}
	return nil
}

// nic is the model in force: a link counts each wire frame, so it carries
// frames.
func (u *Underlay) nic() NIC {
	if u.Spec.Link > 0 {
		return NICFrames
	}
	return u.Spec.NIC
}

// configure gives a joined host its offloads, address, link and steering.
func (u *Underlay) configure(h *Host) error {
	if err := h.SetFeatures(Device, u.nic().features()); err != nil {
		return err
	}
	if err := h.SetUp(Device); err != nil {
		return err
	}
	if err := h.AddAddress(Device, netip.PrefixFrom(h.Addr, 16)); err != nil {
		return err
	}
	if err := h.Sysctl("net/ipv4/ip_forward", "1"); err != nil {
		return err
	}
	if u.Spec.Link > 0 {
		if err := h.SetLink(Device, u.Spec.Link, 0); err != nil {
			return err
		}
	}
	if len(h.CPUs) == 0 || !u.lab.Steer {
		return nil
	}
	steered, err := h.steer(Device)
	if err != nil {
		return err
	}
	if !steered {
		u.RPS = false
		u.warnOnce("no-rps: arriving packets are not steered to the host's CPUs: that needs root")
	}
	return nil
}

// UnderlayAddr is an address of the underlay, 10.0.0.0/16: the n-th container
// of a host that lives on it, from 1; host 0: the n-th host's own.
func UnderlayAddr(host, n int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, 0, byte(host<<2 | n>>8), byte(n)})
}

// Subnet is the host's own range for containers.
func (h *Host) Subnet() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(100 + h.Number), 0, 0}), 16)
}

// ContainerAddr is the address of the host's n-th container, from 1, in the
// host's own range; 0 is the gateway.
func (h *Host) ContainerAddr(n int) netip.Addr {
	return nth(h.Subnet(), n+1)
}

// nth address of a subnet.
func nth(subnet netip.Prefix, n int) netip.Addr {
	b := subnet.Addr().As4()
	return netip.AddrFrom4([4]byte{b[0], b[1], byte(n >> 8), byte(n)})
}
