package lab

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// txQueueLen is what the kernel gives an Ethernet device; the library's zero
// would leave a device without a queue.
const txQueueLen = 1000

// attempts bounds how often an interrupted dump is asked for again.
const attempts = 10

// retry asks again while the kernel says that the table changed during the
// dump (NLM_F_DUMP_INTR).
func retry[T any](dump func() (T, error)) (T, error) {
	var got T
	var err error
	for range attempts {
		got, err = dump()
		if !errors.Is(err, netlink.ErrDumpInterrupted) && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	return got, err
}

// devices are those of a namespace that have been named so far.
type devices struct {
	mu    sync.Mutex
	index map[string]int
}

func (d *devices) find(name string) (int, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	index, known := d.index[name]
	return index, known
}

func (d *devices) keep(name string, index int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.index[name] = index
}

func (d *devices) forget(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.index, name)
}

// index finds a device by name. The kernel is asked once: nothing but the lab makes,
// renames or removes its devices, and a lookup costs as much as a change.
func (ns *Namespace) index(name string) (int, error) {
	if index, known := ns.devices.find(name); known {
		return index, nil
	}
	found, err := retry(func() (netlink.Link, error) { return ns.links.LinkByName(name) })
	if err != nil {
		return 0, fmt.Errorf("find %s in %s: %w", name, ns.Name, err)
	}
	ns.devices.keep(name, found.Attrs().Index)
	return found.Attrs().Index, nil
}

// link is a device as the netlink library takes it.
func (ns *Namespace) link(name string) (netlink.Link, error) {
	index, err := ns.index(name)
	return &netlink.Device{LinkAttrs: netlink.LinkAttrs{Name: name, Index: index}}, err
}

