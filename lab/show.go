package lab

import (
	"errors"
	"fmt"
	"maps"
	"net"

	"github.com/google/nftables"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Snapshot is the configuration and state of a namespace, as the kernel reports it.
type Snapshot struct {
	Namespace  string      `json:"namespace"`
	Inode      uint64      `json:"inode"` // of the network namespace
	CPUs       string      `json:"cpus,omitempty"`
	Links      []LinkInfo  `json:"links"`
	Routes     []string    `json:"routes"`
	Neighbours []string    `json:"neighbours"`
	FDB        []string    `json:"fdb"`
	Rules      []ChainInfo `json:"rules"`
}

// LinkInfo is one device.
type LinkInfo struct {
	Name      string   `json:"name"`
	Index     int      `json:"index"`
	Kind      string   `json:"kind"`
	MAC       string   `json:"mac"`
	MTU       int      `json:"mtu"`
	Up        bool     `json:"up"`
	Bridge    string   `json:"bridge,omitempty"` // that it is a port of
	Addresses []string `json:"addresses"`
	RxPackets uint64   `json:"rx_packets"`
	TxPackets uint64   `json:"tx_packets"`
	RxBytes   uint64   `json:"rx_bytes"`
	TxBytes   uint64   `json:"tx_bytes"`
	Dropped   uint64   `json:"dropped"` // packets, both ways, errors included
}

// ChainInfo is one nftables chain and how many rules it holds.
type ChainInfo struct {
	Table string `json:"table"`
	Chain string `json:"chain"`
	Hook  string `json:"hook,omitempty"`
	Rules int    `json:"rules"`
}

// Look reads the namespace's devices, routes, neighbours and rules.
func (ns *Namespace) Look() (Snapshot, error) {
	snapshot := Snapshot{
		Namespace: ns.Name, CPUs: ns.CPUs.String(),
		Links: []LinkInfo{}, Routes: []string{}, Neighbours: []string{}, FDB: []string{}, Rules: []ChainInfo{},
	}
	names := map[int]string{}
	err := errors.Join(
		ns.lookInode(&snapshot),
		ns.lookLinks(&snapshot, names),
		ns.lookRoutes(&snapshot, names),
		ns.lookNeighbours(&snapshot, names),
		ns.lookRules(&snapshot),
	)
	if err != nil {
		return snapshot, fmt.Errorf("look at %s: %w", ns.Name, err)
	}
	return snapshot, nil
}

func (ns *Namespace) lookInode(snapshot *Snapshot) error {
	var stat unix.Stat_t
	err := unix.Fstat(int(ns.net.Fd()), &stat)
	snapshot.Inode = stat.Ino
	return err
}

// deviceNames are those of the namespace, by index.
func (ns *Namespace) deviceNames() (map[int]string, error) {
	links, err := retry(func() ([]netlink.Link, error) { return ns.links.LinkList() })
	if err != nil {
		return nil, fmt.Errorf("list devices in %s: %w", ns.Name, err)
	}
	return namesOf(links), nil
}

func namesOf(links []netlink.Link) map[int]string {
	names := map[int]string{}
	for _, link := range links {
		names[link.Attrs().Index] = link.Attrs().Name
	}
	return names
}

func (ns *Namespace) lookLinks(snapshot *Snapshot, names map[int]string) error {
	links, err := retry(func() ([]netlink.Link, error) { return ns.links.LinkList() })
	if err != nil {
		return err
	}
	maps.Copy(names, namesOf(links))
	for _, link := range links {
		a := link.Attrs()
		shown := LinkInfo{
			Name: a.Name, Index: a.Index, Kind: link.Type(), MAC: a.HardwareAddr.String(), MTU: a.MTU,
			Up: a.Flags&net.FlagUp != 0, Bridge: names[a.MasterIndex], Addresses: []string{},
		}
		if a.Statistics != nil {
			shown.RxPackets, shown.TxPackets = a.Statistics.RxPackets, a.Statistics.TxPackets
			shown.RxBytes, shown.TxBytes = a.Statistics.RxBytes, a.Statistics.TxBytes
			shown.Dropped = a.Statistics.RxDropped + a.Statistics.TxDropped + a.Statistics.RxErrors + a.Statistics.TxErrors
		}
		addresses, err := retry(func() ([]netlink.Addr, error) { return ns.links.AddrList(link, unix.AF_INET) })
		if err != nil {
			return err
		}
		for _, addr := range addresses {
			shown.Addresses = append(shown.Addresses, addr.IPNet.String())
		}
		snapshot.Links = append(snapshot.Links, shown)
	}
	return nil
}

func (ns *Namespace) lookRoutes(snapshot *Snapshot, names map[int]string) error {
	routes, err := retry(func() ([]netlink.Route, error) { return ns.links.RouteList(nil, unix.AF_INET) })
	if err != nil {
		return err
	}
	for _, r := range routes {
		text := "default"
		if r.Dst != nil && r.Dst.String() != "0.0.0.0/0" {
			text = r.Dst.String()
		}
		if r.Gw != nil {
			text += " via " + r.Gw.String()
		}
		if r.Type == unix.RTN_BLACKHOLE {
			text = "blackhole " + text
		} else {
			text += " dev " + names[r.LinkIndex]
		}
		if r.Protocol > unix.RTPROT_STATIC { // a routing daemon's
			text += " proto " + r.Protocol.String()
		}
		if r.Congctl != "" {
			text += " congctl " + r.Congctl
		}
		snapshot.Routes = append(snapshot.Routes, text)
	}
	return nil
}

func (ns *Namespace) lookNeighbours(snapshot *Snapshot, names map[int]string) error {
	neighbours, err := retry(func() ([]netlink.Neigh, error) { return ns.links.NeighList(0, unix.AF_INET) })
	if err != nil {
		return err
	}
	for _, n := range neighbours {
		snapshot.Neighbours = append(snapshot.Neighbours, fmt.Sprintf("%s dev %s lladdr %s %s", n.IP, names[n.LinkIndex], n.HardwareAddr, neighbourState(n.State)))
	}
	entries, err := retry(func() ([]netlink.Neigh, error) { return ns.links.NeighList(0, unix.AF_BRIDGE) })
	if err != nil {
		return err
	}
	for _, n := range entries {
		text := fmt.Sprintf("%s dev %s", n.HardwareAddr, names[n.LinkIndex])
		if n.IP != nil {
			text += " dst " + n.IP.String()
		}
		snapshot.FDB = append(snapshot.FDB, text+" "+neighbourState(n.State))
	}
	return nil
}

// neighbourState names a neighbour's state as iproute2 does.
func neighbourState(state int) string {
	switch state {
	case netlink.NUD_PERMANENT:
		return "permanent"
	case netlink.NUD_REACHABLE:
		return "reachable"
	case netlink.NUD_STALE:
		return "stale"
	case netlink.NUD_FAILED:
		return "failed"
	case netlink.NUD_INCOMPLETE:
		return "incomplete"
	case netlink.NUD_NOARP:
		return "noarp"
	case netlink.NUD_DELAY, netlink.NUD_PROBE:
		return "probing"
	}
	return "none"
}

// lookRules reads the nftables chains. A kernel without nftables has none.
func (ns *Namespace) lookRules(snapshot *Snapshot) error {
	conn, err := nftables.New(nftables.WithNetNSFd(int(ns.net.Fd())), nftables.AsLasting())
	if errors.Is(err, unix.EPROTONOSUPPORT) {
		return nil
	}
	if err != nil {
		return err
	}
	chains, err := conn.ListChains()
	for _, chain := range chains {
		var rules []*nftables.Rule
		rules, err = conn.GetRules(chain.Table, chain)
		if err != nil {
			break
		}
		snapshot.Rules = append(snapshot.Rules, ChainInfo{Table: chain.Table.Name, Chain: chain.Name, Hook: string(chain.Type), Rules: len(rules)})
	}
	return errors.Join(err, conn.CloseLasting())
}
