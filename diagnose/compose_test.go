package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
)

// ofNote is how much two sums of shares may differ.
const ofNote = 1e-9

// anyFindings are those of a cell, with any shares.
func anyFindings(t *rapid.T) []result.Finding {
	var found []result.Finding
	for range rapid.IntRange(0, 6).Draw(t, "findings") {
		f := result.Finding{
			ID:         rapid.SampledFrom(Costs()).Draw(t, "rule").ID,
			Severity:   rapid.SampledFrom([]string{result.SeverityError, result.SeverityWarning}).Draw(t, "severity"),
			Confidence: rapid.Float64Range(0, 1).Draw(t, "confidence"),
		}
		if rapid.Bool().Draw(t, "known") {
			f.Share = rapid.Float64Range(0.001, 1).Draw(t, "share")
			if rapid.Bool().Draw(t, "interval") {
				f.Low, f.High = ends(f.Share-rapid.Float64Range(0, 1).Draw(t, "below"), f.Share+rapid.Float64Range(0, 1).Draw(t, "above"))
			}
		}
		found = append(found, f)
	}
	return found
}

// checkWhole holds that the shares of a cell's findings can be true together.
func checkWhole(t interface{ Errorf(string, ...any) }, found []result.Finding) {
	var sum, lows float64
	for _, f := range found {
		sum, lows = sum+f.Share, lows+atLeast(f)
	}
	if sum > 1+ofNote {
		t.Errorf("the shares are %v of the toll: %+v", sum, found)
	}
	for _, f := range found {
		switch {
		case f.Low == nil && f.High == nil:
		case f.Low == nil || f.High == nil || !(*f.Low < *f.High) || *f.Low > f.Share+ofNote || *f.High < f.Share-ofNote:
			t.Errorf("%s has a share of %v and an interval that is none: %+v", f.ID, f.Share, f)
		case *f.High+lows-*f.Low > 1+ofNote && *f.High > f.Share+ofNote:
			t.Errorf("%s may be %v, and the others are at least %v", f.ID, *f.High, lows-*f.Low)
		}
	}
}

func TestSharesOfACellAreOneWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		found := anyFindings(t)
		before := slices.Clone(found)
		compose(found)
		checkWhole(t, found)
		measured := 0.0
		for _, f := range before {
			if !modelled(f) {
				measured += f.Share
			}
		}
		for n, f := range found {
			if f.Share > before[n].Share+ofNote || (f.Share == 0) != (before[n].Share == 0) && modelled(f) == (measured < 1-ofNote) {
				t.Errorf("%s had a share of %v, and has one of %v", f.ID, before[n].Share, f.Share)
			}
			if measured <= 1 && !modelled(f) && math.Abs(f.Share-before[n].Share) > ofNote {
				t.Errorf("%s was measured as %v, and has %v for what others compute", f.ID, before[n].Share, f.Share)
			}
		}
		again := slices.Clone(found)
		compose(again)
		for n := range again {
			if math.Abs(again[n].Share-found[n].Share) > ofNote {
				t.Errorf("composed again, %s has %v in place of %v", again[n].ID, again[n].Share, found[n].Share)
			}
		}
	})
}

func TestTheLargestShareIsNamedFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		found := anyFindings(t)
		Rank(found)
		for n := 1; n < len(found); n++ {
			if a, b := found[n-1], found[n]; a.Severity == b.Severity && a.Share < b.Share || a.Severity > b.Severity {
				t.Errorf("%s (%s, %v) is before %s (%s, %v)", a.ID, a.Severity, a.Share, b.ID, b.Severity, b.Share)
			}
		}
	})
}

// of are the findings of a network with a model of the interface.
func of(t *testing.T, res *result.Result, name, nic string) []result.Finding {
	t.Helper()
	for _, cell := range res.Cells {
		if cell.Network == name && cell.Params.Text("nic") == nic {
			return cell.Findings
		}
	}
	t.Fatalf("no cell of %s with nic %s", name, nic)
	return nil
}

