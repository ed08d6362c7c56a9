package probe

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// Each connection to an end takes one port (moby#47537), and keeps it for a while after it was closed.
func TestPortsByTheOtherEnd(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.19.31.7:0") // where no other test connects: the ports of one that ended are counted too
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for n := range 3 {
		conn, err := net.Dial("tcp4", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			defer conn.Close()
		} else if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	used := map[netip.AddrPort]map[uint16]bool{}
	v := newView("/")
	dumped, err := v.sockets(unix.AF_INET, ^uint32(1<<tcpListen))
	if err := errors.Join(err, v.close(), parsePorts(dumped, used)); err != nil {
		t.Fatal(err)
	}
	end := netip.MustParseAddrPort(listener.Addr().String())
	if got := mostUsed(map[netip.AddrPort]map[uint16]bool{end: used[end]}); got[end.String()] != 3 {
		t.Errorf("%v, want 3 ports toward %s", got, end)
	}
}

func FuzzParsePorts(f *testing.F) {
	message := binary.NativeEndian.AppendUint32(nil, unix.SizeofNlMsghdr+diagMessage)
	message = binary.NativeEndian.AppendUint16(message, unix.SOCK_DIAG_BY_FAMILY)
	message = append(message, make([]byte, unix.SizeofNlMsghdr-6)...)
	f.Add(append(append(message, unix.AF_INET), make([]byte, diagMessage-1)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		used := map[netip.AddrPort]map[uint16]bool{}
		if err := parsePorts(data, used); err == nil && len(mostUsed(used)) > mostPeers {
			t.Fatal("more ends than are listed")
		}
	})
}
