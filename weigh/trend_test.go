package weigh

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tare/result"
	"tare/test/labtest"
)

// soaked is a soak of a host and of vxlan as it would be measured, with noise of 1 % that a round has
// and of 0.3 % that a block has besides.
type soaked struct {
	rounds int
	host   func(round int) float64             // throughput, bit/s
	ratio  func(round int) float64             // of vxlan to it
	change func(round int, res *result.Result) // what else is in a round
}

// trend is the trend of such a soak.
func (s soaked) trend(t *testing.T, seed uint64, gates Gates) result.Trend {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 12))
	files, points := map[string][]byte{}, []Point{}
	for n := range s.rounds {
		res := s.round(n, random)
		if s.change != nil {
			s.change(n, res)
		}
		file := fmt.Sprintf("round-%04d.json", n+1)
		var text bytes.Buffer
		if err := res.Write(&text); err != nil {
			t.Fatal(err)
		}
		files[file] = text.Bytes()
		points = append(points, PointOf(file, again(t, text.Bytes())))
	}
	random.Shuffle(len(points), func(a, b int) { points[a], points[b] = points[b], points[a] })
	trend, err := Trends(points, gates, func(file string) (*result.Result, error) { return again(t, files[file]), nil })
	if err != nil {
		t.Fatal(err)
	}
	return trend
}

func again(t *testing.T, text []byte) *result.Result {
	t.Helper()
	res, err := result.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func (s soaked) round(n int, random *rand.Rand) *result.Result {
	began := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC).Add(time.Duration(n) * 10 * time.Minute)
	cell := func(network string) result.Cell {
		return result.Cell{Network: network, Path: "cross-host", Workload: "tcp_stream", Mode: "write128K", Status: result.StatusOK, Params: result.Params{"nic": "full"}}
	}
	host, vxlan := cell("host"), cell("vxlan")
	ofRound := s.host(n) * math.Exp(0.01*random.NormFloat64())
	ratio := s.ratio(n) * math.Exp(0.01*random.NormFloat64())
	sample := func(block int, layout string, value float64) result.Sample {
		return result.Sample{
			Block: block, Layout: layout, Metrics: map[string]float64{"throughput": value * math.Exp(0.003*random.NormFloat64())},
			Counters: map[string]float64{"work": 10 * math.Exp(0.01*random.NormFloat64())},
			Readings: []result.Reading{{At: "h1", Source: "/proc/net/snmp", Counts: map[string]float64{"Ip.OutRequests": 1000}}},
		}
	}
	for block := range 6 {
		host.Samples = append(host.Samples, sample(block, LayoutA, ofRound), sample(block, LayoutB, ofRound))
		vxlan.Samples = append(vxlan.Samples, sample(block, "", ofRound*ratio))
	}
	Result([]*result.Cell{&host, &vxlan}, Options{Margin: 0.02, Last: true, Warnings: func(*result.Cell) []string { return nil }})
	return &result.Result{
		Schema: result.Schema, ID: fmt.Sprintf("round %d", n), Started: began.Format(time.RFC3339), Finished: began.Add(time.Minute).Format(time.RFC3339),
		Environment: result.Environment{Kernel: "6.1"}, Cells: []result.Cell{host, vxlan},
		Round:  &result.Round{Number: n + 1, Rounds: s.rounds, Every: 600, Took: 60, Lab: "one", Boot: "one"},
		States: []result.State{{At: "h1", Source: "/proc/sys/net", Values: map[string]any{"ipv4/tcp_sack": 1.0}}},
	}
}

func steady(value float64) func(int) float64 { return func(int) float64 { return value } }

// from is one value up to a round, and another from it on.
func from(round int, before, after float64) func(int) float64 {
	return func(n int) float64 {
		if n < round {
			return before
		}
		return after
	}
}

func besideOf(c result.TrendChange) (text string) {
	for _, b := range c.Beside {
		text += fmt.Sprintf("%s %s %s %s %s>%s\n", b.Kind, b.At, b.Source, b.Name, b.Old, b.New)
	}
	return text
}

