package probe

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"tare/result"
)

// Inventory is what a network namespace holds. Its lists are never nil.
type Inventory struct {
	Namespace  string         `json:"namespace"` // the lab's name for it; its reader does not know one
	Inode      uint64         `json:"inode"`     // of the network namespace
	CPUs       string         `json:"cpus,omitempty"`
	Links      []Link         `json:"links"`
	Routes     []result.Route `json:"routes"` // IPv4, of the main table, the preferred ones first
	Routing    Routing        `json:"routing"`
	Neighbours []Neighbour    `json:"neighbours"`
	FDB        []FDBEntry     `json:"fdb"`
	Rules      []Chain        `json:"rules"`
	Unseen     []string       `json:"unseen,omitempty"` // what its reader has no right to list
}

// Inspect reads what the network namespace of the calling thread holds. A
// kernel without nftables has no chains.
func Inspect(root string) (Inventory, error) {
	v := newView(root)
	i, err := v.inspect()
	if err = errors.Join(err, v.close()); err != nil {
		return i, fmt.Errorf("read what a network namespace holds: %w", err)
	}
	return i, nil
}

func (v *view) inspect() (Inventory, error) {
	var i Inventory
	var stat unix.Stat_t
	path := filepath.Join(v.root, "proc/thread-self/ns/net")
	if err := unix.Stat(path, &stat); err != nil {
		return i, fmt.Errorf("read %s: %w", path, err)
	}
	i.Inode = stat.Ino
	names, err := v.names()
	if err != nil {
		return i, err
	}
	for _, inspect := range []func(*Inventory, map[uint32]string) error{
		v.inspectLinks, v.inspectNIC, v.inspectRoutes, v.inspectRouting, v.inspectNeighbours, v.inspectFDB, v.inspectRules,
	} {
		if err := inspect(&i, names); err != nil {
			return i, err
		}
	}
	return i, nil
}

// inspectLinks names kinds as lab show has always printed them: a device without
// a kind is a "device", a TUN device is a "tuntap".
func (v *view) inspectLinks(i *Inventory, _ map[uint32]string) error {
	dumped, err := v.links()
	if err != nil {
		return err
	}
	devices, err := parseDevices(dumped)
	if err != nil {
		return err
	}
	dumped, err = v.dump(unix.NETLINK_ROUTE, unix.RTM_GETADDR, familyOnly(unix.SizeofIfAddrmsg, unix.AF_INET))
	if err != nil {
		return fmt.Errorf("list addresses: %w", err)
	}
	addresses, err := parseAddresses(dumped)
	if err != nil {
		return err
	}
	i.Links = make([]Link, len(devices))
	for n, d := range devices {
		i.Links[n] = d.Link
		i.Links[n].Addresses = append([]netip.Prefix{}, addresses[uint32(d.Index)]...)
		if strings.Trim(d.MAC, "0:") == "" {
			i.Links[n].MAC = "" // a loopback's, or that of a tunnel without an address
		}
		switch d.Kind {
		case "":
			i.Links[n].Kind = "device"
		case "tun":
			i.Links[n].Kind = "tuntap"
		}
	}
	return nil
}

func (v *view) inspectRoutes(i *Inventory, names map[uint32]string) error {
	dumped, err := v.dump(unix.NETLINK_ROUTE, unix.RTM_GETROUTE, familyOnly(unix.SizeofRtMsg, unix.AF_INET))
	if err != nil {
		return fmt.Errorf("list routes: %w", err)
	}
	all, err := parseRoutes(dumped, names)
	i.Routes = ofMain(all)
	i.Routing.Routes = slices.DeleteFunc(all, func(r result.Route) bool { return r.Table == 0 && !r.Learned })
	return err
}

func (v *view) inspectNeighbours(i *Inventory, names map[uint32]string) (err error) {
	if i.Neighbours, err = v.neighbours(unix.AF_INET, names); err != nil {
		return fmt.Errorf("list neighbours: %w", err)
	}
	return nil
}

func (v *view) inspectFDB(i *Inventory, names map[uint32]string) error {
	entries, err := v.neighbours(unix.AF_BRIDGE, names)
	if err != nil {
		return fmt.Errorf("list forwarding databases: %w", err)
	}
	i.FDB = make([]FDBEntry, len(entries))
	for n, entry := range entries {
		i.FDB[n] = FDBEntry(entry)
	}
	return nil
}

func (v *view) inspectRules(i *Inventory, _ map[uint32]string) error {
	dumped, err := v.ruleset(math.MaxInt)
	switch {
	case errors.Is(err, unix.EPERM): // a reader without CAP_NET_ADMIN
		i.Unseen = append(i.Unseen, "rules")
	case err != nil && !errors.Is(err, unix.EPROTONOSUPPORT):
		return fmt.Errorf("list nftables rules: %w", err)
	}
	i.Rules = parseChains(dumped)
	return nil
}

// familyOnly is the body of a request that names only an address family.
func familyOnly(size int, family byte) []byte {
	body := make([]byte, size)
	body[0] = family
	return body
}
