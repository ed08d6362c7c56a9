package network_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tare/lab"
	"tare/network"
	"tare/probe"
	"tare/site"
	"tare/test/labtest"
	"tare/wire"
	"tare/workload"
)

// tagged are the networks on a VLAN of the underlay.
func tagged() []string { return []string{"vlan", "bridge-vlan", "macnat"} }

func TestLabVLANCarriesTraffic(t *testing.T) {
	var all []site.ClusterSpec
	for _, name := range tagged() {
		all = append(all, on(name))
	}
	l := build(t, all...)
	for _, name := range tagged() {
		n, _ := network.Find(name)
		b := built(t, l, name)
		for _, path := range n.Paths {
			carries(t, l, b, path, 1500)
		}
		for _, at := range []string{"h1/c1", "h1/c2", "h2/c1", "h2/c2"} {
			if got := link(t, l, name+"."+at, lab.Device).MTU; got != 1500 {
				t.Errorf("%s: MTU at %s is %d: a tag does not reduce it", name, at, got)
			}
		}
		// Where the kernel has VLAN devices, they are what it is made of.
		kind := link(t, l, name+".h1", "eth0.701").Kind
		if real := kind == "vlan"; real != (b.Fidelity == network.SamePath) || real != (len(b.Notes) == 0) {
			t.Errorf("%s is %s with notes %q on a device of kind %s", name, b.Fidelity, b.Notes, kind)
		}
	}
}

// On the wire between the hosts each packet has the tag, and the MAC addresses
// that its network shows.
func TestLabVLANOnTheWire(t *testing.T) {
	const host1, host2 = "02:42:0a:00:00:01", "02:42:0a:00:00:02"
	for name, want := range map[string]string{
		"vlan":        "701 02:42:0a:dc:04:01 02:42:0a:dc:08:01",
		"bridge-vlan": "701 02:42:0a:dc:04:02 02:42:0a:dc:08:02",
		"macnat":      "701 " + host1 + " " + host2,
	} {
		l := build(t, on(name))
		ctx, cancel := context.WithTimeout(t.Context(), callWait)
		defer cancel()
		seen := make(chan string, 1)
		go func() {
			printed, _, err := exec(ctx, l, "h2", "/proc/self/exe", "sniff", lab.Device)
			seen <- fmt.Sprint(printed, errText(err))
		}()
		var got string
		for got == "" {
			measure(t, l, built(t, l, name), network.CrossHost, "udp_rr", workload.Run{Size: 1000})
			select {
			case got = <-seen:
			default:
			}
		}
		if got != want {
			t.Errorf("%s: a frame on the wire has %q, want %q", name, got, want)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// sniff prints the tag and the MAC addresses of the first large IPv4 frame that
// arrives at a device.
func sniff(device string) error {
	link, err := interfaceIndex(device)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_AUXDATA, 1),
		unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: swap(unix.ETH_P_ALL), Ifindex: link}),
	); err != nil {
		return err
	}
	for {
		frame, control := make([]byte, 2048), make([]byte, 256)
		n, controlled, _, from, err := unix.Recvmsg(fd, frame, control, 0)
		if err != nil {
			return err
		}
		if n < 1000 || from.(*unix.SockaddrLinklayer).Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		messages, err := unix.ParseSocketControlMessage(control[:controlled])
		if err != nil || len(messages) == 0 {
			return fmt.Errorf("no word of the tag: %w", err)
		}
		// struct tpacket_auxdata, linux/if_packet.h: the tag is its 16-bit word at 16
		tag := uint16(messages[0].Data[16]) | uint16(messages[0].Data[17])<<8
		_, err = fmt.Printf("%d %s %s", tag&0xfff, mac(frame[6:12]), mac(frame[:6]))
		return err
	}
}

func mac(b []byte) string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5])
}

func swap(n uint16) uint16 { return n<<8 | n>>8 }

func interfaceIndex(device string) (int, error) {
	text, err := os.ReadFile("/sys/class/net/" + device + "/ifindex")
	if err != nil {
		return 0, err
	}
	var index int
	_, err = fmt.Sscan(string(text), &index)
	return index, err
}