// change changes a device; what names the change in its error.
func (ns *Namespace) change(name, what string, do func(netlink.Link) error) error {
	link, err := ns.link(name)
	if err != nil {
		return err
	}
	if err := do(link); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// attrs are those of a new device. Its address is chosen, not random, so that
// two labs of a plan are the same.
func attrs(name string, mtu int, mac net.HardwareAddr) netlink.LinkAttrs {
	a := netlink.NewLinkAttrs()
	a.Name, a.MTU, a.TxQLen, a.HardwareAddr = name, mtu, txQueueLen, mac
	return a
}

// add creates a device. It is removed with its namespace at the latest.
func (ns *Namespace) add(link netlink.Link) error {
	if err := ns.links.LinkAdd(link); err != nil {
		return fmt.Errorf("add %s %s to %s: %w", link.Type(), link.Attrs().Name, ns.Name, err)
	}
	if a := link.Attrs(); a.Index != 0 && a.Namespace == nil {
		ns.devices.keep(a.Name, a.Index) // the library has read it back
	}
	return nil
}

// RemoveLink removes a device: of a pair both ends.
func (ns *Namespace) RemoveLink(name string) error {
	return ns.change(name, "remove "+name+" from "+ns.Name, func(link netlink.Link) error {
		ns.devices.forget(name)
		return ns.links.LinkDel(link)
	})
}

// End is one end of a pair.
type End struct {
	In   *Namespace
	Name string
	MAC  net.HardwareAddr // nil: the kernel's choice
}

// AddVeth joins two namespaces with a veth pair; both ends are left down.
func AddVeth(a, b End, mtu int) error {
	return a.In.add(&netlink.Veth{
		LinkAttrs:        attrs(a.Name, mtu, a.MAC),
		PeerName:         b.Name,
		PeerHardwareAddr: b.MAC,
		PeerMTU:          uint32(mtu),
		PeerTxQLen:       txQueueLen,
		PeerNamespace:    netlink.NsFd(b.In.net.Fd()),
	})
}

// AddBridge adds a Linux bridge without spanning tree, up.
func (ns *Namespace) AddBridge(name string, mtu int, mac net.HardwareAddr) error {
	if err := ns.add(&netlink.Bridge{LinkAttrs: attrs(name, mtu, mac)}); err != nil {
		return err
	}
	return ns.SetUp(name)
}

// VXLAN is a VXLAN device as an overlay's control plane configures it: no learning,
// answers ARP from its neighbour table, sends where its FDB says.
type VXLAN struct {
	Name   string
	VNI    int
	Port   int
	Local  netip.Addr
	Device string
	MTU    int
}

// AddVXLAN adds a VXLAN device, left down.
func (ns *Namespace) AddVXLAN(v VXLAN) error {
	lower, err := ns.index(v.Device)
	if err != nil {
		return err
	}
	return ns.add(&netlink.Vxlan{
		LinkAttrs:    attrs(v.Name, v.MTU, nil),
		VxlanId:      v.VNI,
		VtepDevIndex: lower,
		SrcAddr:      v.Local.AsSlice(),
		Port:         v.Port,
		Proxy:        true,
	})
}

// AddMacvlan adds a macvlan in bridge mode on a device of ns to another
// namespace, left down.
func (ns *Namespace) AddMacvlan(lowerName string, into *Namespace, name string, mac net.HardwareAddr) error {
	return ns.addOn(lowerName, into, name, mac, func(a netlink.LinkAttrs) netlink.Link {
		return &netlink.Macvlan{LinkAttrs: a, Mode: netlink.MACVLAN_MODE_BRIDGE}
	})
}

// AddIPVLAN adds an ipvlan in L2 mode on a device of ns to another namespace, left
// down. It has the MAC address of the device below.
func (ns *Namespace) AddIPVLAN(lowerName string, into *Namespace, name string) error {
	return ns.addOn(lowerName, into, name, nil, func(a netlink.LinkAttrs) netlink.Link {
		return &netlink.IPVlan{LinkAttrs: a, Mode: netlink.IPVLAN_MODE_L2}
	})
}

// addOn adds a device on a lower one of ns to another namespace. It has a temporary name
// first: before Linux 6.15 the kernel refuses a name that ns itself uses, though the device
// is made elsewhere (rtnl_newlink, net/core/rtnetlink.c).
func (ns *Namespace) addOn(lowerName string, into *Namespace, name string, mac net.HardwareAddr, device func(netlink.LinkAttrs) netlink.Link) error {
	lower, err := ns.index(lowerName)
	if err != nil {
		return err
	}
	const temporary = "new"
	a := attrs(temporary, 0, mac)
	a.ParentIndex = lower
	a.Namespace = netlink.NsFd(into.net.Fd())
	if err := ns.add(device(a)); err != nil {
		return err
	}
	err = into.change(temporary, "rename a new device in "+into.Name+" to "+name, func(link netlink.Link) error {
		return into.links.LinkSetName(link, name)
	})
	into.devices.forget(temporary)
	return err
}

// SettleCarriers waits until devices whose carrier has just come up send. The
// kernel activates them later, in a worker thread, unless it is asked about each
// (rtnl_getlink calls linkwatch_sync_dev, Linux 6.8 or newer). A packet that is sent
// before is lost, and a lost ARP reply is requested again only after a second.
func (ns *Namespace) SettleCarriers() error {
	names, err := ns.deviceNames()
	if err != nil {
		return err
	}
	for index, name := range names {
		_, err := ns.links.LinkByIndex(index)
		if gone := (netlink.LinkNotFoundError{}); err != nil && !errors.As(err, &gone) {
			return fmt.Errorf("read %s in %s: %w", name, ns.Name, err)
		}
	}
	return nil
}

// deviceNames are those of the namespace, by index.
func (ns *Namespace) deviceNames() (map[int]string, error) {
	links, err := retry(func() ([]netlink.Link, error) { return ns.links.LinkList() })
	if err != nil {
		return nil, fmt.Errorf("list devices in %s: %w", ns.Name, err)
	}
	names := map[int]string{}
	for _, link := range links {
		names[link.Attrs().Index] = link.Attrs().Name
	}
	return names, nil
}

// SetUp brings a device up. The loopback's routes get the lab's congestion
// control at once.
func (ns *Namespace) SetUp(name string) error {
	err := ns.change(name, "bring up "+name+" in "+ns.Name, ns.links.LinkSetUp)
	if err != nil || name != "lo" {
		return err
	}
	return ns.chooseLocalCC()
}

// SetMTU sets the MTU of a device, in bytes.
func (ns *Namespace) SetMTU(name string, mtu int) error {
	return ns.change(name, fmt.Sprintf("set MTU of %s in %s to %d", name, ns.Name, mtu), func(link netlink.Link) error {
		return ns.links.LinkSetMTU(link, mtu)
	})
}

// SetMaster makes a device a port of a bridge.
func (ns *Namespace) SetMaster(name, bridge string) error {
	master, err := ns.index(bridge)
	if err != nil {
		return err
	}
	return ns.change(name, "add "+name+" to bridge "+bridge+" in "+ns.Name, func(link netlink.Link) error {
		return ns.links.LinkSetMasterByIndex(link, master)
	})
}

// Isolate lets a bridge's port send to those of its ports only that are not
// isolated too (Linux 4.18).
func (ns *Namespace) Isolate(name string) error {
	return ns.change(name, "isolate "+name+" in "+ns.Name, func(link netlink.Link) error { return ns.links.LinkSetIsolated(link, true) })
}

// AddNeighbour pins an IPv4 address to a MAC address on a device.
func (ns *Namespace) AddNeighbour(device string, addr netip.Addr, mac net.HardwareAddr) error {
	return ns.eachNeighbour("add", device, addr, ns.links.NeighSet, netlink.Neigh{State: netlink.NUD_PERMANENT, HardwareAddr: mac})
}

// DropNeighbour removes an entry that AddNeighbour added.
func (ns *Namespace) DropNeighbour(device string, addr netip.Addr) error {
	return ns.eachNeighbour("drop", device, addr, ns.links.NeighDel, netlink.Neigh{})
}

// eachNeighbour changes the entry of an IPv4 address, and of its counterpart where the
// namespace has IPv6.
func (ns *Namespace) eachNeighbour(verb, device string, addr netip.Addr, change func(*netlink.Neigh) error, n netlink.Neigh) error {
	for _, family := range ns.families() {
		if family == unix.AF_INET6 {
			addr = IPv6Of(addr)
		}
		n.Family, n.IP = family, addr.AsSlice()
		if err := ns.neighbour(verb+" neighbour "+addr.String(), device, change, n); err != nil {
			return err
		}
	}
	return nil
}

// Resolved reports whether the kernel knows the MAC address of a neighbour on a device.
func (ns *Namespace) Resolved(device string, addr netip.Addr) (bool, error) {
	index, err := ns.index(device)
	if err != nil {
		return false, err
	}
	all, err := retry(func() ([]netlink.Neigh, error) { return ns.links.NeighList(index, unix.AF_INET) })
	if err != nil {
		return false, fmt.Errorf("list neighbours on %s in %s: %w", device, ns.Name, err)
	}
	const unknown = netlink.NUD_INCOMPLETE | netlink.NUD_FAILED
	return slices.ContainsFunc(all, func(n netlink.Neigh) bool {
		return n.IP.Equal(addr.AsSlice()) && n.State&unknown == 0 && n.State != netlink.NUD_NONE
	}), nil
}

// AddFDB adds an entry to a VXLAN device: behind which host a MAC address is.
func (ns *Namespace) AddFDB(device string, mac net.HardwareAddr, host netip.Addr) error {
	return ns.neighbour("add FDB entry "+mac.String(), device, ns.links.NeighAppend, fdbEntry(mac, host))
}

// DropFDB removes an entry that AddFDB added.
func (ns *Namespace) DropFDB(device string, mac net.HardwareAddr, host netip.Addr) error {
	return ns.neighbour("drop FDB entry "+mac.String(), device, ns.links.NeighDel, fdbEntry(mac, host))
}

func fdbEntry(mac net.HardwareAddr, host netip.Addr) netlink.Neigh {
	return netlink.Neigh{
		Family: unix.AF_BRIDGE, Flags: netlink.NTF_SELF, State: netlink.NUD_PERMANENT, IP: host.AsSlice(), HardwareAddr: mac,
	}
}

// neighbour changes an entry of a device.
func (ns *Namespace) neighbour(what, device string, change func(*netlink.Neigh) error, n netlink.Neigh) error {
	index, err := ns.index(device)
	if err != nil {
		return err
	}
	n.LinkIndex = index
	if err := change(&n); err != nil {
		return fmt.Errorf("%s on %s in %s: %w", what, device, ns.Name, err)
	}
	return nil
}

// MAC is the locally administered address that the lab gives the owner of an
// IPv4 address, as Docker does.
func MAC(addr netip.Addr) net.HardwareAddr {
	b := addr.As4()
	return net.HardwareAddr{0x02, 0x42, b[0], b[1], b[2], b[3]}
}
