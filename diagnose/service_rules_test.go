package diagnose

import (
	"net/netip"
	"strings"
	"testing"

	"tare/result"
)

// A Service of the client's own node fails where no rule sees the replies (kubernetes#24019,
// kube-router#151); what publishes a port to others, or gives its packets another source, is innocent.
func TestRepliesWithinTheBridge(t *testing.T) {
	const service = "ip daddr = 10.96.0.10; meta l4proto = tcp; th dport = 80 -> dnat to 10.101.0.2:8080"
	for name, c := range map[string]struct {
		rule string
		more func(e *Evidence)
		is   bool
	}{
		"a Service":             {service, nil, true},
		"of which rules see it": {service, func(e *Evidence) { set(e, "h1", sysctls, "bridge/bridge-nf-call-iptables", 1.0) }, false},
		"that is masqueraded": {service, func(e *Evidence) {
			wall(e, "h1", "ip nat POSTROUTING postrouting accept", "meta mark = 0x4000 -> masquerade")
		}, false},
		"on another bridge":       {strings.ReplaceAll(service, "10.101.0.2", "10.102.0.2"), nil, false},
		"for others":              {"iifname != br0; " + service, nil, false},
		"a port, on any address":  {"meta l4proto = tcp; th dport = 80 -> dnat to 10.101.0.2:8080", nil, false},
		"a bridge of one port":    {service, func(e *Evidence) { set(e, "h1", links, "veth-c2.master", "") }, false},
		"a port of the host's":    {strings.ReplaceAll(service, "10.96.0.10", "10.0.0.1"), nil, false},
		"a Service on the host":   {strings.ReplaceAll(service, "10.101.0.2", "10.101.0.1"), nil, false},
		"without br_netfilter":    {service, func(e *Evidence) { delete(e.state("h1", sysctls), "bridge/bridge-nf-call-iptables") }, true},
		"by rules not understood": {service, func(e *Evidence) { e.Unread = []result.Unread{{Source: rules}} }, false},
	} {
		e := captured(t, "clean-nat")
		e.Lab = "demo"
		for _, port := range []string{"veth-c1", "veth-c2"} {
			set(e, "h1", links, port+".master", "br0")
		}
		set(e, "h1", sysctls, "bridge/bridge-nf-call-iptables", 0.0)
		wall(e, "h1", "ip tare prerouting prerouting accept", c.rule)
		if c.more != nil {
			c.more(e)
		}
		found := Find(e)
		is := len(found) > 0 && found[0].ID == "reply-bridged" && strings.Contains(found[0].Fix, "sysctl -w net/bridge/bridge-nf-call-iptables=1")
		if is != c.is || !c.is && len(found) > 0 {
			t.Errorf("%s: found %+v", name, found)
		}
		if name == "without br_netfilter" && !strings.Contains(found[0].Fix, "modprobe br_netfilter") {
			t.Errorf("%s: %s", name, found[0].Fix)
		}
	}
}

// Flows are old only by the rules: of what no rule translates, or by which they go where they go, nothing
// is wrong (kubernetes#125467).
func TestFlowsAreHeldAgainstTheRules(t *testing.T) {
	const published = "meta l4proto = udp; th dport = 5210 -> dnat to 10.102.0.2:5210"
	for name, c := range map[string]struct{ rule, flows, cause string }{
		"from before":    {published, "10.0.0.2:5210", "they go on untranslated"},
		"to a container": {published, "10.0.0.2:5210 led to 10.102.0.9:5210", "they go on to 10.102.0.9:5210"},
		"as now":         {published, "10.0.0.2:5210 led to 10.102.0.2:5210", ""},
		"of no rule":     {"meta l4proto = tcp; th dport = 5210 -> dnat to 10.102.0.2:5210", "10.0.0.2:5210", ""},
	} {
		e := captured(t, "clean-nat")
		e.Lab, e.Port = "demo", 5210
		for n := range e.Trials {
			if e.Trials[n].Workload == "udp_rr" {
				e.Trials[n].Error = "no answer in time"
			}
		}
		wall(e, "h2", "ip tare prerouting prerouting accept", c.rule)
		set(e, "h2", untranslated, c.flows, 20000.0)
		found := Find(e)
		is := len(found) > 0 && found[0].ID == "conntrack-stale"
		if is != (c.cause != "") || is && !strings.Contains(found[0].Cause, c.cause) {
			t.Errorf("%s: found %+v", name, found)
		}
	}
}

