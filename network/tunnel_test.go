package network_test

import (
	"os"
	"testing"

	"tare/network"
	"tare/site"
	"tare/wire"
)

// mayTUN fails unless this user may make TUN devices.
func mayTUN() error {
	file, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return file.Close()
}

// A tunnel carries every path between two and three hosts, each packet in its
// own datagram, and nothing without its process. Where the user may not
// have TUN devices the network reports so.
func TestLabUserTunnelCarries(t *testing.T) {
	three := on("tun-udp")
	three.Name, three.Hosts = "three", 3
	six := on("tun-udp")
	six.Name, six.IP = "six", wire.IPv6
	l := tryBuild(t, on("tun-udp"), three, six)
	b := built(t, l, "tun-udp")
	if err := mayTUN(); err != nil {
		if b.Missing != "/dev/net/tun" || b.Get == "" || b.Error == "" {
			t.Errorf("without TUN devices (%v) it reports: missing %q, get %q: %s", err, b.Missing, b.Get, b.Error)
		}
		return
	}
	if b.Error != "" {
		t.Fatal(b.Error)
	}
	n, _ := network.Find("tun-udp")
	mtu := wire.InnerMTU(1500, n.Stack)
	for _, path := range n.Paths {
		carries(t, l, b, path, mtu)
	}
	for _, path := range n.Paths {
		carries(t, l, built(t, l, "six"), path, mtu)
	}
	for at, device := range map[string]string{"tun-udp.h1/c1": "eth0", "tun-udp.h2": "tun0"} {
		if got := link(t, l, at, device).MTU; got != mtu {
			t.Errorf("MTU of %s at %s is %d, want %d", device, at, got, mtu)
		}
	}
	encapsulates(t, l, b, "tun0", n.Stack)
	for _, call := range []struct{ client, server, address, seen string }{
		{"tun-udp.h1/c1", "tun-udp.h2/c1", "10.102.0.2:99", "10.101.0.2"},
		{"tun-udp.h1", "tun-udp.h2/c1", "10.102.0.2:99", "10.101.0.1"}, // else answers would pass by
		{"three.h1/c1", "three.h2/c2", "10.102.0.3:99", "10.101.0.2"},
		{"three.h1/c1", "three.h3/c2", "10.103.0.3:99", "10.101.0.2"},
	} {
		if got := seenAs(t, l, call.client, call.address, call.server, call.address); got != call.seen {
			t.Errorf("%s sees %s as %s, want %s", call.server, call.client, got, call.seen)
		}
	}
	endAll(t, l, "tun-udp.h2")
	if _, status, err := exec(t.Context(), l, "tun-udp.h1/c1", "ping", "-c", "1", "-W", "1", container2); err != nil || status == 0 {
		t.Errorf("h2/c1 is reached without a tunnel: status %d, %v", status, err)
	}
}

// endAll kills every process of the lab but its init and the caller: kill(-1).
func endAll(t *testing.T, l *site.Lab, at string) {
	t.Helper()
	if _, status, err := exec(t.Context(), l, at, "sh", "-c", "kill -KILL -1"); err != nil || status != 0 {
		t.Fatalf("kill all: status %d, %v", status, err)
	}
}
