package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/network"
	"tare/result"
	"tare/site"
	"tare/test/labtest"
	"tare/test/simtest"
)

// floodPlan floods one path of a network with datagrams, block after block.
func floodPlan(name, path string, size int) result.Plan {
	plan := Quick()
	plan.Networks, plan.Paths, plan.Blocks = result.NetworksNamed(name), []string{path}, 4
	plan.Warmup, plan.Duration = 0.001, 0.05
	plan.Workloads, plan.Axes, plan.EncapNIC = []result.WorkloadPlan{{Name: "udp_pps", Size: size}}, plan.Axes.With("nic", "full"), nil
	return Complete(plan)
}

// counted gives one counter of a sample; what did not change is zero.
func counted(s result.Sample, at, source, name string) float64 {
	for _, r := range s.Readings {
		if r.At == at && r.End == "" && r.Source == source {
			return r.Counts[name]
		}
	}
	return 0
}

// state gives one value of the state of a place.
func state(res *result.Result, at, source, name string) any {
	for _, s := range res.States {
		if s.At == at && s.Source == source {
			return s.Values[name]
		}
	}
	return nil
}

// samplesCountWhatWasLost lets large datagrams overflow a receive buffer,
// whose end shares its CPU with the sender: what was sent and not received is in
// the sample's counters.
func samplesCountWhatWasLost(t *testing.T, l *site.Lab) {
	plan := floodPlan("host", catalog.SameHost, 60000)
	plan.Design = result.DesignWindows // in slots nothing of the machine's is one network's
	res := measuredIn(t, l, plan)
	const snmp = "/proc/net/snmp"
	lost := 0.0
	for _, s := range cellOf(t, res, "host").Samples {
		sent, received := counted(s, "h1", snmp, "Udp.OutDatagrams"), counted(s, "h1", snmp, "Udp.InDatagrams")
		full := counted(s, "h1", snmp, "Udp.RcvbufErrors")
		const farewell = 2 // messages to an end that has left
		if sent == 0 || math.Abs(sent-received-full) > farewell || full < s.Counters["lost"] {
			t.Errorf("block %d: %v sent, %v received, the buffer was full for %v; the run lost %v", s.Block, sent, received, full, s.Counters["lost"])
		}
		lost += s.Counters["lost"]
		if counted(s, "", "/proc/softirqs", "cpu0.NET_RX")+counted(s, "", "/proc/softirqs", "cpu1.NET_RX") == 0 {
			t.Errorf("block %d: the machine received nothing", s.Block)
		}
		for _, end := range []string{result.AtClient, result.AtServer} {
			if !ran(s, end) {
				t.Errorf("block %d: the %s was on no CPU", s.Block, end)
			}
		}
	}
	if lost == 0 {
		t.Error("nothing was lost: the flood is too small")
	}
}

// ran reports whether the threads of an end were on a CPU.
func ran(s result.Sample, end string) bool {
	for _, r := range s.Readings {
		if r.End == end && r.At == "h1" && r.Counts["run_time"] > 0 {
			return true
		}
	}
	return false
}

