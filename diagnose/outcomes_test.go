package diagnose

import (
	"strings"
	"testing"

	"tare/result"
)

// tried is a path of the clean lab of route, with other trials.
func tried(t *testing.T, trials ...result.Trial) *Evidence {
	t.Helper()
	e := captured(t, "clean-route")
	seen := e.Trials[0].Seen
	e.Trials = trials
	for n := range e.Trials {
		if e.Trials[n].Error != "" && e.Trials[n].Seen == nil {
			e.Trials[n].Seen = seen[:1]
		}
	}
	return e
}

func small(workload, failed string) result.Trial {
	return result.Trial{Workload: workload, Size: 1, Error: failed}
}

// TestWhatPassesIsSaid: "no packet passes" is said only where none does.
func TestWhatPassesIsSaid(t *testing.T) {
	overIPv4 := small("tcp_rr", "")
	overIPv4.IP = 4
	const silent, refused = "at h1/c1: no answer in time", "connect to 10.102.0.2:5210: connection refused"
	for name, c := range map[string]struct {
		trials []result.Trial
		want   string
	}{
		"nothing":            {[]result.Trial{small("tcp_rr", silent), small("udp_rr", silent)}, "no packet passes"},
		"TCP alone":          {[]result.Trial{small("tcp_rr", ""), small("udp_rr", refused)}, "TCP passes from h1/c1 to h2/c1 and UDP does not"},
		"UDP alone":          {[]result.Trial{small("tcp_rr", refused), small("udp_rr", "")}, "UDP passes from h1/c1 to h2/c1 and TCP does not"},
		"IPv4 alone":         {[]result.Trial{small("tcp_rr", silent), small("udp_rr", silent), overIPv4}, "IPv4 passes from h1/c1 to h2/c1 and IPv6 does not"},
		"closed when larger": {[]result.Trial{small("tcp_rr", ""), small("udp_rr", ""), {Workload: "tcp_rr", Size: 1448, Error: "connection reset by peer"}}, "small messages pass from h1/c1 to h2/c1 and larger ones do not"},
	} {
		found := Find(tried(t, c.trials...))
		if len(found) != 1 || found[0].ID != "lost-unexplained" || !strings.HasPrefix(found[0].Cause, c.want) {
			t.Errorf("%s: found %+v, want lost-unexplained: %s", name, found, c.want)
		}
	}
}

// TestIPv6IsLookedAt: the command that looks where IPv6 is lost asks for the route of its addresses.
func TestIPv6IsLookedAt(t *testing.T) {
	overIPv4 := small("tcp_rr", "")
	overIPv4.IP = 4
	e := tried(t, small("tcp_rr", "no answer in time"), small("udp_rr", "no answer in time"), overIPv4)
	e.Source, e.Dial = "fd74:6172:6500::a65:2", "fd74:6172:6500::a66:2"
	e.Trials[0].Seen = []result.Sighting{{At: "h1", Device: "br0"}}
	want := "ip route get fd74:6172:6500::a66:2 from fd74:6172:6500::a65:2 iif br0"
	if found := Find(e); len(found) != 1 || !strings.Contains(found[0].Fix, want) {
		t.Errorf("found %+v, want %q", found, want)
	}
}

// TestSomeConnectionsFail: what fails by halves is no black hole and no dead path.
func TestSomeConnectionsFail(t *testing.T) {
	pass, lost := small("tcp_rr", ""), small("tcp_rr", "connect to 10.102.0.2:5210: no route to host")
	for name, c := range map[string]struct {
		trials []result.Trial
		change func(e *Evidence)
		cause  []string
		fix    string
	}{
		"an endpoint that is gone (kubernetes#129617)": {
			[]result.Trial{pass, lost, pass, lost, lost, small("udp_rr", "")},
			func(e *Evidence) { set(e, "h2", neighbours, "10.102.0.99 dev br0", "failed") },
			[]string{"3 of 5 connections from h1/c1", "h2 leads them to 10.102.0.99"}, "grep -n 10.102.0.99",
		},
		"who knows where": {
			[]result.Trial{pass, small("tcp_rr", "no answer in time"), small("tcp_rr", "no answer in time"), pass, small("udp_rr", "")},
			func(e *Evidence) { e.Readings = nil }, []string{"2 of 4 connections"}, "",
		},
	} {
		e := tried(t, c.trials...)
		c.change(e)
		found := Find(e)
		if len(found) == 0 || found[0].ID != "some-connections-fail" || !strings.Contains(found[0].Fix, c.fix) {
			t.Errorf("%s: found %+v", name, found)
			continue
		}
		for _, want := range c.cause {
			if !strings.Contains(found[0].Cause, want) {
				t.Errorf("%s: %q does not hold %q", name, found[0].Cause, want)
			}
		}
	}
}

