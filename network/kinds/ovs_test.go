package kinds_test

import (
	"fmt"
	"os"
	"regexp"
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

// The networks of Open vSwitch on three hosts, one of them also with a rule for each pair of
// addresses, beside some that fail once their daemons run.
func TestRealOVS(t *testing.T) {
	if !asRoot(t) {
		return
	}
	all := clusters("ovs")
	three := []string{"explicit"}
	for _, n := range ofFamily("ovs") {
		three = append(three, n.Name)
	}
	all = append(all, with("explicit", "ovs-vxlan", catalog.Openflow, "explicit"))
	for _, name := range three {
		change(all, name, func(spec *site.ClusterSpec) { spec.Hosts = 3 })
	}
	page, half, many := with("page", "ovs-multitable", "", ""), with("half", "ovs-vxlan", "", ""), with("many", "ovs-vxlan", catalog.Openflow, "explicit")
	page.Containers = 1      // as on the network's page
	half.Axes["mtu"] = 100.0 // the containers' MTU of 50 is refused
	many.Containers = 400
	all = append(all, page)
	l := tryBuild(t, append(all, half, many)...)
	var switches int
	for _, spec := range all {
		switches += spec.Hosts
		if why := built(t, l, spec.Name).Error; why != "" {
			t.Fatalf("%s: %s", spec.Name, why)
		}
	}
	t.Run("one that fails stops its daemons", func(t *testing.T) {
		for name, want := range map[string]string{"half": "add veth veth-c1", "many": "use fewer --containers"} {
			got := built(t, l, name).Error
			labtest.Contains(t, "error of "+name, got, "set up network ovs-vxlan")
			labtest.Contains(t, "error of "+name, got, want)
		}
		runAre(t, l, "ovs.h1", "ovs-vswitchd", switches)
		runAre(t, l, "ovs.h1", "ovsdb-server", switches)
	})
	keepPromises(t, l)
	t.Run("its datapath is reported", func(t *testing.T) { datapathIsReported(t, l) })
	t.Run("it stays on its CPUs", func(t *testing.T) { ovsStaysOnItsCPUs(t, l) })
	for _, name := range three {
		t.Run(name+" has no loop", func(t *testing.T) { hasNoLoop(t, l, name) })
	}
	t.Run("ovs-vlan tags the trunk", func(t *testing.T) { tagsTheTrunk(t, l) })
	t.Run("explicit encapsulates", func(t *testing.T) { ovsEncapsulates(t, l, "explicit") })
	t.Run("ovs-multitable encapsulates", func(t *testing.T) { ovsEncapsulates(t, l, "ovs-multitable") })
	t.Run("the page shows the rules", func(t *testing.T) { pageShowsTheRules(t, l) })
	t.Run("explicit rules are taken", func(t *testing.T) { explicitRulesAreTaken(t, l) })
	t.Run("packets walk the tables", func(t *testing.T) { walksTheTables(t, l) })
}

// datapathIsReported holds that the userspace datapath, a stand-in for the kernel's, is reported
// as such.
func datapathIsReported(t *testing.T, l *site.Lab) {
	_, noKernel, err := exec(t.Context(), l, "ovs.h1", "sh", "-c", "ovs-dpctl add-dp here 2>/dev/null && ovs-dpctl del-dp here")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range l.Topology.Clusters {
		if b.Error != "" {
			continue
		}
		if version := b.Parts["ovs-vswitchd"]; !strings.HasPrefix(version, "3.") && !strings.HasPrefix(version, "2.") {
			t.Errorf("%s: parts %v", b.Name, b.Parts)
		}
		isStandIn := b.Fidelity == catalog.StandIn && strings.Contains(strings.Join(b.Warnings, " "), "userspace-datapath")
		if isProduct := b.Fidelity == catalog.Product && len(b.Notes) == 0; isStandIn != (noKernel != 0) || isProduct == isStandIn {
			t.Errorf("%s: fidelity %s, warnings %q; the kernel's datapath: status %d", b.Name, b.Fidelity, b.Warnings, noKernel)
		}
	}
}

// ovsStaysOnItsCPUs holds that whatever ovs-vswitchd does, it does on its host's CPUs.
func ovsStaysOnItsCPUs(t *testing.T, l *site.Lab) {
	for host, cpus := range built(t, l, "ovs").CPUs {
		threads := shell(t, l, "ovs."+host, "grep -h Cpus_allowed_list: /proc/$(cat /run/openvswitch/ovs-vswitchd.pid)/task/*/status")
		for thread := range strings.Lines(threads) {
			labtest.Equal(t, "CPUs of a thread of "+host, strings.Fields(thread)[1], cpus)
		}
	}
}

// hasNoLoop asks all containers for an address that none has: in a loop, the question would pass
// a host again and again.
func hasNoLoop(t *testing.T, l *site.Lab, name string) {
	before := link(t, l, name+".h3", lab.Device)
	own := link(t, l, name+".h1/c1", lab.Device).Addresses[0]
	nobody := own.Addr()
	for range 100 {
		nobody = nobody.Next()
	}
	reachesNot(t, l, name+".h1/c1", nobody.String(), "no container has it")
	after := link(t, l, name+".h3", lab.Device)
	labtest.AtMost(t, "packets that passed h3", after.RxPackets+after.TxPackets-before.RxPackets-before.TxPackets, 50)
}

// counted lets nftables count the packets that arrive on the underlay and fit
// the match while run does its work.
func counted(t *testing.T, l *site.Lab, at, match string, run func()) float64 {
	t.Helper()
	for _, command := range []string{
		"add table netdev counted",
		"add chain netdev counted in { type filter hook ingress device eth0 priority -10; }",
		"add rule netdev counted in " + match + " counter",
	} {
		shell(t, l, at, "nft '"+command+"'")
	}
	run()
	listed := shell(t, l, at, "nft list table netdev counted")
	found := regexp.MustCompile(`packets (\d+) bytes`).FindStringSubmatch(listed)
	if found == nil {
		t.Fatalf("no counter in %s", listed)
	}
	packets, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	shell(t, l, at, "nft delete table netdev counted")
	return packets
}

// tagsTheTrunk holds that what containers of two hosts send to each other travels with the tag of
// VLAN 701; the hosts' own packets without; and the two do not meet.
func tagsTheTrunk(t *testing.T, l *site.Lab) {
	var work float64
	tagged := counted(t, l, "ovs-vlan.h2", "vlan id 701", func() {
		work = measure(t, l, built(t, l, "ovs-vlan"), catalog.CrossHost, "udp_rr", workload.Run{Size: 64}).Client.Work
	})
	labtest.AtLeast(t, "frames of VLAN 701 in as many transactions", tagged, work)
	tagged = counted(t, l, "ovs-vlan.h2", "vlan id 701", func() {
		if got := seenAs(t, l, "ovs-vlan.h1", host2+":99", "ovs-vlan.h2", host2+":99"); got != host1 {
			t.Errorf("h2 sees h1 as %s", got)
		}
	})
	labtest.AtMost(t, "frames of VLAN 701 with the hosts' own packets", tagged, 4) // late neighbour discovery of the containers
	access := shell(t, l, "ovs-vlan.h1", "ovs-vsctl get Port veth-c1 tag")
	labtest.Equal(t, "tag of the port of c1", strings.TrimSpace(access), "701")
}

// ovsEncapsulates holds that what crosses hosts is inside VXLAN, 50 bytes longer.
func ovsEncapsulates(t *testing.T, l *site.Lab, name string) {
	const size = 1000
	datagram := size + udpHeaders + wire.VXLAN().Bytes() - wire.IPv4Header
	var work float64
	packets := counted(t, l, name+".h2", fmt.Sprintf("udp dport 4789 udp length %d", datagram), func() {
		work = measure(t, l, built(t, l, name), catalog.CrossHost, "udp_rr", workload.Run{Size: size}).Client.Work
	})
	labtest.AtLeast(t, fmt.Sprintf("datagrams of %d bytes to port 4789 in as many transactions", datagram), packets, work)
}

// awaitDatapath waits until the datapath of a host's switch does what its flows say, and they
// count what it has passed: two rounds of Open vSwitch's revalidators, of which the one that is
// under way may have begun before the last change.
func awaitDatapath(t *testing.T, l *site.Lab, at string) {
	t.Helper()
	shell(t, l, at, "ovs-appctl revalidator/wait && ovs-appctl revalidator/wait")
}

// hits reads the rules of a host's bridge that packets have taken, as
// ovs-ofctl shows them.
func hits(t *testing.T, l *site.Lab, at string) (rules int, hit []string) {
	t.Helper()
	awaitDatapath(t, l, at)
	for line := range strings.Lines(shell(t, l, at, "ovs-ofctl -O OpenFlow13 dump-flows br0")) {
		if !strings.Contains(line, "actions=") {
			continue
		}
		rules++
		if !strings.Contains(line, "n_packets=0,") {
			hit = append(hit, strings.TrimSpace(line))
		}
	}
	return rules, hit
}

// explicitRulesAreTaken holds that each pair of containers has its rule, and can't communicate
// without.
func explicitRulesAreTaken(t *testing.T, l *site.Lab) {
	rules, hit := hits(t, l, "explicit.h1")
	// Of two containers here and four there: 2 pairs here, 8 across in both directions, and 6
	// that ask for an address.
	labtest.Equal(t, "rules", rules, 2+8+8+6)
	mac := func(at string) string { return link(t, l, "explicit."+at, lab.Device).MAC }
	for _, pair := range [][2]string{{"h1/c1", "h2/c1"}, {"h2/c1", "h1/c1"}, {"h1/c1", "h1/c2"}, {"h1/c2", "h1/c1"}} {
		want := regexp.MustCompile(`in_port=\S+,dl_src=` + mac(pair[0]) + `,dl_dst=` + mac(pair[1]) + ` `)
		if !want.MatchString(strings.Join(hit, "\n")) {
			t.Errorf("no packet from %s to %s took a rule of theirs:\n%s", pair[0], pair[1], strings.Join(hit, "\n"))
		}
	}
	there := built(t, l, "explicit").Paths[catalog.CrossHost].Bind.String()
	reaches(t, l, "explicit.h1/c1", there)
	shell(t, l, "explicit.h1", fmt.Sprintf("ovs-ofctl --strict del-flows br0 in_port=1,dl_src=%s,dl_dst=%s", mac("h1/c1"), mac("h2/c1")))
	awaitDatapath(t, l, "explicit.h1")
	reachesNot(t, l, "explicit.h1/c1", there, "they have no rule")
	reaches(t, l, "explicit.h1/c2", there)
	if rules, _ := hits(t, l, "ovs-vxlan.h1"); rules != 1 {
		t.Errorf("a bridge that learns has %d rules, want only NORMAL", rules)
	}
}

// walksTheTables holds that a packet to another host passes the tables that a packet of
// OpenShift's SDN does; one that belongs to another tenant does not arrive.
func walksTheTables(t *testing.T, l *site.Lab) {
	const at = "ovs-multitable"
	_, hit := hits(t, l, at+".h1")
	for _, table := range []int{10, 20, 21, 30, 40, 50, 70, 80, 90} {
		labtest.Contains(t, "rules that packets took", strings.Join(hit, "\n"), fmt.Sprintf("table=%d,", table))
	}
	there := built(t, l, at).Paths[catalog.CrossHost].Bind.String()
	reaches(t, l, at+".h1/c1", there)
	shell(t, l, at+".h1", "ovs-ofctl -O OpenFlow13 mod-flows br0 'table=20,ip,in_port=1,actions=load:7->NXM_NX_REG0[],goto_table:21'")
	awaitDatapath(t, l, at+".h1")
	reachesNot(t, l, at+".h1/c1", there, "it belongs to another tenant")
	if got := seenAs(t, l, at+".h1/c2", there+":99", at+".h2/c1", there+":99"); got != "10.220.4.3" {
		t.Errorf("h2/c1 sees h1/c2 as %s", got)
	}
}

// pageShowsTheRules holds that the rules on the network's page are those that are set.
func pageShowsTheRules(t *testing.T, l *site.Lab) {
	page, err := os.ReadFile("../../docs/networks/ovs-multitable.md")
	if err != nil {
		t.Fatal(err)
	}
	set := shell(t, l, "page.h1", "cat /run/tare/br0-*.flows")
	for line := range strings.Lines(set) {
		labtest.Contains(t, "the page", string(page), "\n"+line)
	}
	labtest.Equal(t, "rules on the page", strings.Count(string(page), "\ntable="), strings.Count(set, "\n"))
}
