package lab

import (
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Marked are packets with a mark, as a rule of netfilter sets it.
type Marked struct{ Mark, Mask uint32 }

// KeepMarked has the namespace take marked packets for its own, whatever their destination is: a
// transparent socket receives them then (Documentation/networking/tproxy.rst). table is the number
// of a routing table that has no other use.
func (ns *Namespace) KeepMarked(m Marked, table, priority int) error {
	rule := netlink.NewRule()
	rule.Mark, rule.Mask, rule.Table, rule.Priority, rule.Family = m.Mark, &m.Mask, table, priority, unix.AF_INET
	if err := ns.links.RuleAdd(rule); err != nil {
		return fmt.Errorf("add rule for packets with mark %#x in %s: %w", m.Mark, ns.Name, err)
	}
	index, err := ns.index("lo")
	if err != nil {
		return err
	}
	route := &netlink.Route{
		Dst: &net.IPNet{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}, LinkIndex: index, Table: table,
		Type: unix.RTN_LOCAL, Scope: netlink.SCOPE_HOST, Congctl: ns.CC,
	}
	if err := ns.links.RouteAdd(route); err != nil {
		return fmt.Errorf("add route for packets with mark %#x in %s: %w", m.Mark, ns.Name, err)
	}
	return nil
}
