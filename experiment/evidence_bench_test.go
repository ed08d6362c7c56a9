package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/site"
	"tare/stats"
)

// Benchmarks of the evidence: what it costs to take and how exact it is. One
// round is enough, and prints all:
//
//	go test -run NONE -bench 'Probes|HopsSum|Ledger' -benchtime 1x ./experiment

// unread is a site of which only what the agents report about themselves is read.
type unread struct{ Site }

// BenchmarkProbes measures the same windows with the counters of machine and
// places read around each, and without: the ratio of what is measured, with its
// 95 % interval over pairs in random order.
func BenchmarkProbes(b *testing.B) {
	for _, c := range []struct {
		load, metric string
		duration     result.Seconds
	}{{"tcp_rr", "rtt_p50", 0.3}, {"tcp_stream", "throughput", 0.3}, {"udp_pps", "rate", 0.3}} {
		b.Run(c.load, func(b *testing.B) {
			plan := Complete(result.Plan{
				Networks: result.NetworksNamed("bridge"), Paths: []string{catalog.SameHost}, Workloads: []result.WorkloadPlan{{Name: c.load}},
				Axes: result.PlanAxes{"nic": {"full"}}, Blocks: 3, Duration: c.duration,
			})
			l := setUp(b, plan)
			for b.Loop() {
				reportRatio(b, onAndOff(b, l, plan, c.metric))
			}
		})
	}
}

// probePairs is how many pairs of runs are compared.
const probePairs = 8

// onAndOff gives the logarithms of the ratios with probes to without.
func onAndOff(b *testing.B, l *site.Lab, plan result.Plan, metric string) []float64 {
	b.Helper()
	var ratios []float64
	for range probePairs {
		value := map[bool]float64{}
		for n, order := 0, rand.IntN(2); n < 2; n++ {
			on := (n+order)%2 == 0
			at := Site(unread{l})
			if on {
				at = l
			}
			res, err := Run(b.Context(), plan, Options{
				Site: at, Topology: l.Topology, Save: func(*result.Result) error { return nil }, Progress: func(Progress) {},
			})
			if err != nil {
				b.Fatal(err)
			}
			value[on] = valueOf(b, res, "bridge", metric, on)
		}
		ratios = append(ratios, math.Log(value[true]/value[false]))
	}
	return ratios
}

// valueOf is the median of a metric, of a cell whose windows were read or not.
func valueOf(b *testing.B, res *result.Result, net, metric string, read bool) float64 {
	b.Helper()
	cell := cellOf(b, res, net)
	var all []float64
	for _, s := range cell.Samples {
		places := slices.ContainsFunc(s.Readings, func(r result.Reading) bool { return r.Source == "/proc/net/snmp" })
		if places != read {
			b.Fatalf("the places were read: %v, want %v", places, read)
		}
		all = append(all, s.Metrics[metric])
	}
	return middle(all)
}

// middle is the median.
func middle(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func reportRatio(b *testing.B, ratios []float64) {
	b.Helper()
	ratio, _ := stats.HodgesLehmann(ratios)
	b.ReportMetric(math.Exp(ratio.Value), "on/off")
	b.ReportMetric(math.Exp(ratio.Low), "low")
	b.ReportMetric(math.Exp(ratio.High), "high")
	b.ReportMetric(0, "ns/op")
}

// evidenceTries is over how many traces the exactness is measured.
const evidenceTries = 10

// BenchmarkHopsSum traces round trips again and again: how much of the round trip
// the hops add up to, and in how many of the traces to within 5 %.
func BenchmarkHopsSum(b *testing.B) {
	for _, c := range [][2]string{{"bridge", catalog.SameHost}, {"vxlan", catalog.CrossHost}, {"ptp", catalog.CrossHost}} {
		b.Run(c[0], func(b *testing.B) {
			plan := tracePlan(c[0], c[1], "tcp_rr")
			l := setUp(b, plan)
			for b.Loop() {
				var sums []float64
				within := 0.0
				for range evidenceTries {
					tr := cellOf(b, traced(b, l, plan), c[0]).Trace
					sums = append(sums, tr.Sum/tr.Traced)
					if math.Abs(tr.Sum/tr.Traced-1) <= 0.05 {
						within++
					}
				}
				b.ReportMetric(middle(sums), "of-round-trip")
				b.ReportMetric(within/evidenceTries, "within-5%")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// BenchmarkLedger injects losses of several kinds: in how many traces the
// ledger has every datagram that the workload misses.
func BenchmarkLedger(b *testing.B) {
	drop := "nft 'add table inet t; add chain inet t t { type filter hook %s priority 0; }; add rule inet t t udp dport 5210 numgen random mod 100 < %d drop'"
	for _, c := range []struct{ name, network, path, at, line string }{
		{"input-10%", "bridge", catalog.SameHost, "h1/c2", fmt.Sprintf(drop, "input", 10)},
		{"forward-3%", "route", catalog.CrossHost, "h2", fmt.Sprintf(drop, "forward", 3)},
		{"prerouting-1%", "vxlan", catalog.CrossHost, "h2/c1", fmt.Sprintf(drop, "prerouting", 1)},
		{"shaper", "route", catalog.CrossHost, "h1", "tc qdisc add dev eth0 root tbf rate 50mbit burst 16k limit 20k"},
	} {
		b.Run(c.name, func(b *testing.B) {
			plan := tracePlan(c.network, c.path, "udp_stream")
			l := setUp(b, plan)
			in(b, l, c.network+"."+c.at, c.line)
			for b.Loop() {
				balanced, lost := 0.0, 0.0
				for range evidenceTries {
					ledger := cellOf(b, traced(b, l, plan), c.network).Trace.Ledger
					if ledger.Lost == nil || *ledger.Lost == 0 {
						b.Fatalf("nothing is lost: %+v", ledger)
					}
					lost += float64(*ledger.Lost)
					if *ledger.Lost <= ledger.Found { // what is lost after the window's end nobody misses
						balanced++
					}
				}
				b.ReportMetric(lost/evidenceTries, "lost/trace")
				b.ReportMetric(balanced/evidenceTries, "balanced")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}
