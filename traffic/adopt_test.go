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
	fd, err := AdoptSocket(conn)
	if err != nil {
		t.Fatal(err)
	}
	defer CloseSocket(fd)
	if _, err := conn.Write([]byte("x")); err == nil {
		t.Error("the connection is still open")
	}
	began := time.Now()
	_, errno := Receive(fd, make([]byte, 1), 0)
	for errno == unix.EINTR { // by a signal of the runtime's
		_, errno = Receive(fd, make([]byte, 1), 0)
	}
	if !Waited(errno) || time.Since(began) < Tick/2 {
		t.Errorf("a receive of nothing ended with %v after %v", errno, time.Since(began))
	}
	if _, errno := Send(fd, []byte("hello"), 0); errno != 0 {
		t.Fatal(errno)
	}
	got := make([]byte, 16)
	if n, from, err := l.ReadFrom(got); err != nil || string(got[:n]) != "hello" || from.String() != LocalAddress(fd).String() {
		t.Errorf("got %q from %v (%v), want it from %v", got[:n], from, err, LocalAddress(fd))
	}
	if value, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE); err != nil || value != unix.SOCK_DGRAM {
		t.Errorf("type %d: %v", value, err)
	}
}
