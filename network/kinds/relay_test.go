package kinds

import (
	"errors"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A datagram for which no socket is to be had is lost, as behind docker-proxy where all ports are
// in use (moby#47537), and the relay goes on.
func TestRelayOutlivesAWantOfPorts(t *testing.T) {
	loopback := func() *net.UDPConn {
		conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	front, server, peer := loopback(), loopback(), loopback()
	dials := make(chan int, 2)
	dial := func() (*net.UDPConn, error) {
		dials <- 1
		if len(dials) == 1 {
			return nil, unix.EADDRNOTAVAIL
		}
		return net.DialUDP("udp", nil, server.LocalAddr().(*net.UDPAddr))
	}
	ended := make(chan error, 1)
	go func() { ended <- relayUDP(front, dial) }()
	for _, text := range []string{"lost", "relayed"} {
		if _, err := peer.WriteTo([]byte(text), front.LocalAddr()); err != nil {
			t.Fatal(err)
		}
	}
	if err := server.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	datagram := make([]byte, 16)
	n, err := server.Read(datagram)
	if got := string(datagram[:n]); err != nil || got != "relayed" {
		t.Errorf("the server got %q, %v, want the second datagram", got, err)
	}
	front.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the relay ended with %v before its port was closed", err)
	}
}