// A tunnel that costs a little less than what it is built upon, as noise has it: the parts below
// would be more than the whole.
func TestPartsOfANoisyTollAreNoMoreThanIt(t *testing.T) {
	res := steps(map[string]map[string]float64{"full": {catalog.Baseline: 0, "ptp": 0.1, "route": 0.25, "vxlan": 0.2}})
	Weigh(res, "")
	for _, cell := range res.Cells {
		checkWhole(t, cell.Findings)
	}
	found := of(t, res, "vxlan", "full")
	labtest.Equal(t, "what is named first", found[0].ID, rungID)
	labtest.Equal(t, "what has no share is last", found[len(found)-1].ID, "encapsulation-cost")
	labtest.Equal(t, "share of the encapsulation", found[len(found)-1].Share, 0)
}

// With an interface that does more, the tunnel seems to cost less than routes; with the
// machine's, the ladder has what it costs.
func TestEncapsulationHasTheShareThatTheLadderHas(t *testing.T) {
	res := steps(map[string]map[string]float64{
		"full": {catalog.Baseline: 0, "ptp": 0.1, "route": 0.2, "vxlan": 0.18},
		"tso":  {catalog.Baseline: 0, "ptp": 0.1, "route": 0.2, "vxlan": 0.24},
	})
	Weigh(res, "")
	found := of(t, res, "vxlan", "tso")
	checkWhole(t, found)
	at := slices.IndexFunc(found, func(f result.Finding) bool { return f.ID == "encapsulation-cost" })
	labtest.Between(t, "share of the encapsulation, which is 4 of 24 points before the whole is divided", found[at].Share, 0.1, 0.17)
}

// What a network itself does is no more than its rung of the ladder, whatever another way down shows.
func TestNoCauseIsLargerThanItsRung(t *testing.T) {
	res := steps(map[string]map[string]float64{
		"full": {catalog.Baseline: 0, "route": 0.1, "vxlan": 0.5},
		"tso":  {catalog.Baseline: 0, "route": 0.5, "vxlan": 0.55},
	})
	Weigh(res, "")
	for _, f := range of(t, res, "vxlan", "tso") {
		if f.ID == "encapsulation-cost" {
			labtest.Between(t, "share of a rung of 5 of 55 points", f.Share, 0.05, 0.12)
		}
	}
}

// All of a toll is of what was measured against the host itself: that is no estimate.
func TestAWholeShareHasNoInterval(t *testing.T) {
	res := steps(map[string]map[string]float64{"full": {catalog.Baseline: 0, "ptp": 0.2}})
	Weigh(res, "")
	f := of(t, res, "ptp", "full")[0]
	if f.Share != 1 || f.Low != nil || f.High != nil {
		t.Errorf("the share is %v [%v, %v], want 1 without an interval", f.Share, f.Low, f.High)
	}
}

// Thirteen migrations in a second take a fraction of a millisecond of it.
func TestMigrationsHaveTheShareThatTheyCanHave(t *testing.T) {
	for perSecond, want := range map[float64]float64{13: 13 * 20e-6 / 0.6, 2000: 2000 * 20e-6 / 0.6} {
		cell := measured("nat", catalog.PublishedPort, "tcp_stream", 0.6)
		cell.Params["duration"], cell.Params["warmup"] = 1.0, 0.0
		cell.Samples = []result.Sample{
			{Metrics: map[string]float64{"throughput": 1e9}, Readings: []result.Reading{counts("h2/c1", "/proc/self/task/*/sched", map[string]float64{"migrations": 2 * perSecond})}},
			{Metrics: map[string]float64{"throughput": 2e9}},
		}
		res := &result.Result{Cells: []result.Cell{cell}}
		Weigh(res, "")
		f := res.Cells[0].Findings[0]
		labtest.Equal(t, "the cause", f.ID, "core-migration")
		labtest.Near(t, "its share", f.Share, want, 1e-6)
		labtest.Contains(t, "the cause", f.Cause, "assumed, not measured")
	}
}

// To give a network up is no fix for what it costs.
func TestNoFixGivesUpTheNetwork(t *testing.T) {
	var all []*result.Result
	for _, res := range weighedCells() {
		Weigh(res, "")
		all = append(all, res)
	}
	for _, name := range []string{"pasta", "slirp4netns", "gvisor-tap-vsock", catalog.Endpoint} {
		all = append(all, behindTap(name, catalog.PublishedPort, "tun", 65520))
	}
	for _, res := range all {
		for _, cell := range res.Cells {
			for _, f := range cell.Findings {
				if strings.Contains(f.Fix, "--network host") || strings.Contains(f.Fix, "ip route add CONTAINERS") {
					t.Errorf("%s on %s, %s: %s", cell.Network, cell.Path, f.ID, f.Fix)
				}
			}
		}
	}
}

