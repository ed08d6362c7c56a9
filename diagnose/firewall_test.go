package diagnose

import (
	"slices"
	"strings"
	"testing"

	"tare/result"
)

// wall adds a chain to a place: "inet fw f forward 0 drop", and its rules by their texts.
func wall(e *Evidence, at, chain string, texts ...string) {
	words := strings.Fields(chain)
	name := strings.Join(words[:3], " ")
	set(e, at, rules, name+".rules", float64(len(texts)))
	if len(words) > 4 {
		set(e, at, rules, name+".hook", words[3])
		set(e, at, rules, name+".policy", words[4])
	}
	var handles []string
	for n, text := range texts {
		handle := string(rune('1' + n))
		handles = append(handles, handle)
		set(e, at, rules, name+" "+handle, text)
	}
	set(e, at, rules, name+".handles", strings.Join(handles, " "))
}

// lostAt is the clean evidence of a network of which nothing passes: the request was last seen
// where it came into a place.
func lostAt(t *testing.T, name, at, device string) *Evidence {
	t.Helper()
	e := captured(t, name)
	var failed []result.Trial
	for _, trial := range e.Trials[:2] {
		end := slices.IndexFunc(trial.Seen, func(s result.Sighting) bool { return s.At == at && s.Device == device && !s.Reply })
		trial.Error, trial.Metrics, trial.Seen = "no answer in time", nil, trial.Seen[:end+1]
		failed = append(failed, trial)
	}
	e.Trials, e.Port = failed, 5210
	return e
}

