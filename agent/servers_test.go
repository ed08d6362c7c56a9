package agent

import (
	"net"
	"net/netip"
	"strings"
	"testing"
)

// TestPortInUseIsNamed holds a port of each protocol.
func TestPortInUseIsNamed(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	at := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	if err := free(at, false); err == nil || !strings.Contains(err.Error(), "ss -lunp names it") {
		t.Errorf("UDP: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	at = l.Addr().(*net.TCPAddr).AddrPort()
	if err := free(at, true); err == nil || !strings.Contains(err.Error(), "ss -ltnp names it") {
		t.Errorf("TCP: %v", err)
	}
	for _, tcp := range []bool{true, false} {
		if err := free(netip.MustParseAddrPort("127.0.0.1:0"), tcp); err != nil {
			t.Errorf("a free port, TCP %t: %v", tcp, err)
		}
	}
}
