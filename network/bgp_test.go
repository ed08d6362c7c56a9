package network_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"tare/lab"
	"tare/network"
	"tare/site"
	"tare/wire"
	"tare/workload"
)

// with is a cluster under its own name, and a network with a parameter.
func with(name, of, param, value string) site.ClusterSpec {
	spec := on(of)
	spec.Name = name
	if param != "" {
		spec.Params = map[string]string{param: value}
	}
	return spec
}

// overVersion6 is the same cluster with IPv6, which it is measured over.
func overVersion6(spec site.ClusterSpec) site.ClusterSpec {
	spec.IP = wire.IPv6
	return spec
}

func TestRealBGPCarriesTraffic(t *testing.T) {
	for _, spec := range []site.ClusterSpec{
		with("mesh", "bgp", "", ""),
		with("reflected", "bgp-rr", "", ""),
		with("frr", "bgp", "router", "frr"),
		with("frr-reflected", "bgp-rr", "router", "frr"),
		with("policies", "bgp", "policies", "40"),
		with("ipip", "bgp-ipip", "", ""),
		overVersion6(with("frr6", "bgp", "router", "frr")),
		overVersion6(with("frr6-reflected", "bgp-rr", "router", "frr")),
		overVersion6(with("policies6", "bgp", "policies", "40")),
	} {
		t.Run(spec.Name, func(t *testing.T) {
			l := build(t, spec)
			n, _ := network.Find(spec.Network)
			b := built(t, l, spec.Name)
			for _, path := range n.Paths {
				carries(t, l, b, path, wire.InnerMTU(1500, n.Stack))
			}
			router := "bird"
			if spec.Name[0] == 'f' {
				router = "frr"
			}
			if b.Parts[router] == "" || len(b.Parts) != 1 {
				t.Errorf("made of %v, want a version of %s alone", b.Parts, router)
			}
			if !slices.ContainsFunc(b.Notes, func(note string) bool { return strings.HasPrefix(note, "routes converged in ") }) {
				t.Errorf("notes %q lack the time that routes took", b.Notes)
			}
		})
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

// becomes waits until a host's routes are as wanted.
func becomes(t *testing.T, l *site.Lab, at, what string, wanted func(routes []string) bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !wanted(routes(t, l, at)); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not %s: %q", at, what, routes(t, l, at))
		}
	}
}

// The routes between hosts are the daemon's, marked as such, and are removed with
// its session.
func TestRealBGPRoutesAreTheDaemons(t *testing.T) {
	for router, c := range map[string]struct{ proto, pid, blackhole string }{
		"bird": {"bird", "/run/tare/bird.pid", "blackhole 10.101.0.0/26 proto bird"},
		"frr":  {"bgp", "/run/tare/frr/bgpd.pid", "blackhole 10.101.0.0/26"},
	} {
		t.Run(router, func(t *testing.T) {
			l := build(t, with("bgp", "bgp", "router", router))
			learned := fmt.Sprintf("10.102.0.0/26 via 10.0.0.2 dev eth0 proto %s congctl cubic", c.proto)
			if had := routes(t, l, "h1"); !slices.Contains(had, learned) || !slices.Contains(had, c.blackhole) {
				t.Errorf("h1 has the routes %q, want %q and %q", had, learned, c.blackhole)
			}
			if _, status, err := exec(t.Context(), l, "h2", "sh", "-c", "kill -KILL $(cat "+c.pid+")"); err != nil || status != 0 {
				t.Fatalf("kill the daemon of h2: status %d, %v", status, err)
			}
			becomes(t, l, "h1", "without the route of the daemon that was killed", func(routes []string) bool {
				return !slices.ContainsFunc(routes, func(r string) bool { return strings.HasPrefix(r, "10.102.0.0/26") })
			})
		})
	}
}

// The daemon does not undo the congestion control of its routes, although BIRD
// reads the kernel's routes every 2 s and corrects those that differ from its own.
func TestRealBGPKeepsCongestionControl(t *testing.T) {
	l := build(t, with("bird", "bgp", "", ""), with("frr", "bgp", "router", "frr"))
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		for _, at := range []string{"bird.h1", "bird.h2", "frr.h1", "frr.h2"} {
			for _, route := range routes(t, l, at) {
				if !strings.HasPrefix(route, "blackhole") && !strings.HasSuffix(route, "congctl cubic") {
					t.Fatalf("%s: route %q lost its congestion control", at, route)
				}
			}
		}
	}
}

