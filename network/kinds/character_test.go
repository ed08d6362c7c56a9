package kinds_test

import (
	"math"
	"os"
	"strings"
	"testing"

	"tare/catalog"
	"tare/lab"
	"tare/network/kinds"
	"tare/site"
	"tare/wire"
)

// The addresses of a lab's first two hosts and of what is on them.
const (
	host1, host2     = "10.0.0.1", "10.0.0.2"
	gateway2         = "10.102.0.1"
	container2       = "10.102.0.2"
	publishedAddress = host2 + ":5210"
	containerAddress = container2 + ":5210"
)

// The networks that need no real part but the kernel, all in one lab, beside some that fail
// and some that an ordinary user may not have.
func TestLabUserKernelNetworks(t *testing.T) {
	all := clusters("kernel")
	for i := range all {
		if all[i].Axes.Count("ip") != 6 {
			all[i].Hosts = 3
		}
	}
	limited := with("limited", "route", "", "")
	limited.Axes["link"] = 100e6
	absurd, half := with("absurd", "bridge", "", ""), with("half", "vxlan", "", "")
	absurd.Axes["mtu"] = float64(1 << 20)
	half.Axes["mtu"] = 100.0 // the hosts are made, the containers' MTU of 50 is refused
	l := tryBuild(t, append(all, limited, on("vlan"), absurd, half)...)
	t.Run("one that fails leaves the others", func(t *testing.T) { failedLeaveTheOthers(t, l, all) })
	t.Run("a VLAN runs or says what is missing", func(t *testing.T) { vlanRunsOrSays(t, l) })
	keepPromises(t, l)
	t.Run("a link has its rate", func(t *testing.T) {
		if shown := shell(t, l, "limited.h1", "tc qdisc show dev "+lab.Device); !strings.Contains(shown, "tbf") || !strings.Contains(shown, "rate 100Mbit") {
			t.Errorf("the link's qdisc is %s", shown)
		}
	})
	t.Run("nat rewrites both addresses", func(t *testing.T) { natRewrites(t, l) })
	t.Run("vxlan encapsulates", func(t *testing.T) { encapsulates(t, l, built(t, l, "vxlan"), "vxlan0", wire.VXLAN()) })
	t.Run("a container that fails leaves nothing", func(t *testing.T) { failedContainerLeavesNothing(t, l) })
	t.Run("a tunnel is a process", func(t *testing.T) { tunnelIsAProcess(t, l) })
	t.Run("proxy relays", func(t *testing.T) { proxyRelays(t, l) })
}

// failedLeaveTheOthers holds that what fails says why and is removed, and all others are there.
func failedLeaveTheOthers(t *testing.T, l *site.Lab, others []site.ClusterSpec) {
	failed := map[string]string{"absurd": "build cluster absurd", "half": "set up network vxlan"}
	for name, want := range failed {
		if got := built(t, l, name).Error; !strings.Contains(got, want) {
			t.Errorf("%s failed with %q, want %q", name, got, want)
		}
	}
	for _, at := range l.Topology.Namespaces {
		if name, _ := catalog.SplitPlace(at); failed[name] != "" {
			t.Errorf("%s exists although its network failed", at)
		}
	}
	if _, err := l.Look(t.Context(), "half.h1"); err == nil {
		t.Error("a host of a network that failed is there")
	}
	for _, spec := range others {
		if b := built(t, l, spec.Name); b.Error != "" && spec.Network != "tun-udp" { // tunnelIsAProcess
			t.Errorf("%s: %s", b.Name, b.Error)
		}
	}
}

// natRewrites holds that the server listens on the container's address and is reached at its
// host's; it sees a container as that container's host.
func natRewrites(t *testing.T, l *site.Lab) {
	for _, client := range []string{"nat.h1/c1", "nat.h1"} {
		if got := seenAs(t, l, client, publishedAddress, "nat.h2/c1", containerAddress); got != host1 {
			t.Errorf("the server sees %s as %s, want %s", client, got, host1)
		}
	}
	held, err := l.Look(t.Context(), "nat.h1")
	if err != nil {
		t.Fatal(err)
	}
	if len(held[0].Rules) != 2 {
		t.Errorf("chains %+v, want postrouting and prerouting", held[0].Rules)
	}
}

