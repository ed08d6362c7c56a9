package experiment

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"tare/network"
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
		NIC: []string{"full"}, Blocks: 3, Warmup: 0.02, Duration: 0.1,
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

func TestLabHopsAddUpToTheRoundTrip(t *testing.T) {
	for _, c := range []struct {
		network, path string
		request       []string
	}{
		{"bridge", network.SameHost, []string{
			"application h1/c1", "send h1/c1 eth0", "queue h1/c1 eth0", "veth h1 veth-c1", "backlog h1 veth-c1", "bridge h1 br0",
			"queue h1 veth-c2", "veth h1/c2 eth0", "backlog h1/c2 eth0", "receive h1/c2 eth0", "wake-up h1/c2",
		}},
		{"vxlan", network.CrossHost, []string{
			"application h1/c1", "send h1/c1 eth0", "queue h1/c1 eth0", "veth h1 veth-c1", "backlog h1 veth-c1", "bridge h1 br0",
			"queue h1 vxlan0", "encapsulation h1 vxlan0", "queue h1 eth0", "underlay h2 eth0", "backlog h2 eth0",
			"decapsulation h2 vxlan0", "backlog h2 vxlan0", "bridge h2 br0",
			"queue h2 veth-c1", "veth h2/c1 eth0", "backlog h2/c1 eth0", "receive h2/c1 eth0", "wake-up h2/c1",
		}},
		{"macvlan", network.CrossHost, []string{ // the device above gets what the one below received
			"application h1/c1", "send h1/c1 eth0", "queue h1/c1 eth0", "macvlan h1/c1 eth0", "queue h1 eth0",
			"underlay h2 eth0", "backlog h2 eth0", "receive h2/c1 eth0", "wake-up h2/c1",
		}},
	} {
		t.Run(c.network, func(t *testing.T) {
			plan := tracePlan(c.network, c.path, "tcp_rr")
			l := setUp(t, plan)
			var off []string
			for range tries {
				res := traced(t, l, plan)
				tr := cellOf(t, res, c.network).Trace
				if got := hopsOf(tr, "request"); !slices.Equal(got, c.request) {
					t.Fatalf("hops\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.request, "\n"))
				}
				checkShares(t, tr, cellOf(t, res, network.Baseline).Trace)
				if math.Abs(tr.Sum/tr.Traced-1) <= 0.05 {
					return
				}
				off = append(off, fmt.Sprintf("%.1f us where the round trip has %.1f us", tr.Sum*1e6, tr.Traced*1e6))
			}
			t.Errorf("the hops add up to %s", strings.Join(off, "; "))
		})
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

// Rules cost time where packets pass them, and nowhere else.
func TestLabRulesShowInTheirHop(t *testing.T) {
	plan := tracePlan("ptp", network.SameHost, "udp_rr")
	ruled := result.NetworkPlan{Name: "ptp", Params: result.MakeSettings(map[string]string{network.Rules: "5000"})}
	plan.Networks = append(plan.Networks, ruled)
	l := setUp(t, plan)
	var off []string
	for range tries {
		took := map[bool]map[string]float64{}
		for _, cell := range traced(t, l, plan).Cells {
			if cell.Network != "ptp" {
				continue
			}
			middle := map[string]float64{}
			for _, h := range cell.Trace.Hops {
				middle[strings.TrimSpace(h.Direction+" "+h.Name+" "+h.At+" "+h.Device)] = h.P50
			}
			took[cell.Params[network.Rules] != nil] = middle
		}
		if off = moved(t, took[false], took[true]); len(off) == 0 {
			return
		}
	}
	t.Errorf("with 5000 rules in the way of routed packets:\n%s", strings.Join(off, "\n"))
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

// The ledger has as many packets as the workload misses, with the place that
// drops them.
func TestLabLedgerBalancesForRandomDrops(t *testing.T) {
	for _, c := range []struct{ network, path, at, hook string }{
		{"bridge", network.SameHost, "h1/c2", "input"},
		{"route", network.CrossHost, "h2", "forward"},
	} {
		t.Run(c.network, func(t *testing.T) {
			plan := tracePlan(c.network, c.path, "udp_stream")
			plan.Blocks = 1
			l := setUp(t, plan)
			in(t, l, c.network+"."+c.at, "nft 'add table inet t; add chain inet t t { type filter hook "+c.hook+" priority 0; };"+
				"add rule inet t t udp dport 5210 numgen random mod 100 < 10 drop'")
			drops := func() *result.Ledger { return cellOf(t, traced(t, l, plan), c.network).Trace.Ledger }
			ledger := drops()
			// Not every kernel runs BPF programs in an interrupt of every process: that of a
			// VM may spare its init. What is dropped meanwhile is missed, and seen by nobody.
			for n := 1; n < tries && ledger.Lost != nil && *ledger.Lost > ledger.Found; n++ {
				t.Logf("%d lost, of which the workload misses %d: once more", ledger.Found, *ledger.Lost)
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
				if loss.Reason != "NETFILTER_DROP" || loss.At != c.at || loss.Function != "nft_do_chain" {
					t.Errorf("lost %+v, want NETFILTER_DROP at %s by nft_do_chain", loss, c.at)
				}
			}
		})
	}
}
