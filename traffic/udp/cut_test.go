package udp

import (
	"testing"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// Datagrams that may be cut carry no flag that forbids it, over either version of IP.
func TestDatagramsMayBeCut(t *testing.T) {
	for family, want := range map[int][3]int{
		unix.AF_INET:  {unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_OMIT},
		unix.AF_INET6: {unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_DONT},
	} {
		fd, err := traffic.OpenSocket(family, unix.SOCK_DGRAM)
		if err != nil {
			t.Fatal(err)
		}
		defer traffic.CloseSocket(fd)
		if err := letCut(fd); err != nil {
			t.Fatal(err)
		}
		if got, err := unix.GetsockoptInt(fd, want[0], want[1]); err != nil || got != want[2] {
			t.Errorf("family %d: %d, want %d: %v", family, got, want[2], err)
		}
	}
}
