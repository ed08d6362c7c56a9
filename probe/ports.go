package probe

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"
)

// ports reads how many local ports are in use by connections, by where these go.
func ports() Probe {
	return Probe{
		Name: "ports", Doc: "local ports in use, by the other end of their connections", Scope: Namespace, Source: "ss -tan",
		look: func(v *view) (map[string]any, error) {
			used := map[netip.AddrPort]map[uint16]bool{}
			for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
				dumped, err := v.sockets(family, ^uint32(1<<tcpListen))
				if err != nil {
					return nil, err
				}
				if err := parsePorts(dumped, used); err != nil {
					return nil, err
				}
			}
			return mostUsed(used), nil
		},
	}
}

// mostPeers is how many other ends are listed, those with the most ports, and leastPorts from how
// many ports on.
const (
	mostPeers  = 16
	leastPorts = 2
)

// parsePorts adds the local ports of an answer to SOCK_DIAG_BY_FAMILY to those that are used
// toward each other end.
func parsePorts(dumped []byte, used map[netip.AddrPort]map[uint16]bool) error {
	for m := range messages(dumped) {
		if m.kind != unix.SOCK_DIAG_BY_FAMILY {
			continue
		}
		if len(m.body) < diagMessage {
			return fmt.Errorf("parse connections: a message of %d bytes", len(m.body))
		}
		to := netip.AddrFrom16([16]byte(m.body[24:40])).Unmap()
		if m.body[0] == unix.AF_INET {
			to = netip.AddrFrom4([4]byte(m.body[24:28]))
		}
		if to.IsUnspecified() {
			continue
		}
		end := netip.AddrPortFrom(to, binary.BigEndian.Uint16(m.body[6:]))
		if used[end] == nil {
			used[end] = map[uint16]bool{}
		}
		used[end][binary.BigEndian.Uint16(m.body[4:])] = true
	}
	return nil
}

// mostUsed gives how many ports are used toward an end: "10.102.0.2:80" is 4.
func mostUsed(used map[netip.AddrPort]map[uint16]bool) map[string]any {
	ends := slices.SortedFunc(maps.Keys(used), func(a, b netip.AddrPort) int {
		return cmp.Or(cmp.Compare(len(used[b]), len(used[a])), a.Compare(b))
	})
	values := map[string]any{}
	for _, end := range ends[:min(mostPeers, len(ends))] {
		if len(used[end]) < leastPorts {
			break
		}
		values[end.String()] = len(used[end])
	}
	return values
}
