package probe

import (
	"encoding/binary"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// A connection counts by the port of the end that took it, not by that to which it goes.
func TestAcceptedConnectionsOfAPort(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := netip.MustParseAddrPort(listener.Addr().String()).Port()
	for want := range 3 {
		got, err := Accepted(port)
		if err != nil || got != want {
			t.Fatalf("%d connections, %v, want %d", got, err, want)
		}
		conn, err := net.Dial("tcp4", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
}

func FuzzParseAccepted(f *testing.F) {
	message := binary.NativeEndian.AppendUint32(nil, unix.SizeofNlMsghdr+diagMessage)
	message = binary.NativeEndian.AppendUint16(message, unix.SOCK_DIAG_BY_FAMILY)
	message = append(message, make([]byte, unix.SizeofNlMsghdr-6)...)
	f.Add(append(append(message, unix.AF_INET), make([]byte, diagMessage-1)...), uint16(0))
	f.Fuzz(func(t *testing.T, data []byte, port uint16) {
		if n, err := parseAccepted(data, port); err == nil && n > len(data)/diagMessage {
			t.Fatalf("%d connections in %d bytes", n, len(data))
		}
	})
}