// firewalls are what rules do to the packets of a path, and what must be named first of it.
func TestFirewallsAreJudgedByWhatTheyDo(t *testing.T) {
	for name, c := range map[string]struct {
		lab    string
		change func(e *Evidence)
		id     string // empty: nothing of a firewall
		cause  string
		fix    string
	}{
		"a second table drops what the first accepts (kube-router#1069)": {"clean-route", func(e *Evidence) {
			wall(e, "h2", "ip filter FORWARD forward accept", "-> counter; accept")
			wall(e, "h2", "inet fw f forward drop", "ct state = { established, related } -> accept")
		}, "forward-drop", "the policy of inet fw f in h2", "nft 'insert rule inet fw f ip daddr 10.102.0.0/16 accept; insert rule inet fw f ip saddr 10.102.0.0/16 accept'"},
		"other ports and devices": {"clean-route", func(e *Evidence) {
			wall(e, "h2", "inet fw f forward accept", "th dport = 23 -> drop", "iifname = wg0 -> drop", "ip daddr = 10.102.0.9 -> drop")
		}, "", "", ""},
		"a host's own firewall, which is not met by what it forwards": {"clean-route", func(e *Evidence) {
			wall(e, "h2", "inet fw in input drop", "ct state = { established, related } -> accept")
		}, "", "", ""},
		"a rule behind one that accepts": {"clean-route", func(e *Evidence) {
			wall(e, "h2", "inet fw f forward accept", "ip saddr = 10.101.0.0/16 -> accept", "-> drop")
		}, "", "", ""},
		"a rule that counted nothing": {"clean-route", func(e *Evidence) {
			wall(e, "h2", "inet fw f forward accept", "meta mark = 7 -> counter; drop")
		}, "", "", ""},
		"a rule that counted a few packets of others (cilium#28260)": {"clean-route", func(e *Evidence) {
			e.Trials = e.Trials[1:]
			wall(e, "h2", "inet fw f forward accept", "meta mark = 7 -> counter; drop")
			count(e, "h2", rules, "inet fw f 1 drop", 8)
			count(e, "h1/c1", snmp, "Udp.OutDatagrams", 115)
		}, "", "", ""},
		"a rule before routing (uncloud#293)": {"clean-route", func(e *Evidence) {
			wall(e, "h2", "ip raw PREROUTING prerouting accept", "ip daddr = 10.102.0.2; iifname != br0 -> counter; drop")
			set(e, "h2", rules, "ip raw PREROUTING.priority", -300.0)
			count(e, "h2", rules, "ip raw PREROUTING 1 drop", 87)
		}, "docker-raw-drop", "a rule of ip raw PREROUTING in h2 drops what comes for the container's own address", "nft delete rule ip raw PREROUTING handle 1  # Docker adds it again: "},
		"a rule before routing, once connections are tracked": {"clean-route", func(e *Evidence) {
			wall(e, "h2", "ip mangle PREROUTING prerouting accept", "ip daddr = 10.102.0.2; iifname != br0 -> counter; drop")
			set(e, "h2", rules, "ip mangle PREROUTING.priority", -150.0)
			count(e, "h2", rules, "ip mangle PREROUTING 1 drop", 87)
		}, "forward-drop", "a rule of ip mangle PREROUTING in h2", "nft delete rule ip mangle PREROUTING handle 1"},
		"one source before routing": {"clean-route", func(e *Evidence) {
			wall(e, "h2", "ip raw PREROUTING prerouting accept", "ip daddr = 10.102.0.2; ip saddr != 10.9.9.9 -> counter; drop")
			set(e, "h2", rules, "ip raw PREROUTING.priority", -300.0)
			count(e, "h2", rules, "ip raw PREROUTING 1 drop", 87)
		}, "forward-drop", "a rule of ip raw PREROUTING in h2", "nft delete rule ip raw PREROUTING handle 1"},
		"a test of the way back (calico#4630)": {"clean-route", func(e *Evidence) {
			wall(e, "h2", "ip raw PREROUTING prerouting accept", "rpfilter = ? -> counter; drop")
			count(e, "h2", rules, "ip raw PREROUTING 1 drop", 87)
		}, "forward-drop", "it tests whether replies would leave by the device", "nft delete rule ip raw PREROUTING handle 1"},
		"a queue that nobody reads": {"clean-route", func(e *Evidence) {
			wall(e, "h2", "ip filter FORWARD forward accept", "ip daddr = 10.102.0.2 -> queue 7")
		}, "forward-drop", "hands packets to queue 7, which no process reads", "nft delete rule ip filter FORWARD handle 1"},
		"a queue that a process reads": {"clean-route", func(e *Evidence) {
			wall(e, "h2", "ip filter FORWARD forward accept", "ip daddr = 10.102.0.2 -> queue 7")
			set(e, "h2", queues, "7", "12345")
		}, "", "", ""},
		"an element of a map (kubernetes#131765)": {"clean-route", func(e *Evidence) {
			wall(e, "h2", "ip kube-proxy filter-prerouting prerouting accept", "ip daddr . meta l4proto . th dport vmap { 10.102.0.2 . tcp . 5210 : drop } -> map none")
		}, "forward-drop", "an element of a map of ip kube-proxy filter-prerouting in h2", "nft delete element ip kube-proxy none '{ 10.102.0.2 . tcp . 5210 }'"},
		"a policy of iptables-legacy (kube-router#1069)": {"clean-route", func(e *Evidence) {
			wall(e, "h2", "iptables-legacy filter FORWARD forward drop")
			set(e, "h2", rules, "iptables-legacy filter FORWARD.counts", true)
			count(e, "h2", rules, "iptables-legacy filter FORWARD policy drop", 104)
		}, "forward-drop", "the policy of iptables-legacy filter FORWARD in h2", "sh -c 'iptables-legacy -t filter -I FORWARD -d 10.102.0.0/16 -j ACCEPT && "},
		"the port of a tunnel (flannel#1039)": {"clean-vxlan", func(e *Evidence) {
			wall(e, "h2", "ip filter INPUT input accept", "meta l4proto = udp; th dport = 4789 -> counter; drop")
			count(e, "h2", rules, "ip filter INPUT 1 drop", 106)
		}, "port-closed", "UDP port 4789 of the tunnel vxlan0", "nft delete rule ip filter INPUT handle 1"},
		"a TTL of one": {"clean-route", func(e *Evidence) {
			wall(e, "h2", "ip mangle PREROUTING prerouting accept", "iifname = eth0 -> ip ttl set 1")
			count(e, "h2", snmp, "Icmp.OutTimeExcds", 74)
		}, "ttl-expired", "sets the TTL to 1", "nft delete rule ip mangle PREROUTING handle 1"},
		"a redirect to a port that nothing serves": {"clean-route", func(e *Evidence) {
			wall(e, "h2", "ip nat PREROUTING prerouting accept", "iifname = eth0; meta l4proto = tcp -> redirect to :15001")
		}, "wrong-translation", "redirects connections to port 15001 of h2, where nothing listens", "nft delete rule ip nat PREROUTING handle 1"},
		"a source address of nobody": {"clean-route", func(e *Evidence) {
			wall(e, "h1", "ip nat POSTROUTING postrouting accept", "ip saddr = 10.101.0.0/16; oifname = eth0 -> snat to 10.0.0.99")
		}, "wrong-translation", "gives packets the source 10.0.0.99", "nft delete rule ip nat POSTROUTING handle 1"},
		"one of two endpoints is gone (kubernetes#129617)": {"clean-route", func(e *Evidence) {
			wall(e, "h2", "ip nat PREROUTING prerouting accept", "th dport = 5210; numgen = 0 -> dnat to 10.102.0.99:5210")
			set(e, "h2", neighbours, "10.102.0.99 dev br0", "failed")
		}, "wrong-translation", "sends packets on to 10.102.0.99, which does not answer ARP", "nft delete rule ip nat PREROUTING handle 1"},
	} {
		e := lostAt(t, c.lab, "h2", "eth0")
		c.change(e)
		found := Find(e)
		if c.id == "" {
			if len(found) != 1 || found[0].ID != "lost-unexplained" {
				t.Errorf("%s: found %+v, want nothing of a firewall", name, found)
			}
			continue
		}
		if len(found) == 0 || found[0].ID != c.id || !strings.Contains(found[0].Cause, c.cause) || !strings.Contains(found[0].Fix, c.fix) {
			t.Errorf("%s: found %+v, want %s, %q, %q", name, found, c.id, c.cause, c.fix)
		}
	}
}

