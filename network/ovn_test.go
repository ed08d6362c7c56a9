package network_test

import (
	"fmt"
	"strings"
	"testing"

	"tare/lab"
	"tare/network"
	"tare/site"
	"tare/wire"
	"tare/workload"
)

// The logical switch joins the containers of three hosts, by flows that OVN wrote.
func TestRealOVNCarriesTraffic(t *testing.T) {
	if !asRoot(t) {
		return
	}
	spec := on("ovn")
	spec.Hosts = 3
	l := build(t, spec)
	b := built(t, l, "ovn")
	n, _ := network.Find("ovn")
	for _, path := range n.Paths {
		carries(t, l, b, path, 1442)
	}
	for _, at := range []string{"h1/c1", "h3/c2"} {
		if got := link(t, l, at, lab.Device).MTU; got != 1442 {
			t.Errorf("MTU at %s is %d, want 1442", at, got)
		}
	}
	if got := seenAs(t, l, "h3/c1", "10.220.8.3:99", "h2/c2", "10.220.8.3:99"); got != "10.220.12.2" {
		t.Errorf("h2/c2 sees h3/c1 as %s", got)
	}
	for _, part := range []string{"ovn-northd", "ovn-controller", "ovs-vswitchd"} {
		if !strings.Contains(b.Parts[part], ".") {
			t.Errorf("parts %v: no version of %s", b.Parts, part)
		}
	}
	if chassis := strings.Fields(shell(t, l, "h1", "ovn-sbctl --bare --columns=name list Chassis | sort")); strings.Join(chassis, " ") != "h1 h2 h3" {
		t.Errorf("chassis %s, want all hosts", chassis)
	}
	// Logical flows became OpenFlow rules, and packets took them.
	flows := shell(t, l, "h1", "ovn-sbctl lflow-list containers")
	for _, stage := range []string{"ls_in_arp_rsp", "ls_in_l2_lkup"} {
		if !strings.Contains(flows, stage) {
			t.Errorf("no logical flow of %s in:\n%s", stage, flows)
		}
	}
	mac := link(t, l, "h2/c1", lab.Device).MAC
	taken := shell(t, l, "h1", "ovs-ofctl dump-flows br-int")
	if !took(taken, "dl_dst="+mac) {
		t.Errorf("no packet took a rule to %s:\n%s", mac, taken)
	}
}

// took reports whether packets have taken a rule that holds a text.
func took(flows, text string) bool {
	for line := range strings.Lines(flows) {
		if strings.Contains(line, text) && !strings.Contains(line, "n_packets=0,") {
			return true
		}
	}
	return false
}

// southbound asks OVN for a column of the record that a condition finds.
func southbound(t *testing.T, l *site.Lab, column, table, condition string) string {
	t.Helper()
	return strings.TrimSpace(shell(t, l, "h1", fmt.Sprintf("ovn-sbctl --bare --columns=%s find %s %s", column, table, condition)))
}

// What crosses hosts is inside Geneve with the switch's number and an option of OVN's
// that names both ports: 58 bytes longer, as the ceilings assume.
func TestRealOVNEncapsulates(t *testing.T) {
	if !asRoot(t) {
		return
	}
	const size = 1000
	datagram := size + udpHeaders + wire.OVN().Bytes() - wire.IPv4Header
	l := build(t, on("ovn"))
	var (
		vni  = southbound(t, l, "tunnel_key", "Datapath_Binding", "external_ids:name=containers")
		from = southbound(t, l, "tunnel_key", "Port_Binding", "logical_port=h1-c1")
		to   = southbound(t, l, "tunnel_key", "Port_Binding", "logical_port=h2-c1")
		// Geneve starts 64 bits after UDP, its option 64 bits later (RFC 8926).
		geneve = fmt.Sprintf("udp dport 6081 udp length %d @th,64,8 2 @th,80,16 0x6558 @th,96,24 %s", datagram, vni)
		option = fmt.Sprintf("@th,128,16 0x0102 @th,144,8 0x80 @th,152,8 1 @th,161,15 %s @th,176,16 %s", from, to)
	)
	var work float64
	packets := counted(t, l, "h2", geneve+" "+option, func() {
		work = measure(t, l, built(t, l, "ovn"), network.CrossHost, "udp_rr", workload.Run{Size: size}).Client.Work
	})
	if work <= 0 || packets < work {
		t.Errorf("%.0f datagrams of %d bytes to port 6081 in %.0f transactions", packets, datagram, work)
	}
}

// A container's question for the address of one on another host is answered by its own
// host's switch: the question reaches the underlay only if OVN does not know the address.
func TestRealOVNAnswersARP(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := build(t, on("ovn"))
	mac := link(t, l, "h2/c1", lab.Device).MAC
	crossing := func() float64 {
		return counted(t, l, "h2", "udp dport 6081 @th,288,16 0x0806", func() {
			known := shell(t, l, "h1/c1", "ip neigh flush dev eth0 && ping -q -c 1 -W 5 10.220.8.2 >&2 && ip neigh show 10.220.8.2")
			if !strings.Contains(known, mac) {
				t.Errorf("h1/c1 knows %q, want %s", known, mac)
			}
		})
	}
	if packets := crossing(); packets != 0 {
		t.Errorf("%.0f ARP packets came to h2", packets)
	}
	if flows := shell(t, l, "h1", "ovs-ofctl dump-flows br-int"); !took(flows, "arp_tpa=10.220.8.2,arp_op=1") {
		t.Errorf("no ARP question took OVN's rule:\n%s", flows)
	}
	shell(t, l, "h1", "ovn-nbctl --wait=hv --timeout=20 lsp-set-addresses h2-c1 unknown")
	if packets := crossing(); packets == 0 {
		t.Error("no ARP packet came to h2, whose container OVN does not know")
	}
}

// A network that fails once its daemons run stops them.
func TestRealOVNFailureLeavesNothing(t *testing.T) {
	if !asRoot(t) {
		return
	}
	failing := on("ovn")
	failing.MTU = 100 // the containers' MTU of 42 is refused
	l := tryBuild(t, on("bridge"), failing)
	if got := built(t, l, "ovn").Error; !strings.Contains(got, "set up network ovn") || !strings.Contains(got, "add veth veth-c1") {
		t.Errorf("ovn failed with %q", got)
	}
	left := shell(t, l, "bridge.h1", `for wait in $(seq 100); do
		left=$(cat /proc/[0-9]*/comm 2>/dev/null | grep -E '^(ovn|ovs)'); [ -n "$left" ] || break; sleep 0.05
	done; echo $left`)
	if left = strings.TrimSpace(left); left != "" {
		t.Errorf("these run: %s", left)
	}
}