// A network that becomes slower is named with its time, and with what is otherwise since.
func TestTrendNamesTheChangeOfANetwork(t *testing.T) {
	s := soaked{rounds: 24, host: steady(4e10), ratio: from(12, 0.8, 0.72), change: func(n int, res *result.Result) {
		res.Round.States = []result.State{{Source: "/proc/sys/vm", Values: map[string]any{"overcommit_memory": min(1, float64(n/12))}}}
		if n == 12 {
			res.Round.Log.Lines = []result.LogLine{{Level: 4, At: "2026-11-26T13:58:01Z", Text: "nf_conntrack: table full"}}
		}
		if n < 12 {
			return
		}
		res.States[0].Values["ipv4/tcp_sack"] = 0.0
		res.Findings = []result.Finding{{ID: "sack-off", Cause: "selective acknowledgements are off"}}
		for i := range res.Cells[1].Samples {
			res.Cells[1].Samples[i].Readings[0].Counts["Tcp.RetransSegs"] = 40
		}
	}}
	trend := s.trend(t, 1, Gates{})
	labtest.Equal(t, "changes", len(trend.Changes), 1)
	c := trend.Changes[0]
	labtest.Equal(t, "of", c.Of, result.ChangeOfNetwork)
	labtest.Equal(t, "at", c.At, 12)
	labtest.Equal(t, "after", c.After, "2026-11-26T14:00:00Z")
	labtest.Equal(t, "before", c.Before, "2026-11-26T13:50:00Z")
	labtest.Equal(t, "series", len(c.Series), 1)
	labtest.Equal(t, "cell", c.Series[0].Cell, "vxlan cross-host tcp_stream")
	labtest.Near(t, "change", c.Series[0].Change.Value, 0.1, 0.015)
	labtest.Equal(t, "verdict", c.Series[0].Change.Verdict, "slower")
	beside := besideOf(c)
	for _, want := range []string{
		"kernel log 2026-11-26T13:58:01Z  nf_conntrack: table full", "finding came   sack-off", "fact h1 /proc/sys/net ipv4/tcp_sack 1>0",
		"counter h1 /proc/net/snmp Tcp.RetransSegs 0>", "fact  /proc/sys/vm overcommit_memory 0>1",
	} {
		labtest.Contains(t, "what is otherwise", beside, want)
	}
	if strings.Contains(beside, "Ip.OutRequests") || strings.Contains(beside, " more ") {
		t.Errorf("a counter that moves as before is named, or more than there is:\n%s", beside)
	}
	labtest.Equal(t, "round of the third result", trend.Results[2].Round, 3)
}

// Where the host itself changes the machine did: the toll of the network is what it was.
func TestTrendNamesTheChangeOfTheMachine(t *testing.T) {
	trend := soaked{rounds: 24, host: from(10, 4e10, 3.4e10), ratio: steady(0.8)}.trend(t, 2, Gates{})
	labtest.Equal(t, "changes", len(trend.Changes), 1)
	c := trend.Changes[0]
	labtest.Equal(t, "of", c.Of, result.ChangeOfMachine)
	labtest.Equal(t, "at", c.At, 10)
	labtest.Equal(t, "cells", len(c.Series), 1)
	labtest.Equal(t, "cell", c.Series[0].Cell, "host cross-host tcp_stream")
	labtest.Near(t, "change", c.Series[0].Change.Value, 0.15, 0.02)
	labtest.Near(t, "change of the host since the first", trend.Cells[0].Change.Value, 0.15, 0.04)
	labtest.Near(t, "change of the network since the first", trend.Cells[1].Change.Value, 0, 0.04)
}

// A host alone is compared too; a round in which it carried nothing is left out.
func TestTrendOfAHostAlone(t *testing.T) {
	host := from(10, 4e10, 3.4e10)
	trend := soaked{rounds: 24, host: func(n int) float64 {
		if n == 3 {
			return 0
		}
		return host(n)
	}, ratio: steady(0.8), change: func(_ int, res *result.Result) { res.Cells = res.Cells[:1] }}.trend(t, 2, Gates{})
	labtest.Equal(t, "results", len(trend.Results), 24)
	labtest.Equal(t, "changes", len(trend.Changes), 1)
	labtest.Equal(t, "at", trend.Changes[0].At, 10)
}

// Two results are a trend, though no change can be found in them.
func TestTrendOfTwoResults(t *testing.T) {
	trend := soaked{rounds: 2, host: steady(4e10), ratio: steady(0.8)}.trend(t, 2, Gates{})
	labtest.Equal(t, "cells", len(trend.Cells), 2)
}

// Each change of a series is one from what was before it to what was before the next.
func TestTrendNamesEachChange(t *testing.T) {
	ratio := func(n int) float64 { return []float64{0.8, 0.6, 0.75}[n/12] }
	trend := soaked{rounds: 36, host: steady(4e10), ratio: ratio}.trend(t, 2, Gates{})
	labtest.Equal(t, "changes", len(trend.Changes), 2)
	for n, want := range []float64{0.25, -0.25} {
		labtest.Equal(t, "at", trend.Changes[n].At, 12*(n+1))
		labtest.Near(t, "change", trend.Changes[n].Series[0].Change.Value, want, 0.02)
	}
}

func TestRatioToABaseline(t *testing.T) {
	labtest.Near(t, "of a rate", ratioOf(&result.Metric{Better: result.Higher, Toll: &result.Toll{Value: 0.2}}), 0.8, 1e-12)
	labtest.Near(t, "of a time", ratioOf(&result.Metric{Better: result.Lower, Toll: &result.Toll{Value: 0.5}}), 1.5, 1e-12)
}

