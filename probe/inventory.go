package probe

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"path/filepath"

	"golang.org/x/sys/unix"

	"tare/result"
)

// Inventory is what a network namespace holds. Its lists are never nil.
type Inventory struct {
	Namespace  string         `json:"namespace"` // the lab's name for it; its reader does not know one
	Inode      uint64         `json:"inode"`     // of the network namespace
	CPUs       string         `json:"cpus,omitempty"`
	Links      []Link         `json:"links"`
	Routes     []result.Route `json:"routes"` // the preferred ones first
	Neighbours []Neighbour    `json:"neighbours"`
	FDB        []FDBEntry     `json:"fdb"`
	Rules      []Chain        `json:"rules"`
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
	var errs [5]error
	i.Links, errs[0] = v.inspectLinks()
	i.Routes, errs[1] = v.inspectRoutes(names)
	i.Neighbours, errs[2] = v.neighbours(unix.AF_INET, names)
	entries, err := v.neighbours(unix.AF_BRIDGE, names)
	errs[3] = err
	i.FDB = make([]FDBEntry, len(entries))
	for n, entry := range entries {
		i.FDB[n] = FDBEntry(entry)
	}
	i.Rules, errs[4] = v.inspectRules()
	return i, errors.Join(errs[:]...)
}

func (v *view) inspectLinks() ([]Link, error) {
	dumped, err := v.links()
	if err != nil {
		return nil, err
	}
	devices, err := parseDevices(dumped)
	if err != nil {
		return nil, err
	}
	dumped, err = v.dump(unix.NETLINK_ROUTE, unix.RTM_GETADDR, familyOnly(unix.SizeofIfAddrmsg, unix.AF_INET))
	if err != nil {
		return nil, fmt.Errorf("list addresses: %w", err)
	}
	addresses, err := parseAddresses(dumped)
	if err != nil {
		return nil, err
	}
	links := make([]Link, len(devices))
	for n, d := range devices {
		links[n] = d.Link
		links[n].Addresses = append([]netip.Prefix{}, addresses[uint32(d.Index)]...)
		switch d.Kind {
		case "":
			links[n].Kind = "device"
		case "tun":
			links[n].Kind = "tuntap"
		}
	}
	return links, nil
}

func (v *view) inspectRoutes(names map[uint32]string) ([]result.Route, error) {
	dumped, err := v.dump(unix.NETLINK_ROUTE, unix.RTM_GETROUTE, familyOnly(unix.SizeofRtMsg, unix.AF_INET))
	if err != nil {
		return nil, fmt.Errorf("list routes: %w", err)
	}
	return parseRoutes(dumped, names)
}

func (v *view) inspectRules() ([]Chain, error) {
	dumped, err := v.ruleset(math.MaxInt)
	if errors.Is(err, unix.EPROTONOSUPPORT) {
		return []Chain{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list nftables rules: %w", err)
	}
	return parseChains(dumped), nil
}

// familyOnly is the body of a request that names only an address family.
func familyOnly(size int, family byte) []byte {
	body := make([]byte, size)
	body[0] = family
	return body
}
