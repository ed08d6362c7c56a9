package network_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"tare/lab"
	"tare/network"
	"tare/site"
	"tare/wire"
	"tare/workload"
)

// explicit is ovs-vxlan with a rule for each pair of addresses.
func explicit() site.ClusterSpec {
	spec := on("ovs-vxlan")
	spec.Name, spec.Params = "explicit", map[string]string{network.Openflow: "explicit"}
	return spec
}

func openVSwitches() []site.ClusterSpec {
	return []site.ClusterSpec{on("ovs"), on("ovs-vlan"), on("ovs-vxlan"), explicit(), on("ovs-multitable")}
}

func TestRealOpenVSwitchCarriesTraffic(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := build(t, openVSwitches()...)
	_, noKernel, err := exec(t.Context(), l, "ovs.h1", "sh", "-c", "ovs-dpctl add-dp here 2>/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range openVSwitches() {
		t.Run(spec.Name, func(t *testing.T) {
			n, _ := network.Find(spec.Network)
			b := built(t, l, spec.Name)
			for _, path := range n.Paths {
				carries(t, l, b, path, wire.InnerMTU(1500, n.Stack))
			}
			for _, at := range []string{"h1/c1", "h2/c2"} {
				if got := link(t, l, spec.Name+"."+at, lab.Device).MTU; got != wire.InnerMTU(1500, n.Stack) {
					t.Errorf("MTU at %s is %d, want %d", at, got, wire.InnerMTU(1500, n.Stack))
				}
			}
			if !strings.HasPrefix(b.Parts["ovs-vswitchd"], "3.") && !strings.HasPrefix(b.Parts["ovs-vswitchd"], "2.") {
				t.Errorf("parts %v", b.Parts)
			}
			// The userspace datapath is a stand-in for the kernel's, and is reported as such.
			isStandIn := b.Fidelity == network.StandIn && strings.Contains(strings.Join(b.Warnings, " "), "userspace-datapath")
			if isProduct := b.Fidelity == network.Product && len(b.Notes) == 0; isStandIn != (noKernel != 0) || isProduct == isStandIn {
				t.Errorf("fidelity %s, warnings %q; the kernel's datapath: status %d", b.Fidelity, b.Warnings, noKernel)
			}
		})
	}
}

