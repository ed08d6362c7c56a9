package experiment

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/site"
	"tare/test/labtest"
)

// tries is how often a figure may be taken again: a machine that does other
// work can spoil the windows of one try.
const tries = 4

// setUp builds a lab for a plan of two hosts.
func setUp(t testing.TB, plan result.Plan) *site.Lab {
	t.Helper()
	labtest.NoLeaks(t)
	l, err := site.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := l.Build(t.Context(), Spec(plan, 2, 2)); err != nil {
		t.Fatal(err)
	}
	return l
}

func traced(t testing.TB, l *site.Lab, plan result.Plan) *result.Result {
	t.Helper()
	res, err := Trace(t.Context(), plan, Options{
		Site: l, Topology: l.Topology,
		Save: func(*result.Result) error { return nil }, Progress: func(Progress) {},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range res.Cells {
		if cell.Status != result.StatusOK || cell.Trace == nil || cell.Trace.Tier != 2 {
			t.Fatalf("cell of %s on %s: %s, trace %+v", cell.Network, cell.Path, cell.Reason, cell.Trace)
		}
	}
	return res
}

func tracePlan(net, path, load string) result.Plan {
	return Complete(result.Plan{
		Networks: result.NetworksNamed(net), Paths: []string{path}, Workloads: []result.WorkloadPlan{{Name: load}},
		Axes: result.PlanAxes{"nic": {"full"}}, Blocks: 3, Warmup: 0.02, Duration: 0.1,
	})
}

// hopsOf are the hops' places in their order: "send h1/c1 eth0".
func hopsOf(tr *result.Trace, direction string) []string {
	var names []string
	for _, h := range tr.Hops {
		if h.Direction == direction && h.Name != "other" {
			names = append(names, strings.TrimSpace(h.Name+" "+h.At+" "+h.Device))
		}
	}
	return names
}

// hops are those of a request on a network's path.
type hops struct {
	network, path string
	request       []string
}

func knownHops() []hops {
	return []hops{
		{"bridge", catalog.SameHost, []string{
			"application h1/c1", "send h1/c1 eth0", "queue h1/c1 eth0", "veth h1 veth-c1", "backlog h1 veth-c1", "bridge h1 br0",
			"queue h1 veth-c2", "veth h1/c2 eth0", "backlog h1/c2 eth0", "receive h1/c2 eth0", "wake-up h1/c2",
		}},
		{"vxlan", catalog.CrossHost, []string{
			"application h1/c1", "send h1/c1 eth0", "queue h1/c1 eth0", "veth h1 veth-c1", "backlog h1 veth-c1", "bridge h1 br0",
			"queue h1 vxlan0", "encapsulation h1 vxlan0", "queue h1 eth0", "underlay h2 eth0", "backlog h2 eth0",
			"decapsulation h2 vxlan0", "backlog h2 vxlan0", "bridge h2 br0",
			"queue h2 veth-c1", "veth h2/c1 eth0", "backlog h2/c1 eth0", "receive h2/c1 eth0", "wake-up h2/c1",
		}},
		{"macvlan", catalog.CrossHost, []string{ // the device above gets what the one below received
			"application h1/c1", "send h1/c1 eth0", "queue h1/c1 eth0", "macvlan h1/c1 eth0", "queue h1 eth0",
			"underlay h2 eth0", "backlog h2 eth0", "receive h2/c1 eth0", "wake-up h2/c1",
		}},
	}
}

// hopsAreNamed follows packets on some networks, whose hops are known.
func hopsAreNamed(t *testing.T, l *site.Lab) {
	plan := tracePlan("bridge", catalog.SameHost, "tcp_rr")
	plan.Networks, plan.Paths, plan.Blocks = result.NetworksNamed("bridge", "vxlan", "macvlan"), []string{catalog.SameHost, catalog.CrossHost}, 1
	res := traced(t, l, plan)
	for n := 1; n < tries && !allTimed(res); n++ {
		labtest.TryAgain(t, "a window of the only block has no round trip")
		res = traced(t, l, plan)
	}
	for _, known := range knownHops() {
		tr := cellOn(t, res, known.network, known.path).Trace
		labtest.Equal(t, known.network+": hops", strings.Join(hopsOf(tr, "request"), "\n"), strings.Join(known.request, "\n"))
		checkShares(t, tr, cellOn(t, res, catalog.Baseline, known.path).Trace)
	}
}

// allTimed reports whether each trace has the workload's round trip beside it, by which its hops are scaled: one block has
// that of one window, and a busy machine may answer too little in it.
func allTimed(res *result.Result) bool {
	return !slices.ContainsFunc(res.Cells, func(c result.Cell) bool { return c.Trace != nil && c.Trace.Metric != roundTrip })
}

// cellOn gives a network's cell on a path.
func cellOn(t testing.TB, res *result.Result, net, path string) *result.Cell {
	t.Helper()
	for n := range res.Cells {
		if res.Cells[n].Network == net && res.Cells[n].Path == path {
			return &res.Cells[n]
		}
	}
	t.Fatalf("no cell of %s on %s", net, path)
	return nil
}

// TestDeepHopsTakeTheirTime compares times, which other work on the machine can spoil.
func TestDeepHopsTakeTheirTime(t *testing.T) {
	plan := tracePlan("ptp", catalog.SameHost, "udp_rr")
	ruled := result.NetworkPlan{Name: "ptp", Params: result.MakeSettings(map[string]string{catalog.Rules: "5000"})}
	plan.Networks = append(plan.Networks, ruled)
	all := plan
	all.Networks = append(all.Networks, result.NetworksNamed("bridge", "vxlan", "macvlan")...)
	all.Paths = append(all.Paths, catalog.CrossHost)
	l := setUp(t, all)
	for _, known := range knownHops() {
		t.Run(known.network, func(t *testing.T) { hopsAddUp(t, l, known) })
	}
	t.Run("rules", func(t *testing.T) { rulesShowInTheirHop(t, l, plan) })
}

// hopsAddUp follows packets whose hops together take what a round trip takes.
func hopsAddUp(t *testing.T, l *site.Lab, known hops) {
	for try := range tries {
		res := traced(t, l, tracePlan(known.network, known.path, "tcp_rr"))
		tr := cellOf(t, res, known.network).Trace
		if math.Abs(tr.Sum/tr.Traced-1) <= 0.05 {
			return
		}
		off := fmt.Sprintf("the hops add up to %.1f us where the round trip has %.1f us", tr.Sum*1e6, tr.Traced*1e6)
		if try == tries-1 {
			t.Error(off)
			return
		}
		labtest.TryAgain(t, "%s", off)
	}
}

// checkShares checks that the numbers of a trace are consistent.
func checkShares(t *testing.T, tr, baseline *result.Trace) {
	t.Helper()
	var share, clean, delta float64
	for _, h := range tr.Hops {
		share += h.Share
		clean += *h.Clean
	}
	for _, toll := range tr.Tolls {
		delta += toll.Delta
	}
	if math.Abs(share-1) > 1e-6 || math.Abs(clean/tr.Clean-1) > 1e-6 || tr.Ways == 0 {
		t.Errorf("of %d ways the shares add up to %v, the clean times to %v of %v", tr.Ways, share, clean, tr.Clean)
	}
	if toll := tr.Clean - baseline.Clean; len(tr.Tolls) > 0 && math.Abs(delta-toll) > 1e-9 {
		t.Errorf("a toll of %v s is shared out as %+v", toll, tr.Tolls)
	}
}

// in runs a shell line at a place of the lab.
func in(t testing.TB, l *site.Lab, at, line string) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	status, err := l.Exec(t.Context(), at, []string{"sh", "-c", line}, null, null, os.Stderr)
	if err != nil || status != 0 {
		t.Fatalf("%s at %s: status %d, %v", line, at, status, err)
	}
}

// rulesShowInTheirHop: rules cost time where packets pass them, and nowhere else.
func rulesShowInTheirHop(t *testing.T, l *site.Lab, plan result.Plan) {
	for try := range tries {
		took := map[bool]map[string]float64{}
		for _, cell := range traced(t, l, plan).Cells {
			if cell.Network != "ptp" {
				continue
			}
			middle := map[string]float64{}
			for _, h := range cell.Trace.Hops {
				middle[strings.TrimSpace(h.Direction+" "+h.Name+" "+h.At+" "+h.Device)] = h.P50
			}
			took[cell.Params[catalog.Rules] != nil] = middle
		}
		off := moved(t, took[false], took[true])
		if len(off) == 0 {
			return
		}
		if try == tries-1 {
			t.Errorf("with 5000 rules in the way of routed packets:\n%s", strings.Join(off, "\n"))
			return
		}
		labtest.TryAgain(t, "with 5000 rules in the way: %s", strings.Join(off, "; "))
	}
}

// moved lists the hops that did not change as expected when routing got slower: those that forward by some microseconds, all others by no more
// than a tenth of that.
func moved(t *testing.T, before, after map[string]float64) (off []string) {
	t.Helper()
	forward := []string{"request forward h1 veth-c2", "response forward h1 veth-c1"}
	for _, hop := range forward {
		if rise := after[hop] - before[hop]; rise < 3e-6 {
			off = append(off, fmt.Sprintf("%s took %.2f us and takes %.2f us", hop, before[hop]*1e6, after[hop]*1e6))
		}
	}
	allowed := 0.1 * (after[forward[0]] - before[forward[0]])
	for hop, was := range before {
		rise := after[hop] - was
		if !slices.Contains(forward, hop) && !strings.Contains(hop, "other") && rise > allowed {
			off = append(off, fmt.Sprintf("%s took %.2f us and takes %.2f us", hop, was*1e6, after[hop]*1e6))
		}
	}
	return off
}

// ledgerBalances: the ledger of a path that drops packets has as many as the workload misses, with
// the place that drops them.
func ledgerBalances(t *testing.T, l *site.Lab, net, path, at, hook string) {
	plan := tracePlan(net, path, "udp_stream")
	plan.Blocks = 1
	in(t, l, net+"."+at, "nft 'add table inet t; add chain inet t t { type filter hook "+hook+" priority 0; };"+
		"add rule inet t t udp dport 5210 numgen random mod 100 < 10 drop'")
	defer in(t, l, net+"."+at, "nft delete table inet t")
	drops := func() *result.Ledger { return cellOf(t, traced(t, l, plan), net).Trace.Ledger }
	ledger := drops()
	// Not every kernel runs BPF programs in an interrupt of every process: that of a
	// VM may spare its init. What is dropped meanwhile is missed, and seen by nobody.
	for n := 1; n < tries && ledger.Lost != nil && *ledger.Lost > ledger.Found; n++ {
		labtest.TryAgain(t, "%d lost, of which the workload misses %d", ledger.Found, *ledger.Lost)
		ledger = drops()
	}
	if ledger.Lost == nil || *ledger.Lost == 0 {
		t.Fatalf("nothing is lost: %+v", ledger)
	}
	// What the sender sends until it learns of the window's end is lost
	// too, and the workload does not miss it.
	if *ledger.Lost > ledger.Found {
		t.Errorf("%d lost, of which the workload misses %d; %+v; others %+v; counters %+v", ledger.Found, *ledger.Lost, ledger.Losses, ledger.Others, ledger.Counters)
	}
	for _, loss := range ledger.Losses {
		if loss.Reason != "NETFILTER_DROP" || loss.At != at || loss.Function != "nft_do_chain" {
			t.Errorf("lost %+v, want NETFILTER_DROP at %s by nft_do_chain", loss, at)
		}
	}
}
