package diagnose

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"tare/result"
)

// refused is the clean evidence of a network, of which small messages over TCP fail at h2 and those over
// UDP pass.
func refused(t *testing.T, name string) *Evidence {
	t.Helper()
	e := captured(t, name)
	e.Port, e.Lab, e.Trials = 5210, "demo", e.Trials[:1]
	e.Trials[0].Error = "connection refused"
	e.Trials[0].Seen = nil
	e.Trials = append(e.Trials, result.Trial{Workload: "udp_rr", Size: 32})
	return e
}

// What becomes of a published port when rules translate its packets in other ways, or not at all.
func TestTranslationsThatLeadNowhere(t *testing.T) {
	const published, datagrams = "meta l4proto = tcp; th dport = 5210 -> dnat to 10.102.0.2:5210", "meta l4proto = udp; th dport = 5210 -> dnat to 10.102.0.2:5210"
	for name, c := range map[string]struct {
		chain string
		rules []string
		more  func(e *Evidence)
		id    string
		cause string
		fix   string
	}{
		"to a port that nothing serves (docker compose, port of an older image)": {
			"ip tare prerouting prerouting accept", []string{"th dport = 5210; meta l4proto = tcp -> dnat to 10.102.0.2:5999", published, datagrams}, nil,
			"wrong-translation", "sends packets on to port 5999 of h2/c1, where nothing listens", "nft delete rule ip tare prerouting handle 1",
		},
		"to a container that is not the server (netavark, rules of a removed container)": {
			"ip tare prerouting prerouting accept", []string{"th dport = 5210; meta l4proto = tcp -> dnat to 10.102.0.3:5210", published, datagrams}, nil,
			"wrong-translation", "sends packets on to 10.102.0.3:5210, and not to h2/c1", "nft delete rule ip tare prerouting handle 1",
		},
		"to the loopback": {
			"ip tare prerouting prerouting accept", []string{"th dport = 5210; meta l4proto = tcp -> dnat to 127.0.0.1:5210", published, datagrams}, nil,
			"wrong-translation", "which h2 takes from itself only", "nft delete rule ip tare prerouting handle 1",
		},
		"to the only endpoint, which is gone (kubernetes, rules behind the cluster)": {
			"ip nat PREROUTING prerouting accept", []string{"th dport = 5210; meta l4proto = tcp -> dnat to 10.102.0.99:5210", datagrams},
			func(e *Evidence) { set(e, "h2", neighbours, "10.102.0.99 dev br0", "failed") },
			"wrong-translation", "which does not answer ARP",
			"nft delete rule ip nat PREROUTING handle 1 && iptables -t nat -I PREROUTING -d 10.0.0.2 -p tcp --dport 5210 -j DNAT --to-destination 10.102.0.2:5210",
		},
		"for datagrams only": {
			"ip tare prerouting prerouting accept", []string{datagrams}, nil,
			"port-closed", "no rule forwards it", "nft 'insert rule ip tare prerouting ip daddr 10.0.0.2 meta l4proto tcp th dport 5210 dnat ip to 10.102.0.2:5210'",
		},
		"of what is kept out of connection tracking (NodeLocal DNSCache's rules)": {
			"ip tare prerouting prerouting accept", []string{published, datagrams},
			func(e *Evidence) {
				wall(e, "h2", "ip raw PREROUTING prerouting accept", "meta l4proto = tcp; th dport = 5210 -> notrack")
				set(e, "h2", rules, "ip raw PREROUTING.priority", -300.0)
			},
			"wrong-translation", "keeps packets out of connection tracking", "nft delete rule ip raw PREROUTING handle 1",
		},
		"to a proxy that is gone, by TPROXY": {
			"ip tare prerouting prerouting accept", []string{"meta l4proto = tcp -> tproxy to :15001", published, datagrams}, nil,
			"wrong-translation", "redirects connections to port 15001 of h2, where nothing listens", "nft delete rule ip tare prerouting handle 1",
		},
	} {
		e := refused(t, "clean-nat")
		wall(e, "h2", c.chain, c.rules...)
		set(e, "h2", rules, strings.Join(strings.Fields(c.chain)[:3], " ")+".priority", -100.0)
		if c.more != nil {
			c.more(e)
		}
		found := Find(e)
		if len(found) == 0 || found[0].ID != c.id || !strings.Contains(found[0].Cause, c.cause) || !strings.Contains(found[0].Fix, c.fix) {
			t.Errorf("%s: found %+v, want %s, %q, %q", name, found, c.id, c.cause, c.fix)
		}
		for _, f := range found[min(1, len(found)):] {
			if strings.Contains(f.Cause, "no rule forwards it") {
				t.Errorf("%s: besides %s", name, f.Cause)
			}
		}
	}
}