// Two rules that each drop one protocol are one fault, whose fix takes both away (firewalld's direct
// rules, written by protocol).
func TestRulesOfEachProtocolAreOneFault(t *testing.T) {
	e := refused(t, "clean-nat")
	e.Trials[1].Error = "no answer in time"
	e.Trials[0].Error = e.Trials[1].Error
	wall(e, "h2", "ip tare prerouting prerouting accept", "th dport = 5210 -> dnat to 10.102.0.2:5210")
	wall(e, "h2", "inet filter forward forward accept", "meta l4proto = tcp -> drop", "meta l4proto = udp -> drop")
	found := Find(e)
	if len(found) == 0 || found[0].ID != "forward-drop" || !strings.Contains(found[0].Cause, "(TCP); ") ||
		!strings.Contains(found[0].Fix, "inet filter forward handle 1 && ") || !strings.Contains(found[0].Fix, "inet filter forward handle 2") {
		t.Errorf("found %+v", found)
	}
	for _, f := range found[1:] {
		if f.ID == "forward-drop" {
			t.Errorf("%s again: %s", f.ID, f.Cause)
		}
	}
}

// A neighbour of a container reaches its published port only if its packets get another source, which
// portmap's and netavark's rules give them; one that accepts them before does not (podman 4.3.1, and CNI portmap).
func TestPublishedPortOfANeighbour(t *testing.T) {
	for name, c := range map[string]struct {
		after []string
		is    bool
	}{
		"masqueraded":        {[]string{"meta mark & 0x2000 = 0x2000 -> masquerade"}, false},
		"no rule":            {nil, true},
		"the rule is passed": {[]string{"ip saddr = 10.102.0.3; ip daddr = 10.102.0.0/16 -> accept", "ip daddr != 224.0.0.0/4 -> masquerade"}, true},
	} {
		e := captured(t, "clean-nat")
		e.Lab, e.Port = "demo", 5210
		e.Client, e.Places = "h2/c2", []string{"h2/c2", "h2", "h2/c1"}
		e.Addresses = append(e.Addresses, result.Address{At: "h2/c2", Device: "eth0", Prefix: netip.MustParsePrefix("10.102.0.3/16")})
		e.Trials = e.Trials[:1]
		e.Trials[0].Error = "no answer in time"
		for _, port := range []string{"veth-c1", "veth-c2"} {
			set(e, "h2", links, port+".master", "br0")
		}
		set(e, "h2", sysctls, "bridge/bridge-nf-call-iptables", 0.0)
		wall(e, "h2", "ip tare prerouting prerouting accept", "th dport = 5210 -> dnat to 10.102.0.2:5210")
		wall(e, "h2", "ip tare postrouting postrouting accept", c.after...)
		found := Find(e)
		if is := len(found) > 0 && found[0].ID == "reply-bridged"; is != c.is {
			t.Errorf("%s: found %+v", name, found)
		}
	}
}

// What Docker's and netavark's users write as "--ctstate DNAT" is the state of no packet that nothing
// translated, and may be that of any other (iptables 1.8.9).
func TestRuleForWhatIsTranslated(t *testing.T) {
	e := refused(t, "clean-nat")
	e.Trials[0].Error = "no answer in time"
	wall(e, "h2", "ip tare prerouting prerouting accept", "th dport = 5210 -> dnat to 10.102.0.2:5210")
	wall(e, "h2", "ip filter FORWARD forward accept", "meta l4proto = tcp; ct state = dnat -> counter; drop")
	count(e, "h2", rules, "ip filter FORWARD 1 drop", 4)
	found := Find(e)
	if len(found) == 0 || found[0].ID != "forward-drop" || !strings.Contains(found[0].Fix, "nft delete rule ip filter FORWARD handle 1") {
		t.Errorf("found %+v", found)
	}
}

// A server that listens with a small backlog gets no more by a larger somaxconn (socketserver of Python 3.11
// asks for 5).
func TestBacklogOfTheServerIsTheLimit(t *testing.T) {
	e := captured(t, "clean-nat")
	e.Lab = "demo"
	set(e, "h2/c1", sysctls, "core/somaxconn", 4096.0)
	set(e, "h2/c1", listening, "0.0.0.0:8080.queue", 6.0)
	set(e, "h2/c1", listening, "0.0.0.0:8080.backlog", 5.0)
	found := Find(e)
	if len(found) == 0 || found[0].ID != "listen-overflow" || strings.Contains(found[0].Fix, "sysctl") || !strings.Contains(found[0].Fix, "a backlog above 5") {
		t.Errorf("found %+v", found)
	}
}
