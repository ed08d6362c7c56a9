package lab

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"tare/catalog"
)

// Device is the name of every host's interface to the underlay, and of every
// container's to its network.
const Device = "eth0"

// LoopbackMTU is the MTU of a namespace's loopback (drivers/net/loopback.c).
const LoopbackMTU = 64 << 10

// Cluster is a set of hosts joined by one link layer, the underlay. Every network
// has its own cluster, and all are built in the same way (design, decision 2).
type Cluster struct {
	Undo
	Spec     ClusterSpec
	Hosts    []*Host
	Warnings []string // for every number that is measured here
	RPS      bool     // arriving packets are steered to the host's CPUs

	lab    *Lab
	fabric *Namespace // the switch that joins the hosts; nil: they are joined directly
}

// ClusterSpec is a cluster as data.
type ClusterSpec struct {
	Name  string // the lab's name for it: "vxlan"
	Hosts int    // 2 or more; 1 is a host without neighbours
	CPUs  int    // of each host; 0: all that it gets
	MTU   int    // bytes
	IPv6  bool   // hosts and containers have IPv6 too: see IPv6Of
	NIC   NIC    // model of the interfaces' offloads
	Link  Link   // between the hosts
	// Switch joins two hosts by a switch too: where a cluster of the lab has more
	// hosts, the comparison is fair only if all are joined in the same way.
	Switch bool
}

// Host is a namespace that plays a machine.
type Host struct {
	*Namespace
	Short   string // "h1"
	Number  int    // from 1
	Addr    netip.Addr
	cluster *Cluster
	shared  bool // an engine's, which other networks use too

	mu         sync.Mutex // of what follows
	taken      map[int]bool
	containers []*Container
}

// NewCluster makes hosts and joins them: two by a veth pair, unless a switch
// is asked for, more by a bridge in a separate namespace.
//
// The lab owns it once it is complete; one that fails half-way is removed.
func (l *Lab) NewCluster(spec ClusterSpec) (*Cluster, error) {
	cluster := &Cluster{Spec: spec, lab: l, RPS: l.Steer && l.Pin != catalog.PinNone}
	if err := cluster.build(); err != nil {
		return nil, errors.Join(fmt.Errorf("build cluster %s: %w", spec.Name, err), cluster.Close())
	}
	l.add(cluster)
	return cluster, nil
}

// check refuses what the lab has no addresses or no model for.
func (s ClusterSpec) check() error {
	if s.Hosts < 1 || s.Hosts > catalog.MaxHosts {
		return fmt.Errorf("%d hosts: use 1 to %d", s.Hosts, catalog.MaxHosts)
	}
	if !slices.Contains(NICs(), string(s.NIC)) {
		return fmt.Errorf("NIC model %q: use one of %s", s.NIC, strings.Join(NICs(), ", "))
	}
	return nil
}

func (cluster *Cluster) build() error {
	if err := cluster.Spec.check(); err != nil {
		return err
	}
	if LinkIsInexact(cluster.Spec.Link.BitsPerSecond) {
		cluster.Warnings = append(cluster.Warnings, "link-inexact: at this rate the link lets whole GSO packets pass")
	}
	for n := range cluster.Spec.Hosts {
		if err := cluster.addHost(n); err != nil {
			return err
		}
	}
	if err := cluster.joinSteered(); err != nil {
		return err
	}
	for _, h := range cluster.Hosts {
		if err := cluster.configure(h); err != nil {
			return err
		}
	}
	return cluster.settle()
}

// settle waits until every link of the cluster sends.
func (cluster *Cluster) settle() error {
	var errs []error
	for _, h := range cluster.Hosts {
		errs = append(errs, h.SettleCarriers())
	}
	if cluster.fabric != nil {
		errs = append(errs, cluster.fabric.SettleCarriers())
	}
	return errors.Join(errs...)
}