// With macnat no MAC address of a container is seen on the wire, and each host
// has a rule for every container, the measured one's last.
func TestLabMACNATHidesEveryContainer(t *testing.T) {
	spec := on("macnat")
	spec.Containers = 5
	l := build(t, spec)
	b := built(t, l, "macnat")
	for path, want := range map[string]string{
		network.SameHost: "h1/c1 h1/c2", network.CrossHost: "h1/c5 h2/c5", network.HostToContainer: "h1 h2/c5",
	} {
		ends := b.Paths[path]
		if got := ends.Client + " " + ends.Server; got != want {
			t.Errorf("%s is measured between %s, want %s", path, got, want)
		}
		carries(t, l, b, path, 1500)
	}
	if got := seenAs(t, l, "h1/c5", "10.220.8.4:99", "h2/c3", "10.220.8.4:99"); got != "10.220.4.6" {
		t.Errorf("the server sees h1/c5 as %s", got)
	}
	held, err := l.Look(t.Context(), "h2/c3")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(held[0].Neighbours, func(n probe.Neighbour) bool {
		return n.Address == "10.220.4.6" && n.Device == "eth0" && n.MAC == "02:42:0a:00:00:01"
	}) {
		t.Errorf("h2/c3 knows %v, want the MAC address of h1 for its container", held[0].Neighbours)
	}
	held, err = l.Look(t.Context(), "h1")
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]int{}
	for _, chain := range held[0].Rules {
		rules[chain.Chain] = chain.Rules
	}
	// One per container and one for the host, and what ARP needs.
	if rules["postrouting"] != 7 || rules["prerouting"] != 7 || rules["arp"] != 6 {
		t.Errorf("rules %v for 5 containers", rules)
	}
}

// With one container there is no path within a host; with many the rules need
// several transactions, and keep their order.
func TestLabMACNATWithOneContainerAndMany(t *testing.T) {
	one, many := on("macnat"), on("macnat")
	one.Name, one.Containers = "one", 1
	many.Name, many.Containers = "many", 60
	l := build(t, one, many)
	b := built(t, l, "one")
	if _, served := b.Paths[network.SameHost]; served || b.Paths[network.CrossHost].Client != "h1/c1" {
		t.Errorf("paths %+v", b.Paths)
	}
	carries(t, l, built(t, l, "many"), network.CrossHost, 1500)
	printed, status, err := exec(t.Context(), l, "many.h2", "nft", "list", "chain", "bridge", "macnat", "prerouting")
	if err != nil || status != 0 {
		t.Fatalf("list rules: status %d, %v", status, err)
	}
	rules := strings.Split(strings.TrimRight(printed, " \n\t}"), "\n")
	if last := rules[len(rules)-1]; !strings.Contains(last, "ip daddr 10.220.8.61 ") {
		t.Errorf("the last rule is %q, want that of the 60th container", last)
	}
}

// A link counts the tag, which the kernel keeps outside the frame, with the 24
// bytes that it does not know of either.
func TestLabVLANLinkCountsTheTag(t *testing.T) {
	const rate = 100e6
	tagged, plain := on("vlan"), on("macvlan")
	tagged.Link, plain.Link = rate, rate
	l := build(t, tagged, plain)
	for name, want := range map[string]string{"vlan": "overhead 28", "macvlan": "overhead 24"} {
		printed, status, err := exec(t.Context(), l, name+".h1", "tc", "qdisc", "show", "dev", lab.Device)
		if err != nil || status != 0 {
			t.Errorf("%s: show the link's qdisc: status %d, %v", name, status, err)
		}
		labtest.Contains(t, name+": the link's qdisc", printed, "tbf")
		labtest.Contains(t, name+": the link's qdisc", printed, want)
	}
	out := measure(t, l, built(t, l, "vlan"), network.CrossHost, "tcp_stream",
		workload.Run{Size: 128 << 10, Warmup: 300 * time.Millisecond, Duration: 700 * time.Millisecond})
	got := out.Server.Metrics["throughput"] + out.Client.Metrics["throughput"]
	ceiling := float64(wire.TCPCeiling(rate, wire.IPv4, 1500, wire.VLAN()))
	if got < 0.7*ceiling || got > 1.01*ceiling {
		t.Errorf("%.1f Mbit/s pass a link of 100; its ceiling is %.1f", got/1e6, ceiling/1e6)
	}
}

// Root has VLANs wherever the kernel has BPF. A user who may not load programs
// needs the kernel's VLAN devices, and the network reports that.
func TestLabUserVLANRunsOrSaysWhatIsMissing(t *testing.T) {
	l := tryBuild(t, on("vlan"), on("veth"))
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
}