// Whatever ovs-vswitchd does, it does on its host's CPUs.
func TestRealOpenVSwitchStaysOnItsCPUs(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := build(t, on("ovs"))
	for host, cpus := range built(t, l, "ovs").CPUs {
		threads := shell(t, l, host, "grep -h Cpus_allowed_list: /proc/$(cat /run/openvswitch/ovs-vswitchd.pid)/task/*/status")
		for thread := range strings.Lines(threads) {
			if got := strings.Fields(thread)[1]; got != cpus {
				t.Errorf("a thread of %s may run on %s, want %s", host, got, cpus)
			}
		}
	}
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

// What containers of two hosts send to each other travels with the tag of VLAN
// 701; the hosts' own packets without; and the two do not meet.
func TestRealOVSVLANTagsTheTrunk(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := build(t, on("ovs-vlan"))
	b := built(t, l, "ovs-vlan")
	var work float64
	tagged := counted(t, l, "h2", "vlan id 701", func() {
		work = measure(t, l, b, network.CrossHost, "udp_rr", workload.Run{Size: 64}).Client.Work
	})
	if work <= 0 || tagged < work {
		t.Errorf("%.0f frames of VLAN 701 arrived in %.0f transactions", tagged, work)
	}
	tagged = counted(t, l, "h2", "vlan id 701", func() {
		if got := seenAs(t, l, "h1", host2+":99", "h2", host2+":99"); got != host1 {
			t.Errorf("h2 sees h1 as %s", got)
		}
	})
	if tagged > 4 { // late neighbour discovery of the containers
		t.Errorf("%.0f frames of VLAN 701 arrived with the hosts' own packets", tagged)
	}
	if access := shell(t, l, "h1", "ovs-vsctl get Port veth-c1 tag"); strings.TrimSpace(access) != "701" {
		t.Errorf("the port of c1 has the tag %s", access)
	}
}

// What crosses hosts is inside VXLAN, 50 bytes longer.
func TestRealOVSVXLANEncapsulates(t *testing.T) {
	if !asRoot(t) {
		return
	}
	const size = 1000
	datagram := size + udpHeaders + wire.VXLAN().Bytes() - wire.IPv4Header
	for _, spec := range []site.ClusterSpec{explicit(), on("ovs-multitable")} {
		l := build(t, spec)
		var work float64
		packets := counted(t, l, "h2", fmt.Sprintf("udp dport 4789 udp length %d", datagram), func() {
			work = measure(t, l, built(t, l, spec.Name), network.CrossHost, "udp_rr", workload.Run{Size: size}).Client.Work
		})
		if work <= 0 || packets < work {
			t.Errorf("%s: %.0f datagrams of %d bytes to port 4789 in %.0f transactions", spec.Name, packets, datagram, work)
		}
	}
}

// hits reads the rules of a host's bridge that packets have taken, as
// ovs-ofctl shows them.
func hits(t *testing.T, l *site.Lab, at string) (rules int, hit []string) {
	t.Helper()
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

func TestRealOVSExplicitRulesAreTaken(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := build(t, explicit(), on("ovs-vxlan"))
	b := built(t, l, "explicit")
	measure(t, l, b, network.CrossHost, "tcp_rr", workload.Run{Size: 1})
	measure(t, l, b, network.SameHost, "tcp_rr", workload.Run{Size: 1})
	rules, hit := hits(t, l, "explicit.h1")
	// Of two containers here and two there: 2 pairs here, 4 across in both
	// directions, and 4 that ask for an address.
	if rules != 2+4+4+4 {
		t.Errorf("%d rules, want 14", rules)
	}
	mac := func(at string) string { return link(t, l, "explicit."+at, lab.Device).MAC }
	for _, pair := range [][2]string{{"h1/c1", "h2/c1"}, {"h2/c1", "h1/c1"}, {"h1/c1", "h1/c2"}, {"h1/c2", "h1/c1"}} {
		want := regexp.MustCompile(`in_port=\S+,dl_src=` + mac(pair[0]) + `,dl_dst=` + mac(pair[1]) + ` `)
		if !want.MatchString(strings.Join(hit, "\n")) {
			t.Errorf("no packet from %s to %s took a rule of theirs:\n%s", pair[0], pair[1], strings.Join(hit, "\n"))
		}
	}
	// Without its rule a pair cannot communicate; the others can.
	shell(t, l, "explicit.h1", fmt.Sprintf("ovs-ofctl --strict del-flows br0 in_port=1,dl_src=%s,dl_dst=%s", mac("h1/c1"), mac("h2/c1")))
	address := b.Paths[network.CrossHost].Bind.String() + ":99"
	if text, status, err := exec(t.Context(), l, "explicit.h1/c1", "/proc/self/exe", "call", address); err != nil || status == 0 {
		t.Errorf("h2/c1 answers h1/c1 without their rule: %q, status %d, %v", text, status, err)
	}
	measure(t, l, b, network.SameHost, "tcp_rr", workload.Run{Size: 1})

	if rules, _ := hits(t, l, "ovs-vxlan.h1"); rules != 1 {
		t.Errorf("a bridge that learns has %d rules, want only NORMAL", rules)
	}
}

// A packet to another host passes the tables that a packet of OpenShift's SDN
// does; one that belongs to another tenant does not arrive.
func TestRealOVSMultitableWalksItsTables(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := build(t, on("ovs-multitable"))
	b := built(t, l, "ovs-multitable")
	measure(t, l, b, network.CrossHost, "tcp_rr", workload.Run{Size: 1})
	_, hit := hits(t, l, "h1")
	for _, table := range []int{10, 20, 21, 30, 40, 50, 70, 80, 90} {
		if !strings.Contains(strings.Join(hit, "\n"), fmt.Sprintf("table=%d,", table)) {
			t.Errorf("no packet took a rule of table %d:\n%s", table, strings.Join(hit, "\n"))
		}
	}
	server := b.Paths[network.CrossHost].Bind.String()
	if got := seenAs(t, l, "h1/c1", server+":99", "h2/c1", server+":99"); got != "10.220.4.2" {
		t.Errorf("h2/c1 sees h1/c1 as %s", got)
	}
	shell(t, l, "h1", "ovs-ofctl -O OpenFlow13 mod-flows br0 'table=20,ip,in_port=1,actions=load:7->NXM_NX_REG0[],goto_table:21'")
	if text, status, err := exec(t.Context(), l, "h1/c1", "/proc/self/exe", "call", server+":99"); err != nil || status == 0 {
		t.Errorf("another tenant's container is answered: %q, status %d, %v", text, status, err)
	}
	if got := seenAs(t, l, "h1/c2", server+":99", "h2/c1", server+":99"); got != "10.220.4.3" {
		t.Errorf("h2/c1 sees h1/c2 as %s", got)
	}
}

// The rules on the network's page are those that are set.
func TestRealOVSMultitablePageShowsItsRules(t *testing.T) {
	if !asRoot(t) {
		return
	}
	page, err := os.ReadFile("../docs/networks/ovs-multitable.md")
	if err != nil {
		t.Fatal(err)
	}
	spec := on("ovs-multitable")
	spec.Containers = 1
	set := shell(t, build(t, spec), "h1", "cat /run/tare/br0-*.flows")
	for line := range strings.Lines(set) {
		if !strings.Contains(string(page), "\n"+line) {
			t.Errorf("the page does not show %s", line)
		}
	}
	if want := strings.Count(set, "\n"); strings.Count(string(page), "\ntable=") != want {
		t.Errorf("the page shows %d rules, %d are set", strings.Count(string(page), "\ntable="), want)
	}
}

// Three hosts reach each other, and a mesh of tunnels has no loop.
func TestRealOpenVSwitchThreeHosts(t *testing.T) {
	if !asRoot(t) {
		return
	}
	var all []site.ClusterSpec
	for _, spec := range openVSwitches() {
		spec.Hosts = 3
		all = append(all, spec)
	}
	l := build(t, all...)
	for _, spec := range all {
		server := spec.Name + ".h3/c2"
		address := link(t, l, server, lab.Device).Addresses[0].Addr().String()
		for _, client := range []string{".h1/c1", ".h2/c1"} {
			want := link(t, l, spec.Name+client, lab.Device).Addresses[0].Addr().String()
			if got := seenAs(t, l, spec.Name+client, address+":99", server, address+":99"); got != want {
				t.Errorf("%s sees %s%s as %s, want %s", server, spec.Name, client, got, want)
			}
		}
		before := link(t, l, spec.Name+".h3", lab.Device)
		time.Sleep(100 * time.Millisecond)
		after := link(t, l, spec.Name+".h3", lab.Device)
		if packets := after.RxPackets + after.TxPackets - before.RxPackets - before.TxPackets; packets > 50 {
			t.Errorf("%s: %d packets at rest", spec.Name, packets)
		}
	}
}

// Docker starts the containers and has no part in their network: they are on ports
// of Open vSwitch.
func TestRealDockerOVSCarriesTraffic(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := buildDocker(t, "docker-ovs")
	b := built(t, l, "docker-ovs")
	n, _ := network.Find("docker-ovs")
	for _, path := range n.Paths {
		carries(t, l, b, path, 1500)
	}
	if b.Parts["dockerd"] == "" || b.Parts["ovs-vswitchd"] == "" {
		t.Errorf("parts %v", b.Parts)
	}
	server := b.Paths[network.CrossHost].Bind.String()
	if got := seenAs(t, l, "h1/c1", server+":99", "h2/c1", server+":99"); got != "10.0.4.1" {
		t.Errorf("h2/c1 sees h1/c1 as %s", got)
	}
	// To the outside: the other host itself.
	if got := seenAs(t, l, "h1/c2", host2+":99", "h2", host2+":99"); got != "10.0.4.2" {
		t.Errorf("a host outside sees h1/c2 as %s", got)
	}
	for _, c := range []string{"c1", "c2"} {
		if mode := shell(t, l, "h1", dockerIn+"inspect --format '{{.HostConfig.NetworkMode}}' docker-ovs-h1-"+c); strings.TrimSpace(mode) != "none" {
			t.Errorf("the network of %s is %s", c, mode)
		}
		if bridge := shell(t, l, "h1", "ovs-vsctl port-to-br veth-"+c); strings.TrimSpace(bridge) != "br0" {
			t.Errorf("the port of %s is on %s", c, bridge)
		}
	}
	agent, err := l.Agent(t.Context(), "docker-ovs.h1/c1", "client")
	if err != nil {
		t.Fatal(err)
	}
	if agent.Seccomp != "filter" || agent.CPUs != b.CPUs["h1"] {
		t.Errorf("seccomp %s, CPUs %s, want filter and %s", agent.Seccomp, agent.CPUs, b.CPUs["h1"])
	}
}

// A network that fails once its daemons run stops them, reports which step failed,
// and leaves the others.
func TestRealOpenVSwitchFailureLeavesTheOthers(t *testing.T) {
	if !asRoot(t) {
		return
	}
	half, many := on("ovs-vxlan"), explicit()
	half.MTU = 100 // the containers' MTU of 50 is refused
	many.Containers = 400
	l := tryBuild(t, on("ovs"), half, many)
	for name, want := range map[string]string{"ovs-vxlan": "add veth veth-c1", "explicit": "use fewer --containers"} {
		if got := built(t, l, name).Error; !strings.Contains(got, "set up network ovs-vxlan") || !strings.Contains(got, want) {
			t.Errorf("%s failed with %q, want %q", name, got, want)
		}
	}
	for _, program := range []string{"ovs-vswitchd", "ovsdb-server"} {
		// They were killed, but the kernel needs some time to end them.
		running := shell(t, l, "ovs.h1", `for wait in $(seq 100); do
			count=$(cat /proc/[0-9]*/comm 2>/dev/null | grep -cx `+program+`); [ $count -gt 2 ] || break; sleep 0.05
		done; echo $count`)
		if strings.TrimSpace(running) != "2" {
			t.Errorf("%s of %s run, want those of ovs: 2", running, program)
		}
	}
	measure(t, l, built(t, l, "ovs"), network.CrossHost, "tcp_rr", workload.Run{Size: 1})
}
