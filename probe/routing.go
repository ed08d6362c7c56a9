package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tare/result"
)

// Routing is what decides where packets go, but for the IPv4 routes of the main table.
type Routing struct {
	Policies  []result.Policy  `json:"policies"`
	Routes    []result.Route   `json:"routes"`
	Addresses []result.Address `json:"addresses"` // of IPv6
}

// inspectRouting reads the rules and tables of both versions of IP. A kernel without
// IPv6, or without rules, has none.
func (v *view) inspectRouting(i *Inventory, names map[uint32]string) error {
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		dumped, err := v.dump(unix.NETLINK_ROUTE, unix.RTM_GETRULE, familyOnly(fibRuleSize, family))
		if err != nil && !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.EAFNOSUPPORT) {
			return fmt.Errorf("list rules of routing: %w", err)
		}
		i.Routing.Policies = append(i.Routing.Policies, parsePolicies(dumped)...)
	}
	dumped, err := v.dump(unix.NETLINK_ROUTE, unix.RTM_GETROUTE, familyOnly(unix.SizeofRtMsg, unix.AF_INET6))
	if err != nil {
		return fmt.Errorf("list routes of IPv6: %w", err)
	}
	routes, err := parseRoutes(dumped, names)
	if err != nil {
		return err
	}
	for _, r := range routes {
		if r.To.Addr().Is6() && !r.To.Addr().IsLinkLocalUnicast() {
			i.Routing.Routes = append(i.Routing.Routes, r)
		}
	}
	if dumped, err = v.dump(unix.NETLINK_ROUTE, unix.RTM_GETADDR, familyOnly(unix.SizeofIfAddrmsg, unix.AF_INET6)); err != nil {
		return fmt.Errorf("list addresses of IPv6: %w", err)
	}
	addresses, err := parseAddresses(dumped)
	refused, retired := parseFlagged(dumped, unix.IFA_F_DADFAILED), parseFlagged(dumped, unix.IFA_F_DEPRECATED)
	for _, index := range slices.Sorted(maps.Keys(addresses)) {
		for _, prefix := range addresses[index] {
			if prefix.Addr().Is6() && !prefix.Addr().IsLinkLocalUnicast() {
				i.Routing.Addresses = append(i.Routing.Addresses, result.Address{Device: names[index], Prefix: prefix, Refused: refused[prefix.Addr()], Retired: retired[prefix.Addr()]})
			}
		}
	}
	return err
}

// parseFlagged reads from the answer to RTM_GETADDR which addresses have a flag.
func parseFlagged(dumped []byte, flag byte) map[netip.Addr]bool {
	flagged := map[netip.Addr]bool{}
	for m := range messages(dumped) {
		if m.kind != unix.RTM_NEWADDR || len(m.body) < unix.SizeofIfAddrmsg || m.body[2]&flag == 0 {
			continue
		}
		for kind, value := range attributes(m.body, unix.SizeofIfAddrmsg) {
			if address, whole := netip.AddrFromSlice(value); kind == unix.IFA_ADDRESS && whole {
				flagged[address] = true
			}
		}
	}
	return flagged
}

// The attributes of a rule (include/uapi/linux/fib_rules.h); package unix has not all
// of them.
const (
	fibRuleSize  = 12 // struct fib_rule_hdr: family, lengths, TOS, table, two unused, action, flags
	ruleInverted = 2  // of the flags

	ruleTo       = 1
	ruleFrom     = 2
	ruleIn       = 3
	rulePriority = 6
	ruleMark     = 10
	ruleShortest = 14
	ruleTable    = 15
	ruleMask     = 16
	ruleOut      = 17
	ruleDomain   = 19
	ruleUsers    = 20
	ruleProtocol = 22
	ruleSource   = 23
	rulePort     = 24
)

// parsePolicies reads the answer to RTM_GETRULE.
func parsePolicies(dumped []byte) (all []result.Policy) {
	for m := range messages(dumped) {
		if m.kind == unix.RTM_NEWRULE && len(m.body) >= fibRuleSize {
			all = append(all, parsePolicy(m.body))
		}
	}
	return all
}

func parsePolicy(body []byte) result.Policy {
	kinds := map[byte]string{1: "", 2: "nop", 3: "nop", 6: "blackhole", 7: "unreachable", 8: "prohibit"}
	p := result.Policy{Six: body[0] == unix.AF_INET6, Table: tableOf(uint32(body[4])), Kind: kinds[body[7]]}
	var rest []string
	if number32(body[8:])&ruleInverted != 0 {
		rest = append(rest, "not")
	}
	if body[3] != 0 {
		rest = append(rest, fmt.Sprintf("tos 0x%02x", body[3]))
	}
	ranges := map[uint16]string{ruleSource: "sport", rulePort: "dport"}
	for kind, value := range attributes(body, fibRuleSize) {
		address, _ := netip.AddrFromSlice(value)
		switch kind {
		case ruleTo:
			p.To = netip.PrefixFrom(address, int(body[1]))
		case ruleFrom:
			p.From = netip.PrefixFrom(address, int(body[2]))
		case ruleIn:
			p.In = word(value)
		case ruleOut:
			p.Out = word(value)
		case rulePriority:
			p.Priority = number32(value)
		case ruleTable:
			p.Table = tableOf(number32(value))
		case ruleShortest:
			p.Shortest = int(int32(number32(value))) + 1
		case ruleMark:
			rest = append(rest, fmt.Sprintf("fwmark 0x%x", number32(value)))
		case ruleDomain:
			rest = append(rest, "l3mdev")
		case ruleUsers:
			rest = append(rest, fmt.Sprintf("uidrange %d-%d", number32(value), number32(value[min(4, len(value)):])))
		case ruleProtocol:
			rest = append(rest, "ipproto "+protocolName(value))
		case ruleSource, rulePort:
			rest = append(rest, ranges[kind]+" "+portRange(value))
		}
	}
	p.Rest = strings.Join(rest, " ")
	return p
}

// protocolName names a protocol of IP as iproute2 does.
func protocolName(value []byte) string {
	names := map[byte]string{unix.IPPROTO_ICMP: "icmp", unix.IPPROTO_TCP: "tcp", unix.IPPROTO_UDP: "udp", unix.IPPROTO_ICMPV6: "ipv6-icmp"}
	number := append(value, 0)[0]
	if name, known := names[number]; known {
		return name
	}
	return strconv.Itoa(int(number))
}

// portRange reads struct fib_rule_port_range.
func portRange(value []byte) string {
	if len(value) < 4 {
		return ""
	}
	first, last := binary.NativeEndian.Uint16(value), binary.NativeEndian.Uint16(value[2:])
	if first == last {
		return strconv.Itoa(int(first))
	}
	return fmt.Sprintf("%d-%d", first, last)
}
