package kinds_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/lab"
	"tare/site"
	"tare/test/labtest"
	"tare/wire"
	"tare/workload"
)

// routers are the daemons that may announce routes: how the kernel keeps theirs, where their
// process is named, and the route by which the mesh's first host drops what none of its
// containers has.
func routers() map[string]struct{ mesh, kept, pid, blackhole string } {
	return map[string]struct{ mesh, kept, pid, blackhole string }{
		"bird": {"bgp", "proto bird metric 32", "/run/tare/bird.pid", "blackhole 10.101.0.0/26 proto bird metric 32"},
		"frr":  {"frr", "proto bgp metric 20", "/run/tare/frr/bgpd.pid", "blackhole 10.101.0.0/26"},
	}
}

// bgpClusters are the networks of BGP: meshes of three hosts, reflected, with policies, with more
// containers than a block holds, and with wrong policies; by both daemons and versions of IP.
func bgpClusters() (all, refused []site.ClusterSpec) {
	frr, reflected := with("frr", "bgp", "router", "frr"), with("frr-rr", "bgp-rr", "router", "frr")
	policies, unknown, few := with("policies", "bgp", "policies", "100"), with("unknown", "bgp", "policies", "1"), with("few", "bgp", "policies", "2")
	few.Params["router"] = "frr"
	full := with("full", "bgp", "", "") // the next container needs a block that no host has announced
	full.Containers = 126
	all = append(clusters("bgp"), frr, reflected, policies, unknown, few, full)
	for _, spec := range []site.ClusterSpec{frr, reflected, policies} {
		spec.Name += "6"
		all = append(all, overVersion6(spec))
	}
	for _, name := range []string{"bgp", "frr"} {
		change(all, name, func(spec *site.ClusterSpec) { spec.Hosts = 3 })
	}
	for _, value := range []string{"many", "-1", "1001"} {
		refused = append(refused, with("policies-"+value, "bgp", "policies", value))
	}
	return all, refused
}

func TestRealBGP(t *testing.T) {
	if !asRoot(t) {
		return
	}
	all, refused := bgpClusters()
	l := tryBuild(t, append(all, refused...)...)
	for _, spec := range all {
		if why := built(t, l, spec.Name).Error; why != "" {
			t.Fatalf("%s: %s", spec.Name, why)
		}
	}
	t.Run("policies are a number", func(t *testing.T) {
		for _, spec := range refused {
			labtest.Contains(t, "error of "+spec.Name, built(t, l, spec.Name).Error, "give a number up to 1000")
		}
	})
	keepPromises(t, l)
	t.Run("its daemon is named", func(t *testing.T) { daemonIsNamed(t, l, all) })
	t.Run("what leaves is masqueraded", func(t *testing.T) { masqueradesOnlyWhatLeaves(t, l) })
	t.Run("IPIP encapsulates", func(t *testing.T) { ipipEncapsulates(t, l) })
	t.Run("policies are traversed", func(t *testing.T) { policyIsTraversed(t, l) })
	t.Run("unknown endpoints are dropped", func(t *testing.T) { dropsUnknownEndpoints(t, l) })
	t.Run("each block is announced", func(t *testing.T) { announcesEachBlock(t, l) })
	for router := range routers() {
		t.Run("congestion control is kept by "+router, func(t *testing.T) { keepsCongestionControl(t, l, router) })
	}
	for router := range routers() {
		t.Run("routes are the daemon's, "+router, func(t *testing.T) { routesAreTheDaemons(t, l, router) })
	}
}

func daemonIsNamed(t *testing.T, l *site.Lab, all []site.ClusterSpec) {
	for _, spec := range all {
		router := "bird"
		if spec.Params["router"] != "" {
			router = spec.Params["router"]
		}
		b := built(t, l, spec.Name)
		if b.Parts[router] == "" || len(b.Parts) != 1 {
			t.Errorf("%s is made of %v, want a version of %s alone", b.Name, b.Parts, router)
		}
		if !slices.ContainsFunc(b.Notes, func(note string) bool { return strings.HasPrefix(note, "routes converged in ") }) {
			t.Errorf("%s: notes %q lack the time that routes took", b.Name, b.Notes)
		}
	}
}