// TestABlackHoleIsAPattern: a large message is lost while small ones between pass.
func TestABlackHoleIsAPattern(t *testing.T) {
	pass, lost := small("tcp_rr", ""), result.Trial{Workload: "tcp_rr", Size: 1448, Error: "no answer in time"}
	closed := lost
	closed.Error = "receive response 1: connection reset by peer"
	spent := lost
	spent.Error = "connect to 10.102.0.2:5210: cannot assign requested address"
	between := small("tcp_rr", "no answer in time")
	for name, c := range map[string]struct {
		trials []result.Trial
		hole   bool
	}{
		"each large one is lost":    {[]result.Trial{pass, pass, lost, pass, lost, pass, lost}, true},
		"a small one is lost too":   {[]result.Trial{pass, pass, lost, between, lost, pass, lost}, false},
		"a large one is closed":     {[]result.Trial{pass, pass, closed, pass, closed, pass, closed}, false},
		"the client is out of port": {[]result.Trial{pass, pass, spent, pass, spent, pass, spent}, false},
	} {
		found := Find(tried(t, c.trials...))
		if named := len(found) > 0 && found[0].ID == "mtu-black-hole"; named != c.hole {
			t.Errorf("%s: found %+v", name, found)
		}
	}
}

// TestFragmentsAreDropped: full packets pass, and what must be cut does not (moby#22028).
func TestFragmentsAreDropped(t *testing.T) {
	pass, lost := small("udp_rr", ""), result.Trial{Workload: "udp_rr", Size: 2944, Cut: true, Error: "no answer in time"}
	trials := []result.Trial{small("tcp_rr", ""), pass, lost, pass, lost, pass, lost}
	for name, c := range map[string]struct {
		of     string
		change func(e *Evidence)
		cause  string
		fix    string
	}{
		"by who knows what": {"clean-route", func(*Evidence) {}, "datagrams of 2944 bytes, which travel in fragments", ""},
		"of a tunnel": {"clean-vxlan", func(e *Evidence) {
			set(e, "h1", links, "eth0.mtu", 1450.0)
			count(e, "h1", snmp, "Ip.FragCreates", 70)
		}, "eth0 in h1 has MTU 1450, the path allows 1500", "ip link set dev eth0 mtu 1500"},
	} {
		e := captured(t, c.of)
		seen := e.Trials[0].Seen
		e.Trials = append([]result.Trial{}, trials...)
		e.Trials[0].Seen = seen
		c.change(e)
		found := Find(e)
		if len(found) != 1 || found[0].ID != "fragments-dropped" || !strings.Contains(found[0].Cause, c.cause) || !strings.Contains(found[0].Fix, c.fix) {
			t.Errorf("%s: found %+v, want %q, %q", name, found, c.cause, c.fix)
		}
	}
}

// TestIdleConnectionsAreForgotten: only what had rested is lost.
func TestIdleConnectionsAreForgotten(t *testing.T) {
	rested := result.Trial{Workload: "tcp_rr", Size: 1, Idle: 5, Error: "no answer in time"}
	for name, c := range map[string]struct {
		timeout float64
		cause   string
		fix     string
	}{
		"by a table of connections": {2, "; h2 forgets it after 2 s", "sysctl -w net.netfilter.nf_conntrack_tcp_timeout_established=432000"},
		"by who knows what":         {432000, "rests for 5 s carries nothing more, and new ones pass", "tare lab exec"},
	} {
		e := tried(t, small("tcp_rr", ""), small("udp_rr", ""), rested)
		set(e, "h2", conntrack, "nf_conntrack_tcp_timeout_established", c.timeout)
		found := Find(e)
		if len(found) != 1 || found[0].ID != "idle-lost" || !strings.HasSuffix(found[0].Cause, c.cause) || !strings.Contains(found[0].Fix, c.fix) {
			t.Errorf("%s: found %+v, want %q, %q", name, found, c.cause, c.fix)
		}
	}
}

// TestTimeOutsOfAStarvedMachine: where an end waits for a CPU, slow answers between others are no
// evidence: of no dead endpoint and no Service without one. Those that are refused are, and those that
// a rested end does not get.
func TestTimeOutsOfAStarvedMachine(t *testing.T) {
	const silent, refused = "at h1/c1: no answer in time", "connect to 172.30.0.1:5210: connection refused"
	mixed := func(failed string) []result.Trial {
		return []result.Trial{small("tcp_rr", failed), small("tcp_rr", ""), small("tcp_rr", failed), small("udp_rr", "")}
	}
	dead := []result.Trial{small("tcp_rr", silent), small("tcp_rr", silent), small("udp_rr", silent)}
	for name, c := range map[string]struct {
		trials []result.Trial
		waited float64
		want   string
	}{
		"slow":              {mixed(silent), 0.4, ""},
		"rested":            {mixed(silent), 0.01, "some-connections-fail"},
		"refused":           {mixed(refused), 0.4, "service-unserved"},
		"none passes":       {dead, 0.4, "service-unserved"},
		"one datagram lost": {[]result.Trial{small("tcp_rr", ""), small("udp_rr", silent)}, 0.01, "lost-unexplained"},
	} {
		e := tried(t, c.trials...)
		e.Path, e.Dial, e.Passing = "cluster-ip", "172.30.0.1", "cross-host"
		e.Readings = nil
		count(e, "h1/c1", scheduled, "run_delay", c.waited)
		found := Find(e)
		if c.want == "" && len(found) > 0 || c.want != "" && (len(found) == 0 || found[0].ID != c.want) {
			t.Errorf("%s: found %s, want %q", name, sentences(found), c.want)
		}
	}
}
