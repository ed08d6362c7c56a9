package diagnose

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// hadAddress is the address that a container had, with its length: its neighbours still know it, its
// host the first, or its MAC address says it. Invalid: nothing does.
func (e *Evidence) hadAddress(at string, six bool) netip.Prefix {
	mac, host := e.word(at, links, "eth0.mac"), hostOf(at)
	if mac == "" {
		return netip.Prefix{}
	}
	places := slices.DeleteFunc(slices.Clone(e.Places), func(p string) bool { return p == host || p == at })
	for _, place := range append([]string{host}, places...) {
		for _, name := range keys(e.state(place, neighbours)) {
			text, _, _ := strings.Cut(name, " dev ")
			address, err := netip.ParseAddr(text)
			if strings.HasPrefix(e.word(place, neighbours, name), mac+" ") && err == nil && address.Is6() == six && !address.IsLinkLocalUnicast() && e.owner(text) == "" {
				return e.likeOthers(at, address)
			}
		}
	}
	if address := madeInto(mac); address.IsValid() && !six && e.owner(address.String()) == "" {
		if p := e.likeOthers(at, address); p.Bits() < address.BitLen() {
			return p
		}
	}
	return netip.Prefix{}
}

// madeInto is the address of IPv4 from which Docker (02:42) or the CNI plugins (0a:58) made a MAC
// address; invalid: it is another's.
func madeInto(mac string) (address netip.Addr) {
	var bytes [6]byte
	for n, text := range strings.Split(mac, ":") {
		value, err := strconv.ParseUint(text, 16, 8)
		if err != nil || n >= len(bytes) {
			return address
		}
		bytes[n] = byte(value)
	}
	if start := [2]byte(bytes[:2]); start != [2]byte{0x02, 0x42} && start != [2]byte{0x0a, 0x58} {
		return address
	}
	return netip.AddrFrom4([4]byte(bytes[2:]))
}
