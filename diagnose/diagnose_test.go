package diagnose

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
)

// captured reads the examination of a real lab with an injected fault; testdata has
// one for each rule that a lab of namespaces can show, by its ID.
func captured(t *testing.T, name string) *Evidence {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	e := &Evidence{Lab: "demo"}
	if err := json.Unmarshal(text, &e.Examination); err != nil {
		t.Fatal(err)
	}
	return e
}

// TestFaultsAreNamed holds that the first finding of a faulty lab is its fault,
// with a fix that would remove it.
func TestFaultsAreNamed(t *testing.T) {
	fixes := map[string]string{
		"link-down":            "tare lab exec --name demo h2 -- sh -c 'ip link set dev eth0 up && ip route replace ",
		"rp-filter":            "tare lab exec --name demo h2 -- sysctl -w net/ipv4/conf/eth0/rp_filter=2",
		"forwarding-off":       "tare lab exec --name demo h1 -- sysctl -w net/ipv4/ip_forward=1",
		"docker-chain-missing": "tare lab exec --name demo h2 -- sh -c 'kill $(cat /run/tare/docker/dockerd.pid) && ",
		"overlay-stale-vxlan":  "tare lab exec --name demo h2 -- ",
		"bgp-wrong-interface":  "tare lab exec --name demo h1 -- ip route replace 10.102.0.2 via 10.0.0.2",
		"wrong-mac":            "tare lab exec --name demo h1/c1 -- ip neighbour del 10.101.0.3 dev eth0",
		"neighbour-failed":     "tare lab exec --name demo h1/c2 -- sysctl -w net/ipv4/conf/all/arp_ignore=0",
		"route-missing":        "tare lab exec --name demo h2 -- ip route add 10.101.0.0/16 via 10.0.0.1 congctl cubic",
		"forward-reject":       "tare lab exec --name demo h1 -- nft delete rule ip filter FORWARD handle ",
		"port-closed":          "tare lab exec --name demo h2/c1 -- nft delete rule ip filter INPUT handle ",
		"forward-drop":         "tare lab exec --name demo h2 -- nft 'insert rule inet g f ip daddr 10.102.0.0/16 accept; insert rule inet g f ip saddr 10.102.0.0/16 accept'",
		"listen-overflow":      "let the server accept faster, or listen with a backlog above 1: it may have up to 4096",
		"mtu-black-hole":       "tare lab exec --name demo h2 -- ip link set dev eth0 mtu 1500",
		"mtu-mismatch":         "tare lab exec --name demo h1/c1 -- ip link set dev eth0 mtu 1450",
		"shaper-drop":          "tare lab exec --name demo h1 -- tc qdisc del dev eth0 root",
		"random-loss":          "tare lab exec --name demo h2 -- nft delete rule ip z f handle ",
		"offload-off":          "tare lab exec --name demo h1/c1 -- ethtool -K eth0 tx-tcp-segmentation on tx-generic-segmentation on",
		"many-rules":           "tare lab exec --name demo h1 -- nft list chain ip z f",
		"lost-unexplained":     "tare lab exec --name demo h2 -- ",
	}
	for id, fix := range fixes {
		t.Run(id, func(t *testing.T) {
			found := Find(captured(t, id))
			if len(found) == 0 || found[0].ID != id {
				t.Fatalf("found %+v, want %s first", found, id)
			}
			if !strings.HasPrefix(found[0].Fix, fix) {
				t.Errorf("fix %q, want %q", found[0].Fix, fix)
			}
			for _, e := range found[0].Evidence {
				if e.Name == "" || e.Source == "" || e.Value == nil {
					t.Errorf("evidence %+v: a name, a value and a source are needed", e)
				}
			}
		})
	}
}

func TestCleanPathsYieldNothing(t *testing.T) {
	for _, name := range []string{"clean-route", "clean-vxlan", "clean-nat"} {
		if found := Find(captured(t, name)); len(found) != 0 || found == nil {
			t.Errorf("%s: found %+v, want an empty list", name, found)
		}
	}
}