// addHost makes the n-th host, from 0.
func (cluster *Cluster) addHost(n int) error {
	short := fmt.Sprintf("h%d", n+1)
	cpus, shared := cluster.lab.place(short, n, cluster.Spec.Hosts)
	if shared {
		cluster.warnOnce("shared-cpu: hosts share CPUs: the machine has fewer than the lab has hosts")
	}
	cpus, err := cpus.first(cluster.Spec.CPUs)
	if err != nil {
		return fmt.Errorf("give %s CPUs, by --pin %s: %w", short, cluster.lab.Pin, err)
	}
	ns, err := newNamespace(cluster.Spec.Name+"."+short, cluster.lab.CC)
	if err != nil {
		return err
	}
	cluster.Push(ns.Close)
	if cluster.Spec.IPv6 {
		if err := ns.enableIPv6(); err != nil {
			return err
		}
	}
	ns.CPUs = cpus
	if ns.cgroup, err = cluster.lab.prepareCgroup(cpus); err != nil {
		return err
	}
	cluster.hold(&Host{Namespace: ns, Short: short, Number: n + 1, Addr: UnderlayAddr(0, n+1)})
	return nil
}

// hold adds a host to the cluster.
func (cluster *Cluster) hold(h *Host) {
	h.cluster, h.taken = cluster, map[int]bool{}
	cluster.Push(h.closeContainers)
	cluster.Hosts = append(cluster.Hosts, h)
}

func (cluster *Cluster) warnOnce(text string) {
	for _, had := range cluster.Warnings {
		if had == text {
			return
		}
	}
	cluster.Warnings = append(cluster.Warnings, text)
}

// joinSteered joins the hosts by devices that steer what arrives to their host's CPUs, as
// far as devices can begin with that. Other devices do not.
func (cluster *Cluster) joinSteered() error {
	steered := func(on bool) error {
		var errs []error
		for _, h := range cluster.Hosts {
			if len(h.CPUs) > 0 && cluster.lab.Steer {
				errs = append(errs, h.steerNew(on))
			}
		}
		return errors.Join(errs...)
	}
	return errors.Join(steered(true), cluster.join(), steered(false))
}

// join makes the link layer between the hosts.
func (cluster *Cluster) join() error {
	if len(cluster.Hosts) != 2 || cluster.Spec.Switch {
		return cluster.joinBySwitch()
	}
	a, b := cluster.Hosts[0], cluster.Hosts[1]
	return AddVeth(End{a.Namespace, Device, MAC(a.Addr)}, End{b.Namespace, Device, MAC(b.Addr)}, cluster.Spec.MTU)
}

func (cluster *Cluster) joinBySwitch() error {
	ns, err := newNamespace(cluster.Spec.Name+".switch", cluster.lab.CC)
	if err != nil {
		return err
	}
	cluster.Push(ns.Close)
	cluster.fabric = ns
	if err := ns.AddBridge("br0", cluster.Spec.MTU, nil); err != nil {
		return err
	}
	for _, h := range cluster.Hosts {
		port := "to-" + h.Short
		if err := AddVeth(End{h.Namespace, Device, MAC(h.Addr)}, End{ns, port, nil}, cluster.Spec.MTU); err != nil {
			return err
		}
		if err := ns.SetMaster(port, "br0"); err != nil {
			return err
		}
		if err := ns.SetFeatures(port, cluster.nic().features()); err != nil {
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
func (cluster *Cluster) nic() NIC {
	if !cluster.Spec.Link.IsZero() {
		return NICFrames
	}
	return cluster.Spec.NIC
}

// configure gives a joined host its offloads, address, link and steering.
func (cluster *Cluster) configure(h *Host) error {
	if err := h.SetFeatures(Device, cluster.nic().features()); err != nil {
		return err
	}
	if err := h.SetUp(Device); err != nil {
		return err
	}
	if err := h.AddAddress(Device, netip.PrefixFrom(h.Addr, 16)); err != nil {
		return err
	}
	if err := h.forward(); err != nil {
		return err
	}
	if !cluster.Spec.Link.IsZero() {
		if err := h.SetLink(Device, cluster.Spec.Link, 0); err != nil {
			return err
		}
	}
	if len(h.CPUs) == 0 || !cluster.lab.Steer {
		return nil
	}
	steered, err := h.steer(Device)
	if err != nil {
		return err
	}
	if !steered {
		cluster.RPS = false
		cluster.warnOnce("no-rps: arriving packets are not steered to the host's CPUs, so that segments may overtake each other: that needs root or Linux 6.3")
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