// A node that lost its rule for one protocol of a Service rejects what comes to its address: the lack is
// named, and not the rule that rejects (kubernetes, kube-proxy's mode nftables).
func TestAServiceWithoutItsRule(t *testing.T) {
	e := refused(t, "clean-route")
	e.Network, e.Path, e.Dial = "service-nftables", "cluster-ip", "172.30.0.1"
	wall(e, "h1", "ip kube-proxy nat-prerouting prerouting accept", "ip daddr . meta l4proto . th dport vmap { 172.30.0.1 . udp . 5210 : goto service } -> map service-ips")
	set(e, "h1", rules, "ip kube-proxy nat-prerouting.priority", -100.0)
	wall(e, "h1", "ip kube-proxy service", "-> dnat to { 10.102.0.2:5210 }")
	wall(e, "h1", "ip kube-proxy filter-forward forward accept", "ip daddr = 172.30.0.1 -> reject")
	count(e, "h1", snmp, "Icmp.OutDestUnreachs", 4)
	found := Find(e)
	const fix = "insert rule ip kube-proxy nat-prerouting ip daddr 172.30.0.1 meta l4proto tcp th dport 5210 dnat ip to 10.102.0.2:5210"
	if len(found) == 0 || found[0].ID != "service-unserved" || !strings.Contains(found[0].Cause, "no rule of h1 leads packets for the Service at 172.30.0.1 port 5210 over TCP") || !strings.Contains(found[0].Fix, fix) {
		t.Errorf("found %+v, want that h1 has no rule for TCP, and its fix", found)
	}
}

// A host that does not translate what its containers send is named, not the other one, which has no
// route to them.
func TestAHostThatDoesNotMasquerade(t *testing.T) {
	e := refused(t, "clean-nat")
	e.Path, e.Client, e.Places = "container-to-published-port", "h1/c1", []string{"h1/c1", "h1", "h2", "h2/c1"}
	for _, s := range []struct{ at, address string }{{"h1/c1", "10.101.0.2/16"}, {"h1", "10.101.0.1/16"}} {
		e.Addresses = append(e.Addresses, result.Address{At: s.at, Device: "eth0", Prefix: netip.MustParsePrefix(s.address)})
	}
	e.Trials[1].Error = "no answer in time"
	wall(e, "h2", "ip tare postrouting postrouting accept", "ip saddr = 10.102.0.0/16; oifname != br0 -> masquerade")
	count(e, "h2", netstat, "IpExt.InNoRoutes", 9)
	if f, lacks := e.unmasked(e.Trials[0]); !lacks || !strings.Contains(f.Cause, "no rule of h1 gives them its own") || !strings.Contains(f.Remedy.Command, "ip saddr 10.101.0.0/16") {
		t.Errorf("found %v %+v, want that h1 does not masquerade", lacks, f)
	}
	wall(e, "h1", "ip tare postrouting postrouting accept", "ip saddr = 10.101.0.0/16; oifname != br0 -> masquerade")
	e.walls = nil
	if f, lacks := e.unmasked(e.Trials[0]); lacks {
		t.Errorf("found %+v, though h1 masquerades", f)
	}
}

// Rules that drop what asks for a neighbour are named as the reason of its silence.
func TestRulesThatDropTheAskingForNeighbours(t *testing.T) {
	for chain, rule := range map[string]string{
		"arp a i input accept":                       "arp operation = 1 -> drop",
		"bridge filter FORWARD forward accept":       "meta protocol = arp -> drop",
		"inet other f input accept":                  "",
		"bridge filter other forward accept":         "meta l4proto = tcp; th dport = 22 -> drop",
		"bridge filter addresses postrouting accept": "ip daddr = 10.102.0.0/16 -> drop",
	} {
		e := lostAt(t, "clean-route", "h2", "eth0")
		set(e, "h2", neighbours, "10.102.0.2 dev br0", "failed")
		at := "h2/c1"
		if strings.HasPrefix(chain, "bridge") {
			at = "h2"
		}
		if rule != "" {
			wall(e, at, chain, rule)
		}
		name := strings.Join(strings.Fields(chain)[:3], " ")
		named := slices.ContainsFunc(Find(e), func(f result.Finding) bool {
			return f.ID == "neighbour-failed" && strings.Contains(f.Cause, "a rule of "+name) && strings.Contains(f.Fix, "nft delete rule "+name)
		})
		if want := strings.Contains(rule, "arp"); named != want {
			t.Errorf("%s: named: %v, want %v", chain, named, want)
		}
	}
}