// TestCountersOfABusyPath are faults that a lab can't show by a command: the
// same clean evidence, with what the kernel counts where they occur.
func TestCountersOfABusyPath(t *testing.T) {
	lost := result.Trial{Workload: trainName, Size: 64, Metrics: map[string]float64{"loss": 0.05}}
	for id, change := range map[string]func(e *Evidence){
		"conntrack-full": func(e *Evidence) {
			e.States = append([]result.State{{At: "h1", Source: conntrack, Values: map[string]any{"nf_conntrack_count": 1000.0, "nf_conntrack_max": 1000.0}}}, e.States...)
		},
		"cfs-throttled": func(e *Evidence) {
			e.Readings = append(e.Readings, result.Reading{At: "h2/c1", Source: cpuStat, Counts: map[string]float64{"periods": 20, "throttled": 20}})
		},
		"udp-receive-buffer": func(e *Evidence) {
			e.Trials = append(e.Trials, lost, lost, lost)
			e.Trials = slices.DeleteFunc(e.Trials, func(t result.Trial) bool { return t.Workload == trainName && t.Metrics["loss"] == 0 })
			e.Readings = append(e.Readings, result.Reading{At: "h2/c1", Source: snmp, Counts: map[string]float64{"Udp.RcvbufErrors": 37}})
		},
	} {
		e := captured(t, "clean-route")
		change(e)
		if found := Find(e); len(found) != 1 || found[0].ID != id {
			t.Errorf("found %+v, want %s alone", found, id)
		}
	}
}

// TestServicesThatLeadNowhere are faults of a cluster: what is missing is seen by the path that
// passes without it.
func TestServicesThatLeadNowhere(t *testing.T) {
	for _, of := range []struct{ path, passing, failed, id, at string }{
		{catalog.ClusterIP, catalog.CrossHost, "connection refused", "service-unserved", "behind the cluster's changes"},
		{catalog.HostToClusterIP, catalog.HostToContainer, "no answer", "service-unserved", "from h1"},
		{catalog.NodePort, catalog.HostToContainer, "no answer", "service-unserved", "from h2"},
		{catalog.Hairpin, catalog.ClusterIP, "no answer", "hairpin-off", "does not reach itself"},
		{catalog.ClusterIP, "", "no answer", "", ""},
		{catalog.CrossHost, "", "no answer", "", ""},
	} {
		e := &Evidence{Passing: of.passing}
		e.Path, e.Client, e.Server, e.Dial = of.path, "h1/c1", "h2/c1", "10.96.0.7"
		e.Trials = []result.Trial{{Workload: "tcp_rr", Size: 1, Error: of.failed}, {Workload: "tcp_rr", Size: 1, Error: of.failed}}
		found := Find(e)
		named := slices.ContainsFunc(found, func(f result.Finding) bool { return f.ID == "service-unserved" || f.ID == "hairpin-off" })
		if named != (of.id != "") || named && (found[0].ID != of.id || !strings.Contains(found[0].Cause, of.at)) {
			t.Errorf("%s beside %q: found %+v, want %q, %q", of.path, of.passing, found, of.id, of.at)
		}
	}
}

// TestEveryCauseHasASection holds docs/causes.md to the list of rules.
func TestEveryCauseHasASection(t *testing.T) {
	page, err := os.ReadFile("../docs/causes.md")
	if err != nil {
		t.Fatal(err)
	}
	var sections, ids []string
	for line := range strings.Lines(string(page)) {
		if id, is := strings.CutPrefix(strings.TrimSpace(line), "## "); is {
			sections = append(sections, id)
		}
	}
	for _, rule := range slices.Concat(All(), Costs(), Making(), Traced(), Machine()) {
		if slices.Contains(ids, rule.ID) {
			continue // it is in the list for a path and in that for a cell
		}
		ids = append(ids, rule.ID)
	}
	if !slices.Equal(sections, ids) {
		t.Errorf("docs/causes.md has sections %v, the rules are %v", sections, ids)
	}
}

