package probe

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// listeners reads how many connections wait to be accepted.
func listeners() Probe {
	return Probe{
		Name: "listeners", Doc: "connections that wait to be accepted, and how many may", Scope: Namespace, Source: "ss -ltn",
		look: func(v *view) (map[string]any, error) {
			dumped, err := v.sockets(unix.AF_INET, 1<<tcpListen)
			if err != nil {
				return nil, err
			}
			return parseListeners(dumped)
		},
	}
}

// Of sock_diag (include/uapi/linux/inet_diag.h).
const (
	diagRequest = 56 // struct inet_diag_req_v2
	diagMessage = 72 // struct inet_diag_msg
	tcpListen   = 10 // TCP_LISTEN
)

// sockets lists those of TCP over a family that are in some states, a bit for each.
func (v *view) sockets(family byte, states uint32) ([]byte, error) {
	// struct inet_diag_req_v2: family, protocol, extensions, padding, states, socket.
	request := make([]byte, diagRequest)
	request[0], request[1] = family, unix.IPPROTO_TCP
	binary.NativeEndian.PutUint32(request[4:], states)
	return v.dump(unix.NETLINK_SOCK_DIAG, unix.SOCK_DIAG_BY_FAMILY, request)
}

// parseListeners reads the answer to SOCK_DIAG_BY_FAMILY for listening sockets
// over IPv4: "0.0.0.0:80.queue" is how many connections wait, ".backlog" beyond
// how many none is queued.
func parseListeners(dumped []byte) (map[string]any, error) {
	values := map[string]any{}
	for m := range messages(dumped) {
		if m.kind != unix.SOCK_DIAG_BY_FAMILY {
			continue
		}
		if len(m.body) < diagMessage {
			return nil, fmt.Errorf("parse listeners: a message of %d bytes", len(m.body))
		}
		if m.body[1] != tcpListen {
			continue
		}
		at := netip.AddrPortFrom(netip.AddrFrom4([4]byte(m.body[8:12])), binary.BigEndian.Uint16(m.body[4:]))
		values[at.String()+".queue"] = number32(m.body[56:])
		values[at.String()+".backlog"] = number32(m.body[60:])
	}
	return values, nil
}