// What would have dropped the datagrams that passed did not drop the segments.
func TestRulesThatPassedPacketsMeetAreInnocent(t *testing.T) {
	e := lostAt(t, "clean-route", "h2", "eth0")
	passed := captured(t, "clean-route").Trials[1]
	e.Trials[1] = passed
	wall(e, "h2", "inet fw f forward accept", "ip daddr = 10.102.0.0/16 -> drop")
	if found := Find(e); len(found) != 1 || found[0].ID != "lost-unexplained" {
		t.Errorf("found %+v, want no firewall", found)
	}
}

func TestARuleThatLimitsARateIsNamed(t *testing.T) {
	e := captured(t, "clean-route")
	for range leastTrains {
		e.Trials = append(e.Trials, result.Trial{Workload: trainName, Size: 64, Metrics: map[string]float64{"loss": 0.8}})
	}
	e.Trials = slices.DeleteFunc(e.Trials, func(t result.Trial) bool { return t.Workload == trainName && t.Metrics["loss"] == 0 })
	wall(e, "h2", "ip rl f forward accept", "ip daddr = 10.102.0.2; limit = over 200/second -> counter; drop")
	count(e, "h2", rules, "ip rl f 1 drop", 1111)
	found := Find(e)
	if len(found) != 1 || found[0].ID != "rate-limit" || !strings.HasSuffix(found[0].Fix, "nft delete rule ip rl f handle 1") {
		t.Errorf("found %+v, want the rule that limits the rate alone", found)
	}
}

// A published port whose rules are gone, and one before whose rules another takes the packets
// (netavark#723).
func TestPublishedPortsWithoutTheirRules(t *testing.T) {
	for name, c := range map[string]struct {
		rules      []string
		cause, fix string
	}{
		"gone":      {nil, "no rule forwards it", "add table ip tare; add chain ip tare prerouting"},
		"overtaken": {[]string{"ip saddr = 10.0.0.1 -> accept", "th dport = 5210 -> dnat to 10.102.0.2:5210"}, "takes its packets before the rule that translates them", "nft delete rule ip tare prerouting handle 1"},
	} {
		e := captured(t, "clean-nat")
		e.Port = 5210
		e.Trials = e.Trials[:1]
		e.Trials[0].Error = "connection refused"
		wall(e, "h2", "ip tare prerouting prerouting accept", c.rules...)
		found := Find(e)
		if len(found) == 0 || found[0].ID != "port-closed" || !strings.Contains(found[0].Cause, c.cause) || !strings.Contains(found[0].Fix, c.fix) {
			t.Errorf("%s: found %+v, want %q, %q", name, found, c.cause, c.fix)
		}
	}
}

// Docker 29 has one table of nftables where it is asked to, and nothing of iptables.
func TestDockersChainsOfEachBackEnd(t *testing.T) {
	for name, c := range map[string]struct {
		chains map[string]float64
		misses string
	}{
		"neither":                   {nil, "all of them"},
		"nftables":                  {map[string]float64{"filter-FORWARD": 2, "nat-PREROUTING": 1, "nat-POSTROUTING": 2, "nat-prerouting-and-output": 0}, ""},
		"nftables without its DNAT": {map[string]float64{"filter-FORWARD": 2, "nat-PREROUTING": 0, "nat-POSTROUTING": 2, "nat-prerouting-and-output": 0}, "ip docker-bridges nat-PREROUTING"},
	} {
		e := captured(t, "docker-chain-missing")
		e.Places = []string{"h2"}
		for _, s := range e.States {
			if s.Source == rules {
				clear(s.Values)
			}
		}
		for chain, n := range c.chains {
			set(e, "h2", rules, "ip docker-bridges "+chain+".rules", n)
		}
		if got := strings.Join(e.missingChains("h2"), ", "); got != c.misses {
			t.Errorf("%s: %q is missing, want %q", name, got, c.misses)
		}
	}
}
