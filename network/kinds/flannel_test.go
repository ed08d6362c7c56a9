package kinds_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tare/catalog"
	"tare/lab"
	"tare/site"
	"tare/test/labtest"
	"tare/wire"
)

// The first containers and bridges of flannel's first two hosts.
const (
	flannel1, flannel2 = "10.244.4.2", "10.244.8.2"
	flannelVTEP1       = "10.244.4.0"
)

// flannel's networks on three hosts, and with their parameters on two.
func TestRealFlannel(t *testing.T) {
	if !asRoot(t) {
		return
	}
	all := clusters("flannel")
	for _, n := range ofFamily("flannel") {
		change(all, n.Name, func(spec *site.ClusterSpec) { spec.Hosts = 3 })
	}
	l := build(t, append(all, with("open", "flannel-host-gw", "ip_masq", "off"), with("direct", "flannel-vxlan", "direct_routing", "on"), overVersion6(with("tables", "flannel-host-gw", catalog.Backend, catalog.ByNftables)))...)
	keepPromises(t, l)
	t.Run("it is the product", func(t *testing.T) {
		for _, b := range l.Topology.Clusters {
			labtest.Equal(t, "fidelity of "+b.Name, b.Fidelity, catalog.Product)
			for _, part := range []string{"flanneld", "etcd", "iptables"} {
				labtest.NotEqual(t, "version of "+part, b.Parts[part], "")
			}
		}
	})
	t.Run("routes are flanneld's by leases", func(t *testing.T) { routesAreFlannelds(t, l) })
	t.Run("what leaves is masqueraded", func(t *testing.T) { flannelMasquerades(t, l) })
	t.Run("rules are in tables of flannel's own", func(t *testing.T) {
		const at = "tables.h1"
		for _, family := range []string{"ip flannel-ipv4", "ip6 flannel-ipv6"} {
			rules := shell(t, l, at, "nft list table "+family)
			labtest.Contains(t, family, rules, "hook forward")
			labtest.Contains(t, family, rules, "masquerade")
		}
		labtest.Equal(t, "rules of iptables", shell(t, l, at, "{ iptables-save; ip6tables-save; } | grep FLANNEL || true"), "")
	})
	t.Run("vxlan encapsulates", func(t *testing.T) { flannelVXLANEncapsulates(t, l) })
	t.Run("direct routing needs no vxlan", func(t *testing.T) {
		labtest.Equal(t, "packets that crossed flannel.1", link(t, l, "direct.h1", "flannel.1").TxPackets, 0)
		if notes := built(t, l, "direct").Notes; len(notes) != 1 || !strings.Contains(notes[0], "direct-routing") {
			t.Errorf("notes %q", notes)
		}
	})
	// flanneld itself carries the packets, and nothing passes without it.
	t.Run("udp is a process", func(t *testing.T) {
		encapsulates(t, l, built(t, l, "flannel-udp"), "flannel0", wire.UDP())
		reaches(t, l, "flannel-udp.h1/c1", flannel2)
		endAt(t, l, "flannel-udp.h2", "flanneld ")
		reachesNot(t, l, "flannel-udp.h1/c1", flannel2, "its flanneld was killed")
	})
}

// routesAreFlannelds holds that routes between hosts are by the leases in etcd.
func routesAreFlannelds(t *testing.T, l *site.Lab) {
	const at = "flannel-host-gw"
	labtest.Contains(t, "routes of h1", shell(t, l, at+".h1", "ip route"), "10.244.8.0/22 via 10.0.0.2 dev eth0 congctl cubic")
	leases := shell(t, l, at+".h2", "etcdctl --endpoints http://10.0.0.1:2379 get --prefix --keys-only /coreos.com/network/subnets")
	for _, subnet := range []string{"10.244.4.0-22", "10.244.8.0-22", "10.244.12.0-22"} {
		labtest.Contains(t, "etcd", leases, subnet)
	}
	if got := seenAs(t, l, at+".h1/c1", flannel2+":99", at+".h2/c1", flannel2+":99"); got != flannel1 {
		t.Errorf("h2/c1 sees h1/c1 as %s", got)
	}
}

// flannelMasquerades holds that what leaves flannel's network has its host's address, unless
// that is off.
func flannelMasquerades(t *testing.T, l *site.Lab) {
	for at, want := range map[string]string{"flannel-host-gw": host1, "open": flannel1} {
		if got := seenAs(t, l, at+".h1/c1", host2+":99", at+".h2", host2+":99"); got != want {
			t.Errorf("%s: h2 sees h1/c1 as %s, want %s", at, got, want)
		}
		rules := shell(t, l, at+".h1", "iptables -t filter -S FLANNEL-FWD -v")
		if strings.Contains(rules, "-s 10.244.0.0/16 -m comment --comment \"flanneld forward\" -c 0 0") {
			t.Errorf("%s: nothing hit flannel's rules:\n%s", at, rules)
		}
	}
}

// flannelVXLANEncapsulates on flannel's port and network identifier, and each host is seen by
// its own address in the overlay.
func flannelVXLANEncapsulates(t *testing.T, l *site.Lab) {
	const at = "flannel-vxlan"
	encapsulates(t, l, built(t, l, at), "flannel.1", wire.VXLAN())
	device := shell(t, l, at+".h1", "ip -d link show flannel.1")
	labtest.Contains(t, "flannel.1", device, "vxlan id 1 local 10.0.0.1 dev eth0")
	labtest.Contains(t, "flannel.1", device, "dstport 8472")
	if got := seenAs(t, l, at+".h1", flannel2+":99", at+".h2/c1", flannel2+":99"); got != flannelVTEP1 {
		t.Errorf("h2/c1 sees h1 as %s, want the address of its flannel.1, %s", got, flannelVTEP1)
	}
}

// A flanneld on the PATH is used, and the output of one that fails is reported.
func TestRealFlannelOnThePathFails(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho the moon is in the wrong place >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "flanneld"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	l := tryBuild(t, on("flannel-vxlan"), on("bridge"))
	b := built(t, l, "flannel-vxlan")
	for _, want := range []string{"start flanneld in flannel-vxlan.h1", "the moon is in the wrong place"} {
		if !strings.Contains(b.Error, want) {
			t.Errorf("the error is %q, want %q", b.Error, want)
		}
	}
	if _, err := l.Look(t.Context(), "flannel-vxlan.h1"); err == nil {
		t.Error("a host of a network that failed is there")
	}
	link(t, l, "bridge.h1/c1", lab.Device) // the other network is up
}