// In place of a fix the network that keeps what this one has, and costs less, is named.
func TestWhatCostsLessAndKeepsAllIsNamed(t *testing.T) {
	for other, want := range map[string]string{
		"gre":   "gre keeps its properties (no-l2, cross-host), and costs less here",
		"route": "of the networks measured here that keep its properties (no-l2, cross-host), none is known to cost less",
	} {
		cells := map[string]float64{catalog.Baseline: 0, "vxlan": 0.4, other: 0.1}
		res := &result.Result{}
		for name, toll := range cells {
			cell := measured(name, catalog.CrossHost, "tcp_stream", toll)
			low, high := toll-0.01, toll+0.01
			cell.Metrics[0].Toll.Low, cell.Metrics[0].Toll.High = &low, &high
			res.Cells = append(res.Cells, cell)
		}
		Weigh(res, "")
		f := result.Finding{}
		for _, one := range of(t, res, "vxlan", "full") {
			if one.ID == "encapsulation-cost" {
				f = one
			}
		}
		labtest.Contains(t, "beside "+other, f.Fix, "# this is what vxlan is: "+want)
	}
}

// Three thousand rules in a container of an endpoint are the cause, not that the endpoint adds to its host.
func TestOwnRungIsNoCauseBesideWhatNobodySized(t *testing.T) {
	own := result.Finding{ID: rungID, Cause: adding("vxlan") + "route: a tunnel", Share: 0.4}
	below := result.Finding{ID: rungID, Cause: "vxlan is built upon ptp", Share: 0.5}
	rules := result.Finding{ID: "many-rules", Cause: "each packet is compared with 3000 rules"}
	for _, c := range []struct {
		network string
		found   []result.Finding
		want    string
	}{
		{"vxlan", []result.Finding{own, below}, "vxlan is built upon ptp;what vxlan adds to route: a tunnel"},
		{"vxlan", []result.Finding{own, below, rules}, "vxlan is built upon ptp;each packet is compared with 3000 rules"},
		{"endpoint", []result.Finding{{ID: rungID, Cause: adding("endpoint") + "host: the network of the containers", Share: 1}}, ""},
	} {
		cell := &result.Cell{Network: c.network, Findings: c.found}
		settle(cell)
		labtest.Equal(t, "causes of "+c.network, strings.Join(result.Names(cell.Findings, func(f result.Finding) string { return f.Cause }), ";"), c.want)
	}
}

// What a network was measured to add to a rate holds a fault of the machine's, which is left to the fault: all of it where
// nobody knows how much that is.
func TestNetworkLeavesWhatIsNoneOfIt(t *testing.T) {
	for _, cause := range []string{adding("docker-nat") + "docker-bridge: a port", withBelow("docker-nat") + "docker-bridge, which it is built upon, add"} {
		for _, c := range []struct {
			workload, metric string
			better           result.Better
			fault, leaves    float64
		}{
			{"tcp_stream", "throughput", result.Higher, 0.7, 0.3}, {"tcp_stream", "throughput", result.Higher, 0, 0}, {"tcp_rr", "rtt_p50", result.Lower, 0, 1},
		} {
			cell := &result.Cell{
				Network: "docker-nat", Workload: c.workload, Status: result.StatusOK,
				Metrics:  []result.Metric{{Name: c.metric, Better: c.better, Toll: &result.Toll{Value: 0.8, Verdict: "slower"}}},
				Findings: []result.Finding{{ID: rungID, Cause: cause, Share: 1, Confidence: 0.9}, {ID: "tcp-receive-window", Share: c.fault, Confidence: 0.95}},
			}
			leave(cell)
			left := 0.0
			for _, f := range cell.Findings {
				if f.ID == rungID {
					left = f.Share
				}
			}
			labtest.Between(t, fmt.Sprintf("what %+v leaves to the network", c), left, c.leaves-ofNote, c.leaves+ofNote)
		}
	}
}
