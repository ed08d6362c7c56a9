package probe

import (
	"fmt"
	"maps"
	"net"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// neighbours lists the tables of ARP and of IPv6's neighbour discovery.
func neighbours() Probe {
	return Probe{
		Name: "neighbours", Doc: "link address and state of each neighbour", Scope: Namespace, Source: "ip neighbour",
		look: func(v *view) (map[string]any, error) {
			values, err := lookAtNeighbours(v, unix.AF_INET)
			six, err6 := lookAtNeighbours(v, unix.AF_INET6)
			if err6 == nil { // else the kernel has no IPv6
				maps.Copy(values, six)
			}
			return values, err
		},
	}
}

// forwarding lists the forwarding database of bridges and VXLAN.
func forwarding() Probe {
	return Probe{
		Name: "fdb", Doc: "where bridges and VXLAN send each link address", Scope: Namespace, Source: "bridge fdb",
		look: func(v *view) (map[string]any, error) { return lookAtNeighbours(v, unix.AF_BRIDGE) },
	}
}

func lookAtNeighbours(v *view, family byte) (map[string]any, error) {
	names, err := v.names()
	if err != nil {
		return nil, err
	}
	all, err := v.neighbours(family, names)
	if err != nil {
		return nil, err
	}
	return neighbourValues(all), nil
}

// neighbours lists the neighbours of an address family.
func (v *view) neighbours(family byte, names map[uint32]string) ([]Neighbour, error) {
	dumped, err := v.dump(unix.NETLINK_ROUTE, unix.RTM_GETNEIGH, familyOnly(unix.SizeofNdMsg, family))
	if err != nil {
		return nil, err
	}
	return parseNeighbours(dumped, names)
}

// Neighbour is an entry of the ARP table.
type Neighbour struct {
	Address string `json:"address"`
	MAC     string `json:"mac"` // empty: not known
	Device  string `json:"device"`
	State   string `json:"state"` // as iproute2 names it: "reachable"

	forwards bool // it is of a forwarding database
}

// String writes the entry as iproute2 does.
func (n Neighbour) String() string {
	return fmt.Sprintf("%s dev %s lladdr %s %s", n.Address, n.Device, n.MAC, n.State)
}

// FDBEntry is an entry of a bridge's or a VXLAN's forwarding database. Its
// address is the tunnel endpoint; empty: none.
type FDBEntry Neighbour

// String writes the entry as iproute2 does.
func (e FDBEntry) String() string {
	text := e.MAC + " dev " + e.Device
	if e.Address != "" {
		text += " dst " + e.Address
	}
	return text + " " + e.State
}

// neighbourValues gives neighbours by name: "10.0.0.2 dev eth0" is
// "02:00:00:00:00:02 reachable"; of a forwarding database
// "02:00:00:00:00:02 dev vxlan0" is "10.0.0.2 permanent"; where an address is
// sent to several, all of them.
func neighbourValues(all []Neighbour) map[string]any {
	values := map[string]any{}
	for _, n := range all {
		key, value := n.Address, n.MAC
		if n.forwards {
			key, value = n.MAC, n.Address
		}
		if value != "" {
			value += " "
		}
		key += " dev " + n.Device
		value += n.State
		if other, had := values[key]; had {
			value = fmt.Sprintf("%s, %s", other, value)
		}
		values[key] = value
	}
	return values
}

// parseNeighbours reads the answer to RTM_GETNEIGH.
func parseNeighbours(dumped []byte, names map[uint32]string) ([]Neighbour, error) {
	all := []Neighbour{}
	for m := range messages(dumped) {
		if m.kind != unix.RTM_NEWNEIGH {
			continue
		}
		if len(m.body) < unix.SizeofNdMsg {
			return nil, fmt.Errorf("parse neighbours: a message of %d bytes", len(m.body))
		}
		n := Neighbour{
			Device: names[number32(m.body[4:])], State: neighbourState(uint16(number32(m.body[8:]))), forwards: m.body[0] == unix.AF_BRIDGE,
		}
		for kind, value := range attributes(m.body, unix.SizeofNdMsg) {
			switch kind {
			case unix.NDA_DST:
				n.Address = net.IP(value).String()
			case unix.NDA_LLADDR:
				n.MAC = net.HardwareAddr(value).String()
			}
		}
		all = append(all, n)
	}
	return all, nil
}

// neighbourState names a state as iproute2 does. A VXLAN's entry may be
// permanent and without ARP.
func neighbourState(state uint16) string {
	for _, is := range []struct {
		bit  uint16
		name string
	}{
		{unix.NUD_PERMANENT, "permanent"}, {unix.NUD_NOARP, "noarp"}, {unix.NUD_FAILED, "failed"}, {unix.NUD_INCOMPLETE, "incomplete"},
		{unix.NUD_REACHABLE, "reachable"}, {unix.NUD_STALE, "stale"}, {unix.NUD_DELAY | unix.NUD_PROBE, "probing"},
	} {
		if state&is.bit != 0 {
			return is.name
		}
	}
	return "none"
}

// neighbourCache counts the fate of the machine's neighbour entries of IPv4: one table
// holds those of all namespaces.
func neighbourCache() Probe { return neighbourTable("neighbour_cache", "arp_cache") }

// neighbourCache6 is neighbourCache of IPv6.
func neighbourCache6() Probe { return neighbourTable("neighbour_cache6", "ndisc_cache") }

func neighbourTable(name, table string) Probe {
	return statTable(Probe{
		Name: name, Doc: "neighbours that never answered, and a full table", Scope: Machine, Source: "/proc/net/stat/" + table,
	}, "proc/net/stat/"+table)
}

// neighbourLimits reads how many neighbours the machine's table of IPv4 may have.
func neighbourLimits() Probe { return tableLimits("neighbour_limits", "ipv4") }

// neighbourLimits6 is neighbourLimits of IPv6.
func neighbourLimits6() Probe { return tableLimits("neighbour_limits6", "ipv6") }

func tableLimits(name, family string) Probe {
	folder := "/proc/sys/net/" + family + "/neigh/default"
	return Probe{
		Name: name, Doc: "how many neighbours the machine may have", Scope: Machine, Source: folder,
		look: func(v *view) (map[string]any, error) {
			return readSysctls(filepath.Join(v.root, folder), []string{"gc_thresh1", "gc_thresh2", "gc_thresh3"})
		},
	}
}
