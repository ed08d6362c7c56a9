package network_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"tare/lab"
	"tare/network"
	"tare/site"
	"tare/wire"
	"tare/workload"
)

// The addresses of a lab's first two hosts and of what is on them.
const (
	host1, host2     = "10.0.0.1", "10.0.0.2"
	gateway2         = "10.102.0.1"
	container2       = "10.102.0.2"
	publishedAddress = host2 + ":5210"
	containerAddress = container2 + ":5210"
)

// The server listens on the container's address and is reached at its host's;
// it sees a container as that container's host.
func TestLabUserNATRewritesBothAddresses(t *testing.T) {
	l := build(t, on("nat"))
	for _, client := range []string{"h1/c1", "h1"} {
		if got := seenAs(t, l, client, publishedAddress, "h2/c1", containerAddress); got != host1 {
			t.Errorf("the server sees %s as %s, want %s", client, got, host1)
		}
	}
	held, err := l.Look(t.Context(), "h1")
	if err != nil {
		t.Fatal(err)
	}
	if len(held[0].Rules) != 2 {
		t.Errorf("chains %+v, want postrouting and prerouting", held[0].Rules)
	}
}

// The server sees the relay on its own host; without the relay nothing
// answers at the published port.
func TestLabUserProxyRelays(t *testing.T) {
	l := build(t, on("proxy"))
	for _, client := range []string{"h1/c1", "h1"} {
		if got := seenAs(t, l, client, publishedAddress, "h2/c1", containerAddress); got != gateway2 {
			t.Errorf("the server sees %s as %s, want the relay at %s", client, got, gateway2)
		}
	}
	endAll(t, l, "h2")
	ended := make(chan error, 1)
	go func() {
		_, _, err := exec(t.Context(), l, "h2/c1", "/proc/self/exe", "greet", containerAddress)
		ended <- err
	}()
	if printed, status, err := exec(t.Context(), l, "h2", "/proc/self/exe", "call", containerAddress); err != nil || status != 0 || printed == "" {
		t.Fatalf("the container itself is not reached: %q, status %d, %v", printed, status, err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if printed, status, err := exec(t.Context(), l, "h1", "/proc/self/exe", "call", publishedAddress); err != nil || status == 0 {
		t.Errorf("the published port answers %q without its relay, status %d, %v", printed, status, err)
	}
}

// Every packet between hosts crosses the VXLAN device, and leaves the host
// with the stack's 50 bytes more.
func TestLabUserVXLANEncapsulates(t *testing.T) {
	l := build(t, on("vxlan"))
	encapsulates(t, l, built(t, l, "vxlan"), "vxlan0", wire.VXLAN())
}

// encapsulates holds every packet between hosts to crossing a device of the
// host, and to leaving the host longer by a stack.
func encapsulates(t *testing.T, l *site.Lab, b site.Built, device string, stack wire.Stack) {
	t.Helper()
	run := workload.Run{Size: 996, Duration: 100 * time.Millisecond} // with its headers a multiple of 16, to which ciphers pad
	measure(t, l, b, network.CrossHost, "udp_rr", run)               // neighbours are known from here on
	host := b.Name + ".h1"
	outer, inner := link(t, l, host, lab.Device), link(t, l, host, device)
	out := measure(t, l, b, network.CrossHost, "udp_rr", run)
	outerAfter, innerAfter := link(t, l, host, lab.Device), link(t, l, host, device)

	packets := float64(innerAfter.TxPackets - inner.TxPackets)
	if packets < out.Client.Work {
		t.Errorf("%.0f packets crossed %s in %.0f transactions", packets, device, out.Client.Work)
	}
	want := float64(stack.Bytes() + wire.EthernetHeader) // tunnels count the IP packet within
	more := float64(outerAfter.TxBytes-outer.TxBytes) - float64(innerAfter.TxBytes-inner.TxBytes)
	if each := more / packets; math.Abs(each-want) > 3 { // an ARP, a heartbeat
		t.Errorf("a packet of %s leaves the host %.1f bytes longer, want %.0f", b.Name, each, want)
	}
}

// A container on a bridge, a route or a pair is seen under its own address.
func TestLabUserOthersRewriteNothing(t *testing.T) {
	for name, address := range map[string]string{
		"route": "10.101.0.2", "ptp": "10.101.0.2", "vxlan": "10.220.4.2", "macvlan": "10.0.4.1",
	} {
		l := build(t, on(name))
		server := built(t, l, name).Paths[network.CrossHost].Bind.String()
		if got := seenAs(t, l, "h1/c1", fmt.Sprint(server, ":99"), "h2/c1", fmt.Sprint(server, ":99")); got != address {
			t.Errorf("%s: the server sees h1/c1 as %s, want %s", name, got, address)
		}
	}
}