// BIRD runs for an ordinary user as well; FRR reports that it needs root.
func TestRealUserBGP(t *testing.T) {
	l := tryBuild(t, with("bird", "bgp", "", ""), with("frr", "bgp", "router", "frr"))
	b := built(t, l, "bird")
	if b.Error != "" {
		t.Fatal(b.Error)
	}
	for path := range b.Paths {
		carries(t, l, b, path, 1500)
	}
	if frr := built(t, l, "frr"); (frr.Error == "") != (l.Topology.Privilege == "root") || frr.Error != "" && frr.Missing != "root" {
		t.Errorf("as %s FRR: %q, missing %q", l.Topology.Privilege, frr.Error, frr.Missing)
	}
}

// routes are a host's, as the kernel has them.
func routes(t *testing.T, l *site.Lab, at string) []string {
	t.Helper()
	held, err := l.Look(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, route := range held[0].Routes {
		texts = append(texts, route.String())
	}
	return texts
}

// keepsCongestionControl holds that the daemon does not undo the congestion control of its
// routes. BIRD reads the kernel's routes every 2 s and corrects those that differ from its own:
// it has, or FRR has, once the route to the third host is back.
func keepsCongestionControl(t *testing.T, l *site.Lab, router string) {
	at := routers()[router].mesh + ".h1"
	has := func(block string) func() bool {
		return func() bool {
			return slices.ContainsFunc(routes(t, l, at), func(r string) bool { return strings.HasPrefix(r, block+" ") })
		}
	}
	shell(t, l, at, "ip route del 10.103.0.0/26")
	labtest.Await(t, "the daemon adds its route again", has("10.103.0.0/26"))
	for _, route := range routes(t, l, at) {
		if !strings.HasPrefix(route, "blackhole") && !strings.HasPrefix(route, "10.103.0.0/26") && !strings.HasSuffix(route, "congctl cubic") {
			t.Errorf("route %q lost its congestion control", route)
		}
	}
}

// routesAreTheDaemons holds that the routes between hosts are marked as the daemon's, and are
// removed with its session.
func routesAreTheDaemons(t *testing.T, l *site.Lab, router string) {
	c := routers()[router]
	learned := fmt.Sprintf("10.102.0.0/26 via 10.0.0.2 dev eth0 %s congctl cubic", c.kept)
	if had := routes(t, l, c.mesh+".h1"); !slices.Contains(had, learned) || !slices.Contains(had, c.blackhole) {
		t.Errorf("h1 has the routes %q, want %q and %q", had, learned, c.blackhole)
	}
	shell(t, l, c.mesh+".h2", "kill -KILL $(cat "+c.pid+")")
	labtest.Await(t, "the route of the daemon that was killed is removed", func() bool {
		return !slices.ContainsFunc(routes(t, l, c.mesh+".h1"), func(r string) bool { return strings.HasPrefix(r, "10.102.0.0/26") })
	})
}

// masqueradesOnlyWhatLeaves holds that what leaves the pool is masqueraded, what stays in it is
// not.
func masqueradesOnlyWhatLeaves(t *testing.T, l *site.Lab) {
	for cluster, of := range map[string]func(netip.Addr) netip.Addr{"bgp": func(four netip.Addr) netip.Addr { return four }, "bgp6": lab.IPv6Of} {
		address := func(four string) string { return of(netip.MustParseAddr(four)).String() }
		at := func(four string) string { return netip.AddrPortFrom(of(netip.MustParseAddr(four)), 99).String() }
		for _, c := range []struct{ server, dial, want string }{{".h2", host2, host1}, {".h2/c1", container2, "10.101.0.2"}} {
			if got := seenAs(t, l, cluster+".h1/c1", at(c.dial), cluster+c.server, at(c.dial)); got != address(c.want) {
				t.Errorf("%s%s sees h1/c1 as %s, want %s", cluster, c.server, got, address(c.want))
			}
		}
	}
}

// ipipEncapsulates holds that the daemon's route leads through the tunnel's device, and every
// packet between hosts travels with an outer header of 20 bytes.
func ipipEncapsulates(t *testing.T, l *site.Lab) {
	b := built(t, l, "bgp-ipip")
	learned := "10.102.0.0/26 via 10.0.0.2 dev ipip0 proto bird metric 32 congctl cubic"
	if had := routes(t, l, "bgp-ipip.h1"); !slices.Contains(had, learned) {
		t.Errorf("h1 has the routes %q, want %q", had, learned)
	}
	const size = 1000
	before := link(t, l, "bgp-ipip.h1", lab.Device)
	done := transactions(t, l, b, catalog.CrossHost, "udp_rr", size, 500)
	after := link(t, l, "bgp-ipip.h1", lab.Device)
	// The packets that open and close a run are smaller and few.
	want := float64(size + udpHeaders + wire.IPIP().Bytes() + wire.EthernetHeader)
	bytes, packets := float64(after.TxBytes-before.TxBytes), float64(after.TxPackets-before.TxPackets)
	if bytes < done*want || bytes/packets > want {
		t.Errorf("%.0f transactions took %.0f bytes in %.0f packets on the underlay, want %.0f each", done, bytes, packets, want)
	}
	fidelity, why := catalog.SamePath, 0
	kind := link(t, l, "bgp-ipip.h1", "ipip0").Kind
	if kind != "ipip" { // the kernel has no such device
		fidelity, why = catalog.StandIn, 1
	}
	if b.Fidelity != fidelity || len(b.Notes) != 1+why {
		t.Errorf("by a device of kind %s the fidelity is %s and the notes are %q", kind, b.Fidelity, b.Notes)
	}
	// A host sends to containers from its tunnel's address.
	if got := seenAs(t, l, "bgp-ipip.h1", containerAddress, "bgp-ipip.h2/c1", containerAddress); got != "10.101.0.1" {
		t.Errorf("h2/c1 sees h1 as %s, want 10.101.0.1", got)
	}
}

// packets counts what each rule of a chain has matched.
func packets(t *testing.T, l *site.Lab, at, chain string) []int {
	t.Helper()
	text, status, err := exec(t.Context(), l, at, "nft", "--json", "list", "chain", "ip", "tare", chain)
	if err != nil || status != 0 {
		t.Fatalf("list chain %s: status %d, %v", chain, status, err)
	}
	var listed struct {
		Nftables []struct {
			Rule *struct {
				Expr []struct{ Counter *struct{ Packets int } }
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &listed); err != nil {
		t.Fatal(err)
	}
	var counts []int
	for _, item := range listed.Nftables {
		if item.Rule == nil {
			continue
		}
		for _, e := range item.Rule.Expr {
			if e.Counter != nil {
				counts = append(counts, e.Counter.Packets)
			}
		}
	}
	return counts
}

// policyIsTraversed holds that each packet between containers passes the chains of its sender and,
// on the other host, of its receiver; a connection's first passes the policy. Chains of endpoints
// without a container see none.
func policyIsTraversed(t *testing.T, l *site.Lab) {
	done := measure(t, l, built(t, l, "policies"), catalog.CrossHost, "tcp_rr", workload.Run{Size: 1}).Client.Work
	for _, c := range []struct {
		at, chain string
		rule      int // from 0
		least     float64
	}{
		{"policies.h1", "cali-FORWARD", 1, done},
		{"policies.h1", "cali-fw-veth-c1", 0, done}, // of established connections
		{"policies.h1", "cali-po-default", 1, 1},
		{"policies.h2", "cali-tw-veth-c1", 0, done},
		{"policies.h2", "cali-pi-default", 1, 1},
		{"policies.h1", "cali-FORWARD", 3, 1}, // accepted
	} {
		if got := packets(t, l, c.at, c.chain); len(got) <= c.rule || float64(got[c.rule]) < c.least {
			t.Errorf("%s: rules of %s matched %v packets, want at least %.0f at rule %d", c.at, c.chain, got, c.least, c.rule)
		}
	}
	for _, chain := range []string{"cali-tw-veth-c100", "cali-fw-veth-c100"} {
		got := packets(t, l, "policies.h1", chain)
		if len(got) < 7 || slices.Max(got) > 0 {
			t.Errorf("rules of %s matched %v packets", chain, got)
		}
	}
}

// dropsUnknownEndpoints holds that an endpoint that has no chains gets nothing through.
func dropsUnknownEndpoints(t *testing.T, l *site.Lab) {
	shell(t, l, "unknown.h2", `nft delete element ip tare cali-tw-dispatch '{ "veth-c1" }'`)
	reachesNot(t, l, "unknown.h1/c1", container2, "it is no known endpoint")
}

// announcesEachBlock holds that more containers than one block holds get more blocks, each with
// its route.
func announcesEachBlock(t *testing.T, l *site.Lab) {
	for _, block := range []string{"10.102.0.0/26", "10.102.0.64/26"} {
		if had := routes(t, l, "full.h1"); !slices.ContainsFunc(had, func(r string) bool { return strings.HasPrefix(r, block+" via 10.0.0.2 ") }) {
			t.Errorf("h1 has no route to %s: %q", block, had)
		}
	}
	if got := seenAs(t, l, "full.h1/c126", "10.102.0.127:99", "full.h2/c126", "10.102.0.127:99"); got != "10.101.0.127" {
		t.Errorf("h2/c126 sees h1/c126 as %s", got)
	}
}
