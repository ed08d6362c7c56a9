package probe

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Of nftables (include/uapi/linux/netfilter/nf_tables.h), where package unix has no names.
const (
	tcpMaxSegment = 2 // TCPOPT_MSS
	exthdrTCP     = 1 // NFT_EXTHDR_OP_TCPOPT
	exthdrSource  = 7 // NFTA_EXTHDR_SREG
	queueBypass   = 1 // NFT_QUEUE_FLAG_BYPASS
)

// statement is what an expression does that loads and compares nothing; "": nothing that
// matters to a packet's way.
func (d *decoder) statement(name string, a map[uint16][]byte) string {
	switch name {
	case "counter":
		return "counter"
	case "reject", "notrack", "dup", "fwd", "tproxy", "synproxy":
		return name
	case "nat":
		return d.translation(a)
	case "masq":
		return "masquerade" + colon(d.text(a[unix.NFTA_MASQ_REG_PROTO_MIN], "th dport"), d.text(a[unix.NFTA_MASQ_REG_PROTO_MAX], "th dport"))
	case "redir":
		return "redirect" + colon(d.text(a[unix.NFTA_REDIR_REG_PROTO_MIN], "th dport"), d.text(a[unix.NFTA_REDIR_REG_PROTO_MAX], "th dport"))
	case "queue":
		if a[unix.NFTA_QUEUE_NUM] == nil {
			return "queue ?"
		}
		return queueText(big16(a[unix.NFTA_QUEUE_NUM]), big16(a[unix.NFTA_QUEUE_TOTAL]), big16(a[unix.NFTA_QUEUE_FLAGS])&queueBypass != 0)
	}
	return ""
}

// queueText is "queue 7", "queue 7-9 bypass".
func queueText(first, count uint16, bypass bool) string {
	text := "queue " + strconv.Itoa(int(first))
	if count > 1 {
		text += "-" + strconv.Itoa(int(first)+int(count)-1)
	}
	if bypass {
		text += " bypass"
	}
	return text
}

// translation is "dnat to 10.102.0.2:80", "snat to 10.0.0.9".
func (d *decoder) translation(a map[uint16][]byte) string {
	verb, key := "snat", "ip saddr"
	if big32(a[unix.NFTA_NAT_TYPE]) == unix.NFT_NAT_DNAT {
		verb = "dnat"
	}
	if big32(a[unix.NFTA_NAT_FAMILY]) == unix.NFPROTO_IPV6 {
		key = "ip6 saddr"
	}
	address := d.text(a[unix.NFTA_NAT_REG_ADDR_MIN], key)
	if last := d.text(a[unix.NFTA_NAT_REG_ADDR_MAX], key); last != "" && last != address {
		address += "-" + last
	}
	port, last := d.text(a[unix.NFTA_NAT_REG_PROTO_MIN], "th dport"), d.text(a[unix.NFTA_NAT_REG_PROTO_MAX], "th dport")
	if port == "?" && strings.HasPrefix(address, "{") { // the map that gives the addresses gives the ports beside them
		port, last = "", ""
	}
	return toward(verb, address, port, last)
}

// toward is what a translation does: "dnat to ADDRESS:PORT-LAST".
func toward(verb, address, port, last string) string {
	if ports := colon(port, last); ports != "" {
		return verb + " to " + address + ports[len(" to "):]
	}
	return verb + " to " + address
}

// colon is " to :PORT", " to :PORT-LAST", or nothing.
func colon(port, last string) string {
	switch {
	case port == "":
		return ""
	case last == "" || last == port:
		return " to :" + port
	}
	return " to :" + port + "-" + last
}

// header is a load of an option, or a change of TCP's maximum segment size.
func (d *decoder) header(a map[uint16][]byte) {
	key := "exthdr"
	if big32(a[unix.NFTA_EXTHDR_OP]) == exthdrTCP && len(a[unix.NFTA_EXTHDR_TYPE]) > 0 && a[unix.NFTA_EXTHDR_TYPE][0] == tcpMaxSegment {
		key = "tcp maxseg"
	}
	d.loadOrSet(a[unix.NFTA_EXTHDR_DREG], a[exthdrSource], key, int(big32(a[unix.NFTA_EXTHDR_LEN])))
}

// limitText is "over 200/second", "200/second".
func limitText(name string, a map[uint16][]byte) string {
	if name != "limit" {
		return name
	}
	text := fmt.Sprintf("%d/%s", big64(a[unix.NFTA_LIMIT_RATE]), unitOf(big64(a[unix.NFTA_LIMIT_UNIT])))
	if big32(a[unix.NFTA_LIMIT_TYPE]) == 1 {
		text = fmt.Sprintf("%d bytes/%s", big64(a[unix.NFTA_LIMIT_RATE]), unitOf(big64(a[unix.NFTA_LIMIT_UNIT])))
	}
	if big32(a[unix.NFTA_LIMIT_FLAGS])&unix.NFT_LIMIT_F_INV != 0 {
		return "over " + text
	}
	return text
}

// unitOf names a unit of seconds.
func unitOf(seconds uint64) string {
	if name, known := map[uint64]string{1: "second", 60: "minute", 3600: "hour", 86400: "day", 604800: "week"}[seconds]; known {
		return name
	}
	return strconv.FormatUint(seconds, 10) + " s"
}

// big16 reads a number of the network's byte order; 0 where it is cut.
func big16(value []byte) uint16 {
	if len(value) < 2 {
		return 0
	}
	return binary.BigEndian.Uint16(value)
}
