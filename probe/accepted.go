package probe

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// SourceAccepted is the command that shows a person what Accepted counts.
const SourceAccepted = "ss -tn"

// tcpEstablished is TCP_ESTABLISHED (include/net/tcp_states.h).
const tcpEstablished = 1

// Accepted is how many connections of TCP to a port a network namespace has itself, which is that of
// the calling thread. Those that it only forwards are none of them. It takes no privilege
// (sock_diag(7)).
func Accepted(port uint16) (n int, err error) {
	v := newView("/")
	defer func() { err = errors.Join(err, v.close()) }()
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		dumped, err := v.sockets(family, 1<<tcpEstablished)
		if err != nil {
			return 0, err
		}
		those, err := parseAccepted(dumped, port)
		if err != nil {
			return 0, err
		}
		n += those
	}
	return n, nil
}

// parseAccepted counts the sockets of an answer to SOCK_DIAG_BY_FAMILY whose own port is that one.
func parseAccepted(dumped []byte, port uint16) (n int, err error) {
	for m := range messages(dumped) {
		if m.kind != unix.SOCK_DIAG_BY_FAMILY {
			continue
		}
		if len(m.body) < diagMessage {
			return 0, fmt.Errorf("parse connections: a message of %d bytes", len(m.body))
		}
		if binary.BigEndian.Uint16(m.body[4:]) == port {
			n++
		}
	}
	return n, nil
}