// Where both change at once, both are named.
func TestTrendNamesTheChangeOfBoth(t *testing.T) {
	for _, at := range []int{12, 13} { // one result later is the same change
		trend := soaked{rounds: 24, host: from(12, 4e10, 3.2e10), ratio: from(at, 0.8, 0.7)}.trend(t, 7, Gates{})
		labtest.Equal(t, "changes", len(trend.Changes), 1)
		labtest.Equal(t, "of", trend.Changes[0].Of, result.ChangeOfBoth)
		labtest.Equal(t, "cells", len(trend.Changes[0].Series), 2)
	}
}

// A soak in which nothing changes has an alarm in 5 % of all cases at most.
func TestSteadySoakHasNoAlarm(t *testing.T) {
	const soaks = 60
	alarms := 0
	for seed := range uint64(soaks) {
		if len(soaked{rounds: 12, host: steady(4e10), ratio: steady(0.8)}.trend(t, seed, Gates{}).Changes) > 0 {
			alarms++
		}
	}
	if alarms > 7 { // 5 % and 2.5 standard errors
		t.Errorf("%d of %d soaks have an alarm", alarms, soaks)
	}
}

func TestTrendNamesWhatGrows(t *testing.T) {
	trend := soaked{rounds: 16, host: steady(4e10), ratio: steady(0.8), change: func(n int, res *result.Result) {
		entries := map[string]any{}
		for i := range 5 + n {
			entries[fmt.Sprintf("10.0.0.%d dev eth0", i)] = "reachable"
		}
		res.States = append(res.States,
			result.State{At: "h1", Source: "/proc/sys/net/netfilter", Values: map[string]any{"nf_conntrack_count": float64(100 + 40*n)}},
			result.State{At: "h1", Source: "bridge fdb", Values: map[string]any{"a": "permanent", "b": "permanent"}},
		)
		res.Round.States = []result.State{
			{Source: "/proc/meminfo", Values: map[string]any{"MemTotal": 8e9, "MemAvailable": 4e9 - 5e7*float64(n), "SUnreclaim": 1e9 + 1e5*float64(n)}},
			{Source: "ip neighbour", Values: entries},
		}
	}}.trend(t, 3, Gates{})
	labtest.Equal(t, "growths", len(trend.Growths), 3)
	for n, want := range []result.TrendGrowth{
		{Name: "tracked-connections", First: 160, Last: 640, Slope: 40},
		{Name: "neighbour-entries", First: 6.5, Last: 18.5, Slope: 1},
		{Name: "used-memory", First: 4.075e9, Last: 4.675e9, Slope: 5e7},
	} {
		g := trend.Growths[n]
		labtest.Equal(t, "name", g.Name, want.Name)
		labtest.Near(t, g.Name+" at first", g.First, want.First, 1e-6)
		labtest.Near(t, g.Name+" at last", g.Last, want.Last, 1e-6)
		labtest.Near(t, g.Name+" by round", g.Slope, want.Slope, 1e-6)
	}
}

// What shrinks does not grow, nor what another lab had.
func TestTrendKnowsWhatDoesNotGrow(t *testing.T) {
	for name, count := range map[string]func(n int) int{
		"it shrinks":          func(n int) int { return 2000 - 40*n },
		"it comes and goes":   func(n int) int { return 100 + 40*(n*7%5) },
		"by hardly anything":  func(n int) int { return 10_000 + n },
		"not for sure":        func(n int) int { return 100 + 40*(n*7%5) + 8*n },
		"of a lab built anew": func(n int) int { return 100 + 40*(n%4) },
	} {
		trend := soaked{rounds: 16, host: steady(4e10), ratio: steady(0.8), change: func(n int, res *result.Result) {
			if name == "of a lab built anew" {
				res.Round.Lab = fmt.Sprint("lab ", n/4)
			}
			res.States = append(res.States, result.State{At: "h1", Source: "/proc/sys/net/netfilter", Values: map[string]any{"nf_conntrack_count": float64(count(n))}})
		}}.trend(t, 3, Gates{})
		for _, g := range trend.Growths {
			t.Errorf("%s, but: %+v", name, g)
		}
	}
}