// measuredIn measures a plan in a lab.
func measuredIn(t *testing.T, l *site.Lab, plan result.Plan) *result.Result {
	t.Helper()
	res, err := Run(t.Context(), plan, Options{
		Site: l, Topology: l.Topology, Progress: func(Progress) {}, Save: func(*result.Result) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return readable(t, res)
}

// readingsShowWhatIsOnThePath narrows a host's link and adds rules to the
// host: the samples show what the link dropped, the states show both.
func readingsShowWhatIsOnThePath(t *testing.T, l *site.Lab) {
	in(t, l, "route.h1", `tc qdisc replace dev eth0 root tbf rate 20mbit burst 8k limit 20k
{ echo 'table ip t { chain c { type filter hook forward priority 0;'
for n in $(seq 1000); do echo "tcp dport $n counter drop;"; done
printf '}\n}\n'; } > /run/rules && nft -f /run/rules`)
	res := measuredIn(t, l, floodPlan("route", catalog.CrossHost, 1400))
	cell := cellOf(t, res, "route")
	if len(cell.Samples) == 0 || len(cell.Clusters) != 1 || cell.Clusters[0] != "route" {
		t.Fatalf("%s %s: %d samples on %v", cell.Status, cell.Reason, len(cell.Samples), cell.Clusters)
	}
	for _, s := range cell.Samples {
		dropped := counted(s, "h1", "tc -s qdisc", "eth0.tbf.dropped")
		sent := counted(s, "h1/c1", "/proc/net/snmp", "Udp.OutDatagrams")
		received := counted(s, "h2/c1", "/proc/net/snmp", "Udp.InDatagrams")
		const queued = 16 // datagrams that the link may still hold
		if dropped < s.Counters["lost"] || dropped == 0 || math.Abs(sent-received-dropped) > queued {
			t.Errorf("block %d: %v sent, %v received, the link dropped %v; the run lost %v", s.Block, sent, received, dropped, s.Counters["lost"])
		}
	}
	if !slices.ContainsFunc(res.Unread, func(u result.Unread) bool { return strings.Contains(u.Reason, "more than 200 rules") }) {
		t.Errorf("a thousand rules are not counted around each window, and res.Unread does not name them: %+v", res.Unread)
	}
	for _, want := range []struct {
		at, source, name string
		value            any
	}{
		{"route.h1", "nft list ruleset", "ip t c.rules", 1000.0},
		{"route.h1", "nft list ruleset", "ip t c.hook", "forward"},
		{"route.h2", "nft list ruleset", "ip t c.rules", nil},
		{"route.h1", "ip -d link", "eth0.qdisc", "tbf"},
		{"route.h2", "ip -d link", "eth0.mtu", 1500.0},
		{"route.h2/c1", "ip -d link", "eth0.kind", "veth"},
		{"route.h1", "/proc/sys/net", "ipv4/ip_forward", 1.0},
		{"route.h1", "ethtool -k", "eth0.tx-tcp-segmentation", true},
		{"host-b.h1", "ip -d link", "eth0.up", true},
	} {
		if got := state(res, want.at, want.source, want.name); got != want.value {
			t.Errorf("%s: %s has %s %v, want %v", want.at, want.source, want.name, got, want.value)
		}
	}
}

// muteSite is a site whose places report nothing.
type muteSite struct{ *simtest.Site }

func (muteSite) Count(context.Context, []string) (func() (site.Counted, error), error) {
	return nil, errors.New("unknown request: use the same version of tare")
}

func (muteSite) States(context.Context, []string) (site.Counted, error) {
	return site.Counted{}, errors.New("unknown request: use the same version of tare")
}

// What can't be read is named once: the run goes on, and what else there is to read is read.
func TestWhatCannotBeReadIsNamedOnce(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		plan.Blocks, plan.Design = 2, result.DesignWindows
		run := newSimRun(t, plan, even().Measure)
		run.Site = muteSite{run.site}
		res := run.mustRun(t, plan)
		named := 0
		for _, u := range res.Unread {
			if u.Source == "namespaces of the lab" && strings.Contains(u.Reason, "same version") {
				named++
			}
		}
		labtest.Equal(t, "how often it is named", named, 1)
		veth := cellOf(t, res, "veth")
		labtest.Equal(t, "status", veth.Status, result.StatusOK)
		labtest.Equal(t, "blocks", len(veth.Samples), 2)
		labtest.AtLeast(t, "states of the machine", len(res.States), 1)
	})
}

// farSite is on other machines.
type farSite struct{ Site }

func (farSite) Tracers(context.Context) ([]site.FarTracer, error) { return nil, nil }

// Arms that take turns at places that tare did not build are on the same hosts: what those
// count is nobody's evidence. In a lab each arm has its own.
func TestPlacesThatArmsShareAreNotCounted(t *testing.T) {
	arms := []*arm{
		{visit: visit{place: place{cluster: "host"}}, ends: network.Ends{Client: "h1", Server: "h2"}},
		{visit: visit{place: place{cluster: "docker:web"}}, ends: network.Ends{Client: "h1/c1", Server: "h2/c1"}},
	}
	for want, s := range map[string]Site{
		"[[] [docker:web.h1/c1 docker:web.h2/c1]]":                                            farSite{},
		"[[host.h1 host.h2] [docker:web.h1/c1 docker:web.h1 docker:web.h2 docker:web.h2/c1]]": nil,
	} {
		c := &conductor{site: s}
		labtest.Equal(t, "places", fmt.Sprint(c.ownPlaces(arms)), want)
	}
}
