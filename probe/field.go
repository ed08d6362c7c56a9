package probe

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/bits"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const stateKey = "ct state"

// payload names the part of a packet that is loaded.
func (d *decoder) payload(a map[uint16][]byte) string {
	base, offset, size := big32(a[unix.NFTA_PAYLOAD_BASE]), big32(a[unix.NFTA_PAYLOAD_OFFSET]), big32(a[unix.NFTA_PAYLOAD_LEN])
	name := ""
	switch {
	case base == unix.NFT_PAYLOAD_TRANSPORT_HEADER && size == 2:
		name = map[uint32]string{0: "th sport", 2: "th dport"}[offset]
	case base == unix.NFT_PAYLOAD_TRANSPORT_HEADER && size == 1 && offset == 0:
		name = "icmp type"
	case base == unix.NFT_PAYLOAD_NETWORK_HEADER && d.family == "arp":
		name = map[uint32]string{6: "arp operation", 8: "arp saddr ether", 14: "arp saddr ip", 24: "arp daddr ip"}[offset]
	case base == unix.NFT_PAYLOAD_NETWORK_HEADER && d.network == "ip6":
		name = map[uint32]string{6: "meta l4proto", 7: "ip6 hoplimit", 8: "ip6 saddr", 24: "ip6 daddr"}[offset]
	case base == unix.NFT_PAYLOAD_NETWORK_HEADER:
		name = map[uint32]string{2: "ip length", 6: "ip frag-off", 8: "ip ttl", 9: "meta l4proto", 12: "ip saddr", 16: "ip daddr"}[offset]
	}
	if name == "" {
		return fmt.Sprintf("@%d,%d,%d", base, 8*offset, 8*size)
	}
	return name
}

// metaKey names what is known of a packet beside its bytes.
func metaKey(key uint32) string {
	names := map[uint32]string{
		unix.NFT_META_LEN: "meta length", unix.NFT_META_PROTOCOL: "meta protocol", unix.NFT_META_MARK: "meta mark",
		unix.NFT_META_IIF: "iifname", unix.NFT_META_OIF: "oifname", unix.NFT_META_IIFNAME: "iifname", unix.NFT_META_OIFNAME: "oifname",
		unix.NFT_META_NFPROTO: "meta nfproto", unix.NFT_META_L4PROTO: "meta l4proto",
	}
	if name, known := names[key]; known {
		return name
	}
	return "meta " + strconv.Itoa(int(key))
}

// metaSize is how many bytes such a value has in a register.
func metaSize(key string) int {
	switch key {
	case "meta l4proto", "meta nfproto":
		return 1
	case "meta protocol":
		return 2
	case "iifname", "oifname":
		return unix.IFNAMSIZ
	}
	return 4
}

func isAddress(key string) bool {
	return strings.HasSuffix(key, " saddr") || strings.HasSuffix(key, " daddr")
}

// format writes a value as nft does.
func format(key string, value []byte, names map[uint32]string) string {
	number := bigNumber(value)
	switch {
	case isAddress(key) && (len(value) == 4 || len(value) == 16):
		address, _ := netip.AddrFromSlice(value)
		return address.String()
	case isAddress(key):
		return prefixOf(key, value, 8*len(value))
	case key == "iifname" || key == "oifname":
		name, _, ended := bytes.Cut(value, []byte{0})
		if len(value) == 4 && names[number32(value)] != "" { // iif and oif compare numbers
			return names[number32(value)]
		}
		if ended {
			return string(name)
		}
		return string(name) + "*"
	case key == "meta l4proto" && len(value) == 1:
		return protocol(value[0])
	case key == "meta nfproto" && len(value) == 1:
		if name, known := map[byte]string{unix.NFPROTO_IPV4: "ipv4", unix.NFPROTO_IPV6: "ipv6"}[value[0]]; known {
			return name
		}
	case key == "meta protocol" && len(value) == 2:
		if name, known := map[uint64]string{unix.ETH_P_IP: "ip", unix.ETH_P_IPV6: "ip6", unix.ETH_P_ARP: "arp"}[number]; known {
			return name
		}
	case key == "fib daddr type" && len(value) == 4 && number32(value) == unix.RTN_LOCAL:
		return "local"
	case key == stateKey && len(value) == 4:
		return strings.Join(states(number32(value)), ",")
	case strings.HasPrefix(key, "meta ") && len(value) == 4: // in the machine's byte order
		return strconv.FormatUint(uint64(number32(value)), 10)
	case len(value) > 8:
		return "0x" + hex.EncodeToString(value)
	}
	return strconv.FormatUint(number, 10)
}

// protocol names what an IP packet carries.
func protocol(number byte) string {
	names := map[byte]string{
		unix.IPPROTO_ICMP: "icmp", unix.IPPROTO_TCP: "tcp", unix.IPPROTO_UDP: "udp", unix.IPPROTO_GRE: "gre", unix.IPPROTO_ESP: "esp",
		unix.IPPROTO_ICMPV6: "icmpv6", unix.IPPROTO_SCTP: "sctp", unix.IPPROTO_IPIP: "ipip",
	}
	if name, known := names[number]; known {
		return name
	}
	return strconv.Itoa(int(number))
}

// states names the bits of a connection's state (enum nft_ct_state).
func states(bits uint32) []string {
	var names []string
	for _, one := range []struct {
		bit  uint32
		name string
	}{{1, "invalid"}, {2, "established"}, {4, "related"}, {8, "new"}, {64, "untracked"}} {
		if bits&one.bit != 0 {
			names = append(names, one.name)
		}
	}
	if names == nil {
		return []string{"none"}
	}
	return names
}

// prefixOf is the network of the first bits of an address, which may be cut.
func prefixOf(key string, value []byte, length int) string {
	whole := make([]byte, 4)
	if strings.HasPrefix(key, "ip6") {
		whole = make([]byte, 16)
	}
	copy(whole, value)
	address, _ := netip.AddrFromSlice(whole)
	if length >= 8*len(whole) {
		return address.String()
	}
	return netip.PrefixFrom(address, length).String()
}

// ones is the length of a mask.
func ones(mask []byte) (length int) {
	for _, b := range mask {
		length += bits.OnesCount8(b)
	}
	return length
}