// What happened to the soak itself is named beside a change, with what the kernel logged and what it counted.
func TestTrendNamesWhatHappenedBesides(t *testing.T) {
	trend := soaked{rounds: 24, host: steady(4e10), ratio: from(12, 0.8, 0.72), change: func(n int, res *result.Result) {
		if n == 12 {
			res.Round.Left, res.Round.Log.Unread, res.Round.Log.More = 2, "/dev/kmsg: no permission", 3
			for i := range mostOfKind + 1 {
				res.Round.Log.Lines = append(res.Round.Log.Lines, result.LogLine{Level: 6 - i%2, At: "later", Text: fmt.Sprintf("line %d", i)})
			}
			res.Round.Log.Lines = append(res.Round.Log.Lines, result.LogLine{Level: 3, At: "first", Text: "the gravest"}, result.LogLine{Level: 3, At: "again", Text: "the gravest"})
		}
		if n == 11 {
			res.Round.Log.Lines = []result.LogLine{{Level: 3, At: "before", Text: "before the last round without the change"}}
		}
		counts := res.Cells[1].Samples[0].Readings[0].Counts
		counts["Halved"], counts["Third"], counts["Wavers"] = 400, 60, 100
		if n%3 == 0 {
			counts["Wavers"] = 200
		}
		if n >= 12 {
			res.Round.Lab, counts["Halved"], counts["Third"] = "two", 200, 20
			if n%4 > 0 {
				counts["Wavers"] = 200
			}
		}
		if n == 5 { // nothing is known of its work
			for i := range res.Cells[1].Samples {
				res.Cells[1].Samples[i].Counters = nil
			}
		}
		if n%3 == 0 {
			res.Findings = []result.Finding{{ID: "sometimes", Cause: "now and then"}}
		}
	}}.trend(t, 1, Gates{})
	labtest.Equal(t, "changes", len(trend.Changes), 1)
	c := trend.Changes[0]
	labtest.Equal(t, "unread", strings.Join(c.Unread, ", "), "/dev/kmsg: no permission")
	beside := besideOf(c)
	for _, want := range []string{
		"soak   the lab was built again ", "soak   left out before it: 2 ", "kernel log first  the gravest ",
		fmt.Sprintf("kernel log   %d more ", 3+2), "counter h1 /proc/net/snmp Halved 6.",
	} {
		labtest.Contains(t, "what is otherwise", beside, want)
	}
	labtest.MoreThan(t, "place of what moved less", strings.Index(beside, "Halved"), strings.Index(beside, "Third"))
	for _, unwanted := range []string{"again  the gravest", "started again", "sometimes", "before the last round", "Wavers"} {
		if strings.Contains(beside, unwanted) {
			t.Errorf("%q is named:\n%s", unwanted, beside)
		}
	}
}

// The newest is held against the first, as by a comparison of both.
func TestTrendHoldsLimits(t *testing.T) {
	limit := 0.03
	s := soaked{rounds: 8, host: steady(4e10), ratio: from(4, 0.8, 0.7)}
	trend := s.trend(t, 4, Gates{MaxRegression: &limit})
	labtest.Equal(t, "broken limits", len(trend.Compared.Unmet), 1)
	labtest.Equal(t, "cell", trend.Compared.Unmet[0].Cell, "vxlan cross-host tcp_stream")
	labtest.Equal(t, "cells", len(trend.Cells), 2)
	labtest.Equal(t, "tolls", len(trend.Cells[1].Tolls), 8)
	labtest.Near(t, "first toll", trend.Cells[1].Tolls[0].Value, 0.2, 0.03)
	labtest.Near(t, "change of the ratio to the host", trend.Cells[1].Change.Value, 0.125, 0.04)
	s.ratio = steady(0.8)
	labtest.Equal(t, "broken limits of a steady soak", len(s.trend(t, 5, Gates{MaxRegression: &limit}).Compared.Unmet), 0)
}

// What can't be compared is left out and named; of another machine tolls alone are.
func TestTrendSetsApartWhatIsUnlike(t *testing.T) {
	trend := soaked{rounds: 9, host: from(5, 4e10, 2e10), ratio: steady(0.8), change: func(n int, res *result.Result) {
		switch n {
		case 1:
			res.Finished, res.Plan.Networks = "", result.NetworksNamed("vxlan")
		case 2:
			res.Cells[1].Network = "macvlan"
		case 3:
			res.ID = "round 0"
		case 4:
			res.Finished = "" // what was imported has no plan, and no end
		case 5, 6, 7, 8:
			res.Environment.Kernel = "6.12"
		}
	}}.trend(t, 6, Gates{})
	left := ""
	for _, one := range trend.Left {
		left += one.File + ": " + one.Reason + "\n"
	}
	labtest.Equal(t, "left out", left, "round-0002.json: its run was interrupted\nround-0003.json: it has no cell of the newest result\nround-0004.json: it is there twice\n")
	labtest.Equal(t, "results", len(trend.Results), 6)
	labtest.Equal(t, "judged", trend.Judged, result.JudgedByToll)
	labtest.Equal(t, "difference", fmt.Sprint(trend.Results[2].Differ), "[{kernel 6.1 6.12}]")
	labtest.Equal(t, "changes, though the host is half as fast", len(trend.Changes), 0)
	if c := trend.Cells[0]; c.Network != "host" || c.Change != nil {
		t.Errorf("the host of another machine has a change: %+v", c)
	}
}
