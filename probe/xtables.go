package probe

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tare/firewall"
)

// xtables reads a match of iptables (include/uapi/linux/netfilter/xt_*.h), whose numbers are in
// the machine's byte order. One that is not known may match or not.
func (d *decoder) xtables(name string, info []byte) {
	room := make([]byte, 192)
	copy(room, info)
	switch name {
	case "comment":
	case "tcp", "udp":
		// struct xt_tcp and xt_udp: source ports, destination ports, then what is inverted.
		inverted := room[8]
		if name == "tcp" {
			inverted = room[11]
			if room[9] != 0 || room[8] != 0 {
				d.match(firewall.Match{Key: "tcp flags", Values: []string{strconv.Itoa(int(room[10]))}})
			}
		}
		d.ports("th sport", number16(room), number16(room[2:]), inverted&1 != 0)
		d.ports("th dport", number16(room[4:]), number16(room[6:]), inverted&2 != 0)
	case "multiport":
		d.multiport(room)
	case "conntrack":
		const stateFlag, flags, inverse, mask = 1, 146, 148, 150
		if number16(room[flags:])&stateFlag != 0 {
			d.match(firewall.Match{Key: stateKey, Not: number16(room[inverse:])&stateFlag != 0, Values: conntrackStates(uint32(number16(room[mask:])))})
		}
		if number16(room[flags:])&^stateFlag != 0 {
			d.match(firewall.Match{Key: "conntrack", Values: []string{"?"}})
		}
	case "state":
		d.match(firewall.Match{Key: stateKey, Values: states(number32(room))})
	case "limit", "hashlimit", "quota", "connlimit":
		d.match(firewall.Match{Key: "limit", Values: []string{name}})
	case "statistic":
		d.match(firewall.Match{Key: "numgen", Values: []string{"?"}})
	case "length":
		d.match(firewall.Match{Key: "meta length", Not: room[4] != 0, Values: []string{fmt.Sprintf("%d-%d", number16(room), number16(room[2:]))}})
	case "iprange":
		d.iprange(room)
	case "addrtype":
		// struct xt_addrtype_info: kinds of source and destination, a bit for each, then what is inverted.
		const local, invertDest = 1 << unix.RTN_LOCAL, 2
		if number16(room) != 0 || number16(room[2:]) != local {
			d.match(firewall.Match{Key: name, Values: []string{"?"}})
			break
		}
		not := number32(room[4:])&invertDest != 0
		if len(info) > 8 { // revision 0 has a number for each
			not = number32(room[8:]) != 0
		}
		d.match(firewall.Match{Key: "fib daddr type", Not: not, Values: []string{"local"}})
	default:
		d.match(firewall.Match{Key: name, Values: []string{"?"}})
	}
}

// ports is a match of a range, unless it is of all.
func (d *decoder) ports(key string, first, last uint16, not bool) {
	switch {
	case first == 0 && last == 0xffff && !not:
	case first == last:
		d.match(firewall.Match{Key: key, Not: not, Values: []string{strconv.Itoa(int(first))}})
	default:
		d.match(firewall.Match{Key: key, Not: not, Values: []string{fmt.Sprintf("%d-%d", first, last)}})
	}
}

// multiport reads struct xt_multiport_v1: which ports, how many, up to 15 of them, those that
// begin a range.
func (d *decoder) multiport(info []byte) {
	const ports, ranges, inverted = 2, 32, 47
	m := firewall.Match{Key: map[byte]string{0: "th sport", 1: "th dport"}[info[0]], Not: info[inverted] != 0}
	if m.Key == "" {
		m.Key = "multiport"
	}
	for n := 0; n < min(int(info[1]), 15); n++ {
		value := strconv.Itoa(int(number16(info[ports+2*n:])))
		if info[ranges+n] != 0 && n < 14 {
			n++
			value += "-" + strconv.Itoa(int(number16(info[ports+2*n:])))
		}
		m.Values = append(m.Values, value)
	}
	d.match(m)
}

// iprange reads struct xt_iprange_mtinfo: the first and last source, destination, and flags.
func (d *decoder) iprange(info []byte) {
	for n, key := range []string{"ip saddr", "ip daddr"} {
		flags := info[64]
		if flags&(1<<n) == 0 || d.family == "ip6" {
			continue
		}
		at := info[32*n:]
		d.match(firewall.Match{Key: key, Not: flags&(1<<(4+n)) != 0, Values: []string{format(key, at[:4], nil) + "-" + format(key, at[16:20], nil)}})
	}
}

// xtTarget is what a target of iptables does, in nft's words.
func xtTarget(name string, revision uint32, info []byte) string {
	room := make([]byte, 64)
	copy(room, info)
	switch name {
	case "DROP", "ACCEPT", "RETURN", "REJECT":
		return strings.ToLower(name)
	case "MASQUERADE":
		return "masquerade" + colon(xtPorts(room[4:]))
	case "REDIRECT":
		return "redirect" + colon(xtPorts(room[4:]))
	case "SNAT", "DNAT":
		return xtTranslation(strings.ToLower(name), revision, info, room)
	case "NFQUEUE":
		bypass := revision == 2 && number16(room[4:]) != 0 || revision > 2 && number16(room[4:])&1 != 0
		return queueText(number16(room), max(1, number16(room[2:])), bypass)
	case "TTL", "HL":
		if room[0] == 0 { // IPT_TTL_SET
			return fmt.Sprintf("ip ttl set %d", room[1])
		}
		return "ip ttl changed"
	case "TCPMSS":
		return fmt.Sprintf("tcp maxseg set %d", number16(room)) // 65535: the path's
	case "NOTRACK":
		return "notrack"
	case "CT":
		if number16(room)&1 != 0 { // XT_CT_NOTRACK
			return "notrack"
		}
		return ""
	case "TPROXY":
		// struct xt_tproxy_target_info: mark, its mask, an address of IPv4, or in a later revision of any, a port.
		port := room[12:]
		if revision > 0 {
			port = room[24:]
		}
		return fmt.Sprintf("tproxy to :%d", big16(port))
	case "LOG", "NFLOG", "MARK", "CONNMARK", "TRACE":
		return ""
	}
	return name
}

