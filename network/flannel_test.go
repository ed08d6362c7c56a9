package network_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tare/lab"
	"tare/network"
	"tare/site"
	"tare/wire"
)

// The first containers and bridges of flannel's first two hosts.
const (
	flannel1, flannel2 = "10.244.4.2", "10.244.8.2"
	flannelVTEP1       = "10.244.4.0"
)

// output is what a command prints, which must succeed.
func output(t *testing.T, l *site.Lab, at string, argv ...string) string {
	t.Helper()
	text, status, err := exec(t.Context(), l, at, argv...)
	if err != nil || status != 0 {
		t.Fatalf("%s at %s: status %d, %v", strings.Join(argv, " "), at, status, err)
	}
	return text
}

// flannel builds one of flannel's networks and sends traffic on every path.
func flannel(t *testing.T, name string, params map[string]string) (*site.Lab, site.Built) {
	t.Helper()
	spec := on(name)
	spec.Params = params
	l := build(t, spec)
	b := built(t, l, name)
	n, _ := network.Find(name)
	mtu := wire.InnerMTU(1500, n.Stack)
	for _, path := range n.Paths {
		carries(t, l, b, path, mtu)
	}
	for _, at := range []string{"h1/c1", "h2/c2"} {
		if got := link(t, l, at, "eth0").MTU; got != mtu {
			t.Errorf("MTU at %s is %d, want %d", at, got, mtu)
		}
	}
	if b.Fidelity != network.Product {
		t.Errorf("fidelity %s", b.Fidelity)
	}
	for _, part := range []string{"flanneld", "etcd", "iptables"} {
		if b.Parts[part] == "" {
			t.Errorf("no version of %s: %v", part, b.Parts)
		}
	}
	return l, b
}

// Routes between hosts are flanneld's, by the leases in etcd.
func TestRealFlannelHostGWRoutes(t *testing.T) {
	l, _ := flannel(t, "flannel-host-gw", nil)
	if routes := output(t, l, "h1", "ip", "route"); !strings.Contains(routes, "10.244.8.0/22 via 10.0.0.2 dev eth0 congctl cubic") {
		t.Errorf("h1 routes:\n%s", routes)
	}
	leases := output(t, l, "h2", "etcdctl", "--endpoints", "http://10.0.0.1:2379", "get", "--prefix", "--keys-only", "/coreos.com/network/subnets")
	for _, subnet := range []string{"10.244.4.0-22", "10.244.8.0-22"} {
		if !strings.Contains(leases, subnet) {
			t.Errorf("etcd holds no lease of %s:\n%s", subnet, leases)
		}
	}
	if got := seenAs(t, l, "h1/c1", flannel2+":99", "h2/c1", flannel2+":99"); got != flannel1 {
		t.Errorf("h2/c1 sees h1/c1 as %s", got)
	}
}

// What leaves flannel's network has its host's address, unless that is off.
func TestRealFlannelMasquerades(t *testing.T) {
	for value, want := range map[string]string{"on": host1, "off": flannel1} {
		spec := on("flannel-host-gw")
		spec.Params = map[string]string{"ip_masq": value}
		l := build(t, spec)
		if got := seenAs(t, l, "h1/c1", host2+":99", "h2", host2+":99"); got != want {
			t.Errorf("ip_masq %s: h2 sees h1/c1 as %s, want %s", value, got, want)
		}
		rules := output(t, l, "h1", "iptables", "-t", "filter", "-S", "FLANNEL-FWD", "-v")
		if strings.Contains(rules, "-s 10.244.0.0/16 -m comment --comment \"flanneld forward\" -c 0 0") {
			t.Errorf("ip_masq %s: nothing hit flannel's rules:\n%s", value, rules)
		}
	}
}

// VXLAN on flannel's port and network identifier, and each host by its own
// address in the overlay.
func TestRealFlannelVXLANEncapsulates(t *testing.T) {
	l, b := flannel(t, "flannel-vxlan", nil)
	encapsulates(t, l, b, "flannel.1", wire.VXLAN())
	if device := output(t, l, "h1", "ip", "-d", "link", "show", "flannel.1"); !strings.Contains(device, "vxlan id 1 local 10.0.0.1 dev eth0") || !strings.Contains(device, "dstport 8472") {
		t.Errorf("flannel.1 is\n%s", device)
	}
	if got := seenAs(t, l, "h1", flannel2+":99", "h2/c1", flannel2+":99"); got != flannelVTEP1 {
		t.Errorf("h2/c1 sees h1 as %s, want the address of its flannel.1, %s", got, flannelVTEP1)
	}
}

// Between hosts of one subnet direct routing needs no VXLAN, and the numbers
// carry a note.
func TestRealFlannelDirectRouting(t *testing.T) {
	l, b := flannel(t, "flannel-vxlan", map[string]string{"direct_routing": "on"})
	if packets := link(t, l, "h1", "flannel.1").TxPackets; packets > 0 {
		t.Errorf("%d packets crossed flannel.1", packets)
	}
	if len(b.Notes) != 1 || !strings.Contains(b.Notes[0], "direct-routing") {
		t.Errorf("notes %q", b.Notes)
	}
}

// flanneld itself carries the packets, and nothing passes without it.
func TestRealFlannelUDPEncapsulates(t *testing.T) {
	l, b := flannel(t, "flannel-udp", nil)
	encapsulates(t, l, b, "flannel0", wire.UDP())
	output(t, l, "h1/c1", "ping", "-c", "1", "-W", "2", flannel2)
	endAll(t, l, "h2")
	if _, status, err := exec(t.Context(), l, "h1/c1", "ping", "-c", "1", "-W", "1", flannel2); err != nil || status == 0 {
		t.Errorf("h2/c1 is reached without flanneld: status %d, %v", status, err)
	}
}

func TestRealFlannelThreeHosts(t *testing.T) {
	var all []site.ClusterSpec
	for _, name := range []string{"flannel-host-gw", "flannel-vxlan", "flannel-udp"} {
		spec := on(name)
		spec.Hosts = 3
		all = append(all, spec)
	}
	l := build(t, all...)
	for _, spec := range all {
		const third = "10.244.12.3:99"
		for client, want := range map[string]string{".h1/c1": flannel1, ".h2/c1": flannel2} {
			if got := seenAs(t, l, spec.Name+client, third, spec.Name+".h3/c2", third); got != want {
				t.Errorf("%s.h3/c2 sees %s as %s, want %s", spec.Name, client, got, want)
			}
		}
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