// proxyRelays holds that the server sees the relay on its own host, and without the relay
// nothing answers at the published port.
func proxyRelays(t *testing.T, l *site.Lab) {
	for _, client := range []string{"proxy.h1/c1", "proxy.h1"} {
		if got := seenAs(t, l, client, publishedAddress, "proxy.h2/c1", containerAddress); got != gateway2 {
			t.Errorf("the server sees %s as %s, want the relay at %s", client, got, gateway2)
		}
	}
	endAt(t, l, "proxy.h2", kinds.RelayVerb+" ")
	if got := seenAs(t, l, "proxy.h2", containerAddress, "proxy.h2/c1", containerAddress); got != gateway2 {
		t.Errorf("the container itself sees its host as %s", got)
	}
	if _, status, err := exec(t.Context(), l, "proxy.h1", "/proc/self/exe", "refused", publishedAddress); err != nil || status != 0 {
		t.Errorf("the published port answers without its relay: status %d, %v", status, err)
	}
}

// encapsulates holds every packet between hosts to crossing a device of the
// host, and to leaving the host longer by a stack.
func encapsulates(t *testing.T, l *site.Lab, b site.Built, device string, stack wire.Stack) {
	t.Helper()
	const size = 996 // with its headers a multiple of 16, to which ciphers pad
	host := b.Name + ".h1"
	outer, inner := link(t, l, host, lab.Device), link(t, l, host, device)
	done := transactions(t, l, b, catalog.CrossHost, "udp_rr", size, 500)
	outerAfter, innerAfter := link(t, l, host, lab.Device), link(t, l, host, device)
	packets := float64(innerAfter.TxPackets - inner.TxPackets)
	if packets < done {
		t.Errorf("%.0f packets crossed %s in %.0f transactions", packets, device, done)
	}
	want := float64(stack.Bytes() + wire.EthernetHeader) // tunnels count the IP packet within
	more := float64(outerAfter.TxBytes-outer.TxBytes) - float64(innerAfter.TxBytes-inner.TxBytes)
	if each := more / packets; math.Abs(each-want) > 3 { // an ARP, a heartbeat
		t.Errorf("a packet of %s leaves the host %.1f bytes longer, want %.0f", b.Name, each, want)
	}
}

// mayTUN fails unless this user may make TUN devices.
func mayTUN() error {
	file, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return file.Close()
}

// tunnelIsAProcess holds that each packet between hosts travels in its own datagram, and none
// without the tunnel's process. Where the user may not have TUN devices the network reports so.
func tunnelIsAProcess(t *testing.T, l *site.Lab) {
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
	if six := built(t, l, "tun-udp6"); six.Error != "" {
		t.Error(six.Error)
	}
	n, _ := kinds.Find("tun-udp")
	if got, want := link(t, l, "tun-udp.h2", "tun0").MTU, wire.InnerMTU(1500, n.Stack); got != want {
		t.Errorf("MTU of tun0 is %d, want %d", got, want)
	}
	encapsulates(t, l, b, "tun0", n.Stack)
	for _, call := range []struct{ client, seen string }{
		{"tun-udp.h1/c1", "10.101.0.2"},
		{"tun-udp.h1", "10.101.0.1"}, // else answers would pass by
	} {
		if got := seenAs(t, l, call.client, container2+":99", "tun-udp.h2/c1", container2+":99"); got != call.seen {
			t.Errorf("h2/c1 sees %s as %s, want %s", call.client, got, call.seen)
		}
	}
	endAt(t, l, "tun-udp.h2", kinds.TunnelVerb+" ")
	reachesNot(t, l, "tun-udp.h1/c1", container2, "its tunnel was killed")
}

// vlanRunsOrSays holds that root has VLANs wherever the kernel has BPF. A user who may not load
// programs needs the kernel's VLAN devices, and the network reports that.
func vlanRunsOrSays(t *testing.T, l *site.Lab) {
	printed, status, err := exec(t.Context(), l, "veth.h1", "sh", "-c", "ip link add try link eth0 type vlan id 9 2>&1")
	if err != nil {
		t.Fatal(err)
	}
	b := built(t, l, "vlan")
	switch runs := status == 0 || l.Topology.Privilege == "root"; {
	case runs && b.Error != "":
		t.Errorf("vlan: %s", b.Error)
	case !runs && (b.Missing != "VLAN devices" || b.Get != "modprobe 8021q" || !strings.Contains(b.Error, "run tare as root")):
		t.Errorf("vlan is missing (%s): %q, %q: %s", printed, b.Missing, b.Get, b.Error)
	}
	if status == 0 {
		shell(t, l, "veth.h1", "ip link del try")
	}
}
