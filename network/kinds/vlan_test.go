package kinds_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tare/catalog"
	"tare/lab"
	"tare/probe"
	"tare/site"
	"tare/test/labtest"
	"tare/workload"
)

// tagged are the networks on a VLAN of the underlay.
func tagged() []string { return []string{"vlan", "bridge-vlan", "macnat"} }

// The networks on a VLAN of the underlay, in one lab: of macnat several, whose hosts have one
// container, five and many.
func TestLabVLAN(t *testing.T) {
	all := clusters("vlan")
	change(all, "macnat", func(spec *site.ClusterSpec) { spec.Containers = 5 })
	one, many, limited, plain := with("one", "macnat", "", ""), with("many", "macnat", "", ""), with("limited", "vlan", "", ""), with("plain", "macvlan", "", "")
	one.Containers, many.Containers = 1, 60
	limited.Axes["link"], plain.Axes["link"] = 100e6, 100e6
	l := build(t, append(all, one, many, limited, plain)...)
	keepPromises(t, l)
	t.Run("VLAN devices are used where the kernel has them", func(t *testing.T) { usesVLANDevices(t, l) })
	t.Run("frames on the wire have the tag", func(t *testing.T) { taggedOnTheWire(t, l) })
	t.Run("macnat hides every container", func(t *testing.T) { macnatHides(t, l) })
	t.Run("macnat with one container and many", func(t *testing.T) { macnatOfOneAndMany(t, l) })
	t.Run("a link counts the tag", func(t *testing.T) { linkCountsTheTag(t, l) })
}

func usesVLANDevices(t *testing.T, l *site.Lab) {
	for _, name := range tagged() {
		b, kind := built(t, l, name), link(t, l, name+".h1", "eth0.701").Kind
		if real := kind == "vlan"; real != (b.Fidelity == catalog.SamePath) || real != (len(b.Notes) == 0) {
			t.Errorf("%s is %s with notes %q on a device of kind %s", name, b.Fidelity, b.Notes, kind)
		}
	}
}

// taggedOnTheWire holds that between the hosts each packet has the tag, and the MAC addresses
// that its network shows.
func taggedOnTheWire(t *testing.T, l *site.Lab) {
	const host1, host2 = "02:42:0a:00:00:01", "02:42:0a:00:00:02"
	for name, want := range map[string]string{
		"vlan":        "701 02:42:0a:dc:04:01 02:42:0a:dc:08:01",
		"bridge-vlan": "701 02:42:0a:dc:04:02 02:42:0a:dc:08:02",
		"macnat":      "701 " + host1 + " " + host2,
	} {
		sniffer := serve(t, l, name+".h2", "sniff", lab.Device)
		measure(t, l, built(t, l, name), catalog.CrossHost, "udp_rr", workload.Run{Size: 1000})
		labtest.Equal(t, name+": a frame on the wire", sniffer.line(t), want)
	}
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
	fmt.Println(ready)
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
		_, err = fmt.Printf("%d %s %s\n", tag&0xfff, mac(frame[6:12]), mac(frame[:6]))
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

// macnatHides holds that no MAC address of a container is seen on the wire, and each host
// has a rule for every container, the measured one's last.
func macnatHides(t *testing.T, l *site.Lab) {
	b := built(t, l, "macnat")
	for path, want := range map[string]string{
		catalog.SameHost: "h1/c1 h1/c2", catalog.CrossHost: "h1/c5 h2/c5", catalog.HostToContainer: "h1 h2/c5",
	} {
		ends := b.Paths[path]
		labtest.Equal(t, "ends of "+path, ends.Client+" "+ends.Server, want)
	}
	if got := seenAs(t, l, "macnat.h1/c5", "10.220.8.4:99", "macnat.h2/c3", "10.220.8.4:99"); got != "10.220.4.6" {
		t.Errorf("the server sees h1/c5 as %s", got)
	}
	held, err := l.Look(t.Context(), "macnat.h2/c3")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(held[0].Neighbours, func(n probe.Neighbour) bool {
		return n.Address == "10.220.4.6" && n.Device == "eth0" && n.MAC == "02:42:0a:00:00:01"
	}) {
		t.Errorf("h2/c3 knows %v, want the MAC address of h1 for its container", held[0].Neighbours)
	}
	held, err = l.Look(t.Context(), "macnat.h1")
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

// macnatOfOneAndMany holds that with one container there is no path within a host; with many
// the rules need several transactions, and keep their order.
func macnatOfOneAndMany(t *testing.T, l *site.Lab) {
	b := built(t, l, "one")
	if _, served := b.Paths[catalog.SameHost]; served || b.Paths[catalog.CrossHost].Client != "h1/c1" {
		t.Errorf("paths %+v", b.Paths)
	}
	printed := shell(t, l, "many.h2", "nft list chain bridge macnat prerouting")
	rules := strings.Split(strings.TrimRight(printed, " \n\t}"), "\n")
	labtest.Contains(t, "the last rule", rules[len(rules)-1], "ip daddr 10.220.8.61 ")
}

// linkCountsTheTag holds that a link counts the tag, which the kernel keeps outside the frame,
// with the 24 bytes that it does not know of either.
func linkCountsTheTag(t *testing.T, l *site.Lab) {
	for name, want := range map[string]string{"limited": "overhead 28", "plain": "overhead 24"} {
		printed := shell(t, l, name+".h1", "tc qdisc show dev "+lab.Device)
		for _, part := range []string{"tbf", "rate 100Mbit", want} {
			labtest.Contains(t, name+": the link's qdisc", printed, part)
		}
	}
}