// What leaves the pool is masqueraded, what stays in it is not.
func TestRealBGPMasqueradesOnlyWhatLeaves(t *testing.T) {
	l := build(t, on("bgp"))
	if got := seenAs(t, l, "h1/c1", "10.0.0.2:99", "h2", "10.0.0.2:99"); got != host1 {
		t.Errorf("h2 itself sees h1/c1 as %s, want its host %s", got, host1)
	}
	if got := seenAs(t, l, "h1/c1", containerAddress, "h2/c1", containerAddress); got != "10.101.0.2" {
		t.Errorf("h2/c1 sees h1/c1 as %s, want 10.101.0.2", got)
	}
	l = build(t, overVersion6(on("bgp")))
	outside, within := "["+lab.IPv6Of(netip.MustParseAddr("10.0.0.2")).String()+"]:99", "["+lab.IPv6Of(netip.MustParseAddr("10.102.0.2")).String()+"]:99"
	if got, want := seenAs(t, l, "h1/c1", outside, "h2", outside), lab.IPv6Of(netip.MustParseAddr(host1)).String(); got != want {
		t.Errorf("h2 itself sees h1/c1 as %s, want its host %s", got, want)
	}
	if got, want := seenAs(t, l, "h1/c1", within, "h2/c1", within), lab.IPv6Of(netip.MustParseAddr("10.101.0.2")).String(); got != want {
		t.Errorf("h2/c1 sees h1/c1 as %s, want %s", got, want)
	}
}

