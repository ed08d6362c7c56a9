package kinds_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"tare/catalog"
	"tare/lab"
	"tare/site"
	"tare/test/labtest"
	"tare/wire"
	"tare/workload"
)

// The logical switch joins the containers of three hosts, by flows that OVN wrote; beside it a
// network of OVN fails once its daemons run.
func TestRealOVN(t *testing.T) {
	if !asRoot(t) {
		return
	}
	all := clusters("ovn")
	change(all, "ovn", func(spec *site.ClusterSpec) { spec.Hosts = 3 })
	failing := with("failing", "ovn", "", "")
	failing.Axes["mtu"] = 100.0 // the containers' MTU of 42 is refused
	l := tryBuild(t, append(all, failing)...)
	for _, spec := range all {
		if why := built(t, l, spec.Name).Error; why != "" {
			t.Fatal(why)
		}
	}
	t.Run("one that fails stops its daemons", func(t *testing.T) {
		if got := built(t, l, "failing").Error; !strings.Contains(got, "set up network ovn") || !strings.Contains(got, "add veth veth-c1") {
			t.Errorf("it failed with %q", got)
		}
		runAre(t, l, "ovn.h1", "ovs-vswitchd", 3+2)
		runAre(t, l, "ovn.h1", "ovn-controller", 3+2)
		runAre(t, l, "ovn.h1", "ovn-northd", 2)
	})
	keepPromises(t, l)
	t.Run("its flows are OVN's", func(t *testing.T) { flowsAreOVNs(t, l) })
	t.Run("it encapsulates", func(t *testing.T) { ovnEncapsulates(t, l) })
	t.Run("it answers ARP", func(t *testing.T) { ovnAnswersARP(t, l) })
}

// runAre waits until so many processes of a program run in a lab: the kernel needs some time to
// end those that were killed.
func runAre(t *testing.T, l *site.Lab, at, program string, want int) {
	t.Helper()
	labtest.Await(t, fmt.Sprintf("%d of %s run", want, program), func() bool {
		return strings.TrimSpace(shell(t, l, at, "cat /proc/[0-9]*/comm 2>/dev/null | grep -cx "+program+" || true")) == strconv.Itoa(want)
	})
}

func flowsAreOVNs(t *testing.T, l *site.Lab) {
	for _, part := range []string{"ovn-northd", "ovn-controller", "ovs-vswitchd"} {
		labtest.Contains(t, "version of "+part, built(t, l, "ovn").Parts[part], ".")
	}
	chassis := strings.Fields(shell(t, l, "ovn.h1", "ovn-sbctl --bare --columns=name list Chassis | sort"))
	labtest.Equal(t, "chassis", strings.Join(chassis, " "), "h1 h2 h3")
	// Logical flows became OpenFlow rules, and packets took them.
	flows := shell(t, l, "ovn.h1", "ovn-sbctl lflow-list containers")
	for _, stage := range []string{"ls_in_arp_rsp", "ls_in_l2_lkup"} {
		labtest.Contains(t, "logical flows", flows, stage)
	}
	mac := link(t, l, "ovn.h2/c1", lab.Device).MAC
	awaitDatapath(t, l, "ovn.h1")
	if taken := shell(t, l, "ovn.h1", "ovs-ofctl dump-flows br-int"); !took(taken, "dl_dst="+mac) {
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
	return strings.TrimSpace(shell(t, l, "ovn.h1", fmt.Sprintf("ovn-sbctl --bare --columns=%s find %s %s", column, table, condition)))
}

// ovnEncapsulates holds that what crosses hosts is inside Geneve with the switch's number and an
// option of OVN's that names both ports: 58 bytes longer, as the ceilings assume.
func ovnEncapsulates(t *testing.T, l *site.Lab) {
	const size = 1000
	datagram := size + udpHeaders + wire.OVN().Bytes() - wire.IPv4Header
	var (
		vni  = southbound(t, l, "tunnel_key", "Datapath_Binding", "external_ids:name=containers")
		from = southbound(t, l, "tunnel_key", "Port_Binding", "logical_port=h1-c1")
		to   = southbound(t, l, "tunnel_key", "Port_Binding", "logical_port=h2-c1")
		// Geneve starts 64 bits after UDP, its option 64 bits later (RFC 8926).
		geneve = fmt.Sprintf("udp dport 6081 udp length %d @th,64,8 2 @th,80,16 0x6558 @th,96,24 %s", datagram, vni)
		option = fmt.Sprintf("@th,128,16 0x0102 @th,144,8 0x80 @th,152,8 1 @th,161,15 %s @th,176,16 %s", from, to)
	)
	var work float64
	packets := counted(t, l, "ovn.h2", geneve+" "+option, func() {
		work = measure(t, l, built(t, l, "ovn"), catalog.CrossHost, "udp_rr", workload.Run{Size: size}).Client.Work
	})
	if packets < work {
		t.Errorf("%.0f datagrams of %d bytes to port 6081 in %.0f transactions", packets, datagram, work)
	}
}

// ovnAnswersARP holds that a container's question for the address of one on another host is
// answered by its own host's switch: the question reaches the underlay only if OVN does not know
// the address.
func ovnAnswersARP(t *testing.T, l *site.Lab) {
	mac := link(t, l, "ovn.h2/c1", lab.Device).MAC
	crossing := func() float64 {
		return counted(t, l, "ovn.h2", "udp dport 6081 @th,288,16 0x0806", func() {
			known := shell(t, l, "ovn.h1/c1", "ip neigh flush dev eth0 && ping -q -c 1 -W 30 10.220.8.2 >&2 && ip neigh show 10.220.8.2")
			labtest.Contains(t, "what h1/c1 knows", known, mac)
		})
	}
	if packets := crossing(); packets != 0 {
		t.Errorf("%.0f ARP packets came to h2", packets)
	}
	awaitDatapath(t, l, "ovn.h1")
	if flows := shell(t, l, "ovn.h1", "ovs-ofctl dump-flows br-int"); !took(flows, "arp_tpa=10.220.8.2,arp_op=1") {
		t.Errorf("no ARP question took OVN's rule:\n%s", flows)
	}
	shell(t, l, "ovn.h1", "ovn-nbctl --wait=hv --timeout=20 lsp-set-addresses h2-c1 unknown")
	awaitDatapath(t, l, "ovn.h1")
	if packets := crossing(); packets == 0 {
		t.Error("no ARP packet came to h2, whose container OVN does not know")
	}
}
