package traffic

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestAdoptedSocketBlocksForATick(t *testing.T) {
	l, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(loopback))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.DialUDP("udp", nil, l.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	s, err := AdoptSocket(conn)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := conn.Write([]byte("x")); err == nil {
		t.Error("the connection is still open")
	}
	began := time.Now()
	_, errno := s.Receive(make([]byte, 1))
	for errno == unix.EINTR { // by a signal of the runtime's
		_, errno = s.Receive(make([]byte, 1))
	}
	if !Waited(errno) || time.Since(began) < Tick/2 {
		t.Errorf("a receive of nothing ended with %v after %v", errno, time.Since(began))
	}
	if _, errno := s.Send([]byte("hello")); errno != 0 {
		t.Fatal(errno)
	}
	got := make([]byte, 16)
	if n, from, err := l.ReadFrom(got); err != nil || string(got[:n]) != "hello" || from.String() != s.Local().String() {
		t.Errorf("got %q from %v (%v), want it from %v", got[:n], from, err, s.Local())
	}
	if value, err := unix.GetsockoptInt(s.Descriptor(), unix.SOL_SOCKET, unix.SO_TYPE); err != nil || value != unix.SOCK_DGRAM {
		t.Errorf("type %d: %v", value, err)
	}
}