// The daemon's route leads through the tunnel's device, and every packet
// between hosts travels with an outer header of 20 bytes.
func TestRealBGPIPIPEncapsulates(t *testing.T) {
	l := build(t, on("bgp-ipip"))
	b := built(t, l, "bgp-ipip")
	learned := "10.102.0.0/26 via 10.0.0.2 dev ipip0 proto bird congctl cubic"
	if had := routes(t, l, "h1"); !slices.Contains(had, learned) {
		t.Errorf("h1 has the routes %q, want %q", had, learned)
	}
	run := workload.Run{Size: 1000, Duration: 100 * time.Millisecond}
	measure(t, l, b, network.CrossHost, "udp_rr", run) // neighbours are known from here on
	before := link(t, l, "h1", lab.Device)
	out := measure(t, l, b, network.CrossHost, "udp_rr", run)
	after := link(t, l, "h1", lab.Device)
	// The packets that open and close the run are smaller and few.
	want := float64(run.Size + udpHeaders + wire.IPIP().Bytes() + wire.EthernetHeader)
	bytes, packets := float64(after.TxBytes-before.TxBytes), float64(after.TxPackets-before.TxPackets)
	if bytes < out.Client.Work*want || bytes/packets > want {
		t.Errorf("%.0f transactions took %.0f bytes in %.0f packets on the underlay, want %.0f each", out.Client.Work, bytes, packets, want)
	}
	fidelity, why := network.SamePath, 0
	kind := link(t, l, "h1", "ipip0").Kind
	if kind != "ipip" { // the kernel has no such device
		fidelity, why = network.StandIn, 1
	}
	if b.Fidelity != fidelity || len(b.Notes) != 1+why {
		t.Errorf("by a device of kind %s the fidelity is %s and the notes are %q", kind, b.Fidelity, b.Notes)
	}
	// A host sends to containers from its tunnel's address.
	if got := seenAs(t, l, "h1", containerAddress, "h2/c1", containerAddress); got != "10.101.0.1" {
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

// Each packet between containers passes the chains of its sender and, on the
// other host, of its receiver; a connection's first passes the policy. Chains
// of endpoints without a container see none.
func TestRealBGPPolicyIsTraversed(t *testing.T) {
	l := build(t, with("bgp", "bgp", "policies", "100"))
	out := measure(t, l, built(t, l, "bgp"), network.CrossHost, "tcp_rr", workload.Run{Size: 1, Duration: 100 * time.Millisecond})
	for _, c := range []struct {
		at, chain string
		rule      int // from 0
		least     float64
	}{
		{"h1", "cali-FORWARD", 1, out.Client.Work},
		{"h1", "cali-fw-veth-c1", 0, out.Client.Work}, // of established connections
		{"h1", "cali-po-default", 1, 1},
		{"h2", "cali-tw-veth-c1", 0, out.Client.Work},
		{"h2", "cali-pi-default", 1, 1},
		{"h1", "cali-FORWARD", 3, 1}, // accepted
	} {
		if got := packets(t, l, c.at, c.chain); len(got) <= c.rule || float64(got[c.rule]) < c.least {
			t.Errorf("%s: rules of %s matched %v packets, want at least %.0f at rule %d", c.at, c.chain, got, c.least, c.rule)
		}
	}
	for _, chain := range []string{"cali-tw-veth-c100", "cali-fw-veth-c100"} {
		got := packets(t, l, "h1", chain)
		if len(got) < 7 || slices.Max(got) > 0 {
			t.Errorf("rules of %s matched %v packets", chain, got)
		}
	}
}

// An endpoint that has no chains gets nothing through.
func TestRealBGPPolicyDropsUnknownEndpoints(t *testing.T) {
	l := build(t, with("bgp", "bgp", "policies", "1"))
	argv := []string{"nft", "delete", "element", "ip", "tare", "cali-tw-dispatch", `{ "veth-c1" }`}
	if _, status, err := exec(t.Context(), l, "h2", argv...); err != nil || status != 0 {
		t.Fatalf("forget the endpoint: status %d, %v", status, err)
	}
	if printed, status, err := exec(t.Context(), l, "h1/c1", "ping", "-c", "1", "-W", "1", container2); err != nil || status == 0 {
		t.Errorf("an unknown endpoint is reached: status %d, %v: %s", status, err, printed)
	}
}

func TestRealBGPRefusesPoliciesThatAreNoNumber(t *testing.T) {
	for _, value := range []string{"many", "-1", "1001"} {
		l := tryBuild(t, with("bgp", "bgp", "policies", value))
		if got := built(t, l, "bgp").Error; !strings.Contains(got, "give a number up to 1000") {
			t.Errorf("policies %q: %q", value, got)
		}
	}
}

// More containers than one block holds get more blocks, each with its route.
func TestRealBGPAnnouncesEachBlock(t *testing.T) {
	spec := on("bgp")
	spec.Containers = 70
	l := build(t, spec)
	for _, block := range []string{"10.102.0.0/26", "10.102.0.64/26"} {
		if !slices.ContainsFunc(routes(t, l, "h1"), func(r string) bool { return strings.HasPrefix(r, block+" via 10.0.0.2 ") }) {
			t.Errorf("h1 has no route to %s: %q", block, routes(t, l, "h1"))
		}
	}
	if got := seenAs(t, l, "h1/c70", "10.102.0.71:99", "h2/c70", "10.102.0.71:99"); got != "10.101.0.71" {
		t.Errorf("h2/c70 sees h1/c70 as %s", got)
	}
}

// On twenty hosts a mesh has 190 sessions, two reflectors have 37, and every
// host learns the same routes.
func TestRealBGPTwentyHosts(t *testing.T) {
	const hosts = 20
	for name, sessions := range map[string]int{"bgp": hosts * (hosts - 1) / 2, "bgp-rr": 2*(hosts-2) + 1} {
		t.Run(name, func(t *testing.T) {
			spec := on(name)
			spec.Hosts, spec.Containers = hosts, 1
			began := time.Now()
			l := build(t, spec)
			t.Logf("%q, the whole lab is up after %v", built(t, l, name).Notes, time.Since(began))
			ends, learned := 0, 0
			for h := 1; h <= hosts; h++ {
				for _, route := range routes(t, l, fmt.Sprintf("h%d", h)) {
					if strings.Contains(route, " via 10.0.0.") && strings.Contains(route, " proto bird") {
						learned++
					}
				}
			}
			// Two clients of the reflectors reach each other without them.
			if got := seenAs(t, l, "h3/c1", "10.120.0.2:99", "h20/c1", "10.120.0.2:99"); got != "10.103.0.2" {
				t.Errorf("h20/c1 sees h3/c1 as %s", got)
			}
			if !slices.Contains(routes(t, l, "h3"), "10.120.0.0/26 via 10.0.0.20 dev eth0 proto bird congctl cubic") {
				t.Errorf("h3 reaches h20 by another: %q", routes(t, l, "h3"))
			}
			// A second reflector's sessions may come after all routes.
			for deadline := time.Now().Add(20 * time.Second); ends != 2*sessions && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
				ends = established(t, l, hosts)
			}
			if ends != 2*sessions || learned != hosts*(hosts-1) {
				t.Errorf("%d ends of sessions and %d routes, want %d and %d", ends, learned, 2*sessions, hosts*(hosts-1))
			}
		})
	}
}

// established counts the ends of sessions that are up.
func established(t *testing.T, l *site.Lab, hosts int) int {
	t.Helper()
	ends := 0
	for h := 1; h <= hosts; h++ {
		text, status, err := exec(t.Context(), l, fmt.Sprintf("h%d", h), "birdc", "-s", "/run/tare/bird.ctl", "show", "protocols")
		if err != nil || status != 0 {
			t.Fatalf("ask BIRD of h%d: status %d, %v", h, status, err)
		}
		ends += strings.Count(text, "Established")
	}
	return ends
}