// The places that may have lost a packet: the last that saw it and, where it left that, the next on its way.
func TestSuspectsAreWhereThePacketWasLast(t *testing.T) {
	for _, c := range []struct {
		last  result.Sighting
		reply bool
		want  []string
	}{
		{result.Sighting{At: "h1"}, false, []string{"h1"}},
		{result.Sighting{At: "h1", Out: true}, false, []string{"h1", "h2"}},
		{result.Sighting{At: "h1", Out: true, Reply: true}, true, []string{"h1", "h1/c1"}},
		{result.Sighting{At: "h2", Out: true, Reply: true}, true, []string{"h2", "h1"}},
		{result.Sighting{At: "h1/c1", Out: true, Reply: true}, true, []string{"h1/c1"}},
	} {
		e := &Evidence{}
		e.Client, e.Server, e.Places = "h1/c1", "h2/c1", []string{"h1/c1", "h1", "h2", "h2/c1"}
		trial := result.Trial{Error: "no answer", Seen: []result.Sighting{c.last}}
		if c.reply {
			trial.Seen = []result.Sighting{{At: "h2/c1"}, c.last}
		}
		e.Trials = []result.Trial{trial}
		if got := e.suspectsOf(trial); !slices.Equal(got, c.want) {
			t.Errorf("last seen %+v: suspects %v, want %v", c.last, got, c.want)
		}
	}
}

func TestJoinNamesEachCauseOnce(t *testing.T) {
	one := result.Finding{ID: "mtu-mismatch", Cause: "eth0 in h1 has MTU 1400", Severity: result.SeverityWarning, Confidence: 0.9, Paths: []string{"a"}}
	again, worse := one, result.Finding{ID: "forward-drop", Severity: result.SeverityError, Confidence: 0.5, Paths: []string{"a"}}
	again.Paths = []string{"b"}
	joined := Join("", []result.Finding{one, again, worse})
	if len(joined) != 2 || joined[0].ID != worse.ID || !slices.Equal(joined[1].Paths, []string{"a", "b"}) {
		t.Errorf("joined %+v, want the error first and one finding on both paths", joined)
	}
}

// ethtool 6.1 with tx off, iproute2 6.1 with what is remembered of a path: what each path of a lab
// counts and remembers differs, the fault is one.
func TestJoinMendsAtOnceWhatPathsNeedTogether(t *testing.T) {
	with := func(path, cause, comment string, r *result.Remedy) result.Finding {
		return result.Finding{
			ID: "checksum-wrong", Cause: cause, Paths: []string{path}, Remedy: r,
			Fix: (&Evidence{Lab: "demo"}).typed(r) + comment,
		}
	}
	first := remedy("h1", "ethtool -K eth0 tx on")
	more := remedy("h1", "ethtool -K eth0 tx on")
	more.Then = []result.Step{{At: "h2", Command: "ip route flush cache"}}
	other := remedy("h2", "ethtool -K eth0 tx on")
	joined := Join("demo", []result.Finding{
		with("a", "114 packets", "  # and look", first), with("b", "107 packets", "", more), with("c", "3 packets", "", other),
	})
	if len(joined) != 2 || !slices.Equal(joined[0].Paths, []string{"a", "b"}) {
		t.Fatalf("joined %+v, want those of h1 in one", joined)
	}
	const want = "tare lab exec --name demo h1 -- ethtool -K eth0 tx on && tare lab exec --name demo h2 -- ip route flush cache  # and look"
	if joined[0].Fix != want || len(joined[0].Remedy.Steps()) != 2 || joined[0].Cause != "107 packets" {
		t.Errorf("joined %+v, want the fix %q and the sentence of the path that needs more", joined[0], want)
	}
	if len(first.Then) != 0 {
		t.Error("the remedy of one path got the steps of another")
	}
}