// Flags of NF_NAT_RANGE.
const (
	natMapIPs   = 1
	natMapPorts = 2
)

// xtPorts are those of struct nf_nat_ipv4_range: flags, two addresses, two ports.
func xtPorts(r []byte) (first, last string) {
	if number32(r)&natMapPorts == 0 {
		return "", ""
	}
	return strconv.Itoa(int(big16(r[12:]))), strconv.Itoa(int(big16(r[14:])))
}

// xtTranslation reads struct nf_nat_ipv4_multi_range_compat, or nf_nat_range of later revisions.
func xtTranslation(verb string, revision uint32, info, room []byte) string {
	if revision == 0 && len(info) <= 24 {
		first, last := xtPorts(room[4:])
		return toward(verb, xtAddress(room[8:12], number32(room[4:])), first, last)
	}
	var first, last string
	if number32(room)&natMapPorts != 0 {
		first, last = strconv.Itoa(int(big16(room[36:]))), strconv.Itoa(int(big16(room[38:])))
	}
	// An address of IPv4 fills the first of 16 bytes.
	size := 4
	if binary.BigEndian.Uint64(room[8:])|uint64(binary.BigEndian.Uint32(room[12:])) != 0 {
		size = 16
	}
	return toward(verb, xtAddress(room[4:4+size], number32(room)), first, last)
}

func xtAddress(value []byte, flags uint32) string {
	if flags&natMapIPs == 0 {
		return ""
	}
	address, _ := netip.AddrFromSlice(value)
	return address.String()
}

// number16 reads a number of the machine's byte order; 0 where it is cut.
func number16(value []byte) uint16 {
	if len(value) < 2 {
		return 0
	}
	return binary.NativeEndian.Uint16(value)
}

// Of struct ipt_ip and ip6t_ip6.
const (
	invertIn       = 0x01
	invertOut      = 0x02
	invertSource   = 0x08
	invertTarget   = 0x10
	invertFragment = 0x20
	invertProtocol = 0x40
	fragmentsOnly  = 0x01
)

// entryHeader reads what an entry of iptables compares by itself, of struct ipt_ip: addresses, their
// masks, devices, their masks, protocol, flags.
func (d *decoder) entryHeader(head []byte, size int) {
	key := map[int]string{4: "ip ", 16: "ip6 "}[size]
	flags, inverted := head[4*size+64+2], head[4*size+64+3]
	if size == 16 { // struct ip6t_ip6 has a byte more before its flags
		flags, inverted = 0, head[4*size+64+4]
	}
	for n, name := range []string{"saddr", "daddr"} {
		if bits := ones(head[(2+n)*size : (3+n)*size]); bits > 0 {
			d.match(firewall.Match{Key: key + name, Not: inverted&[]byte{invertSource, invertTarget}[n] != 0, Values: []string{prefixOf(key, head[n*size:(n+1)*size], bits)}})
		}
	}
	for n, name := range []string{"iifname", "oifname"} {
		device := word(head[4*size+16*n : 4*size+16*n+16])
		if length := ones(head[4*size+32+16*n:4*size+48+16*n]) / 8; length > 0 {
			if length == len(device) {
				device += "*"
			}
			d.match(firewall.Match{Key: name, Not: inverted&[]byte{invertIn, invertOut}[n] != 0, Values: []string{device}})
		}
	}
	if number := head[4*size+64]; number != 0 {
		d.match(firewall.Match{Key: "meta l4proto", Not: inverted&invertProtocol != 0, Values: []string{protocol(number)}})
	}
	if flags&fragmentsOnly != 0 {
		d.match(firewall.Match{Key: "ip frag-off & 0x1fff", Not: inverted&invertFragment == 0, Values: []string{"0"}})
	}
}

const xtHeader = 32 // struct xt_entry_match: a size of two bytes, a name of 29, a revision

// xtName is the name and revision of a match or target.
func xtName(entry []byte) (name string, revision uint32, info []byte) {
	if len(entry) < xtHeader {
		return "", 0, nil
	}
	return word(entry[2:31]), uint32(entry[31]), entry[xtHeader:]
}

// verdictOf is that of a standard target: negative numbers are verdicts, others places of entries.
func verdictOf(code int32) string {
	switch code {
	case -1:
		return "drop"
	case -2:
		return "accept"
	case -5:
		return "return"
	}
	return ""
}

// conntrackStates are those of xt_conntrack, which has bits for translations where others have "untracked"
// (include/uapi/linux/netfilter/xt_conntrack.h).
func conntrackStates(bits uint32) []string {
	const snat, dnat, untracked, asOthers = 1 << 6, 1 << 7, 1 << 8, 1 << 6
	var names []string
	others := bits &^ (snat | dnat | untracked)
	if bits&untracked != 0 {
		others |= asOthers
	}
	if others != 0 {
		names = states(others)
	}
	if bits&snat != 0 {
		names = append(names, "snat")
	}
	if bits&dnat != 0 {
		names = append(names, "dnat")
	}
	return names
}
