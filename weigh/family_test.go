package weigh

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/test/labtest"
)

// simulated is a run of equal hosts, some of whose networks have a toll.
type simulated struct {
	groups, networks, blocks int
	noise                    float64 // standard deviation of a block, in log
	unlike                   float64 // by which that of a group differs from others, in log
	layout                   float64 // by which equal networks differ
	drift                    float64 // from the first block to the last
	tolls                    map[int]float64
}

func (s simulated) run(draw *rand.Rand) (cells []*result.Cell) {
	for g := range s.groups {
		noise := s.noise * math.Exp(s.unlike*draw.NormFloat64())
		add := func(c *result.Cell, layout string, shift float64) {
			shift += s.layout * draw.NormFloat64()
			for block := range s.blocks {
				v := 50e-6 * math.Exp(shift+noise*tailed(draw)+s.drift*float64(block)/float64(s.blocks))
				c.Samples = append(c.Samples, result.Sample{Block: block, Layout: layout, Metrics: map[string]float64{"rtt_p50": v}})
			}
		}
		for n := range s.networks + 1 {
			c := &result.Cell{Network: fmt.Sprint("network", n), Status: result.StatusOK, Workload: "tcp_rr", Group: fmt.Sprint(g)}
			if n == 0 {
				c.Network = catalog.Baseline
				add(c, LayoutA, 0)
				add(c, LayoutB, 0)
			} else {
				add(c, "", math.Log1p(s.tolls[g*s.networks+n-1]))
			}
			cells = append(cells, c)
		}
	}
	return cells
}

// judgedOften is what so many runs find: the share of runs that call an equal network another than its host, the
// share of equal networks that are, the share of tolls that are found slower, and the share of
// intervals that cover the truth.
type judgedOften struct{ runs, comparisons, found, covered float64 }

func (s simulated) often(draw *rand.Rand, runs int) (o judgedOften) {
	equal := s.groups*s.networks - len(s.tolls)
	for range runs {
		cells := s.run(draw)
		Result(cells, Options{Margin: stats.DeclaredMargin, Warnings: func(*result.Cell) []string { return nil }})
		alarms, n := 0, 0
		for _, c := range cells {
			if c.Network == catalog.Baseline {
				continue
			}
			toll, truth := c.Metrics[0].Toll, s.tolls[n]
			n++
			if *toll.Low <= truth && truth <= *toll.High {
				o.covered++
			}
			differs := toll.Verdict == string(stats.Slower) || toll.Verdict == string(stats.Faster)
			switch {
			case truth == 0 && differs:
				alarms++
			case truth != 0 && differs:
				o.found++
			}
		}
		o.comparisons += float64(alarms)
		if alarms > 0 {
			o.runs++
		}
	}
	o.runs /= float64(runs)
	o.comparisons /= float64(runs * max(equal, 1))
	o.found /= float64(runs * max(len(s.tolls), 1))
	o.covered /= float64(runs * s.groups * s.networks)
	return o
}

// Of a run whose networks all equal their host one in twenty finds a difference, at most, however
// many they are, and of a hundred comparisons less than one.
func TestEqualNetworksAreSeldomDistinguished(t *testing.T)     { seldomDistinguished(t, 25, 0.25) }
func TestDeepEqualNetworksAreSeldomDistinguished(t *testing.T) { seldomDistinguished(t, 800, 0.05) }

func seldomDistinguished(t *testing.T, runs int, most float64) {
	t.Helper()
	draw := rand.New(rand.NewPCG(3, 9))
	for _, s := range []simulated{
		{groups: 6, networks: 7, blocks: 8, noise: 0.04}, {groups: 6, networks: 7, blocks: 8, noise: 0.08},
		{groups: 6, networks: 7, blocks: 6, noise: 0.15}, {groups: 6, networks: 7, blocks: 8, noise: 0.15, layout: 0.01},
		{groups: 6, networks: 7, blocks: 30, noise: 0.15}, {groups: 6, networks: 7, blocks: 8, noise: 0.02, layout: 0.01},
		{groups: 40, networks: 1, blocks: 8, noise: 0.08, layout: 0.01}, {groups: 2, networks: 1, blocks: 8, noise: 0.08},
		{groups: 6, networks: 2, blocks: 8, noise: 0.15, drift: 0.3},
	} {
		s.unlike = 0.3
		o := s.often(draw, runs)
		t.Logf("%+v: %.3f of runs, %.4f of comparisons; %.3f covered", s, o.runs, o.comparisons, o.covered)
		labtest.AtMost(t, fmt.Sprintf("%+v: share of runs", s), o.runs, most)
		labtest.AtMost(t, fmt.Sprintf("%+v: share of comparisons", s), o.comparisons, max(0.01, most/4))
	}
}

// Where most networks have a toll it is found as often as by its own interval and the variance by layout of
// the whole run. Only one that hardly shows in the noise is found less often, in 0.08 for 0.14, since
// a verdict among many must be surer.
func TestTollsAreFound(t *testing.T)     { tollsAreFound(t, 12, 0.2) }
func TestDeepTollsAreFound(t *testing.T) { tollsAreFound(t, 300, 0.02) }

func tollsAreFound(t *testing.T, runs int, off float64) {
	t.Helper()
	draw := rand.New(rand.NewPCG(5, 9))
	for _, c := range []struct{ noise, toll, least float64 }{
		{0.04, 0.1, 0.89}, {0.04, 0.2, 1}, {0.08, 0.1, 0.41}, {0.08, 0.2, 0.97}, {0.15, 0.1, 0.08}, {0.15, 0.2, 0.54},
	} {
		s := simulated{groups: 6, networks: 7, blocks: 8, noise: c.noise, layout: 0.01, tolls: map[int]float64{}}
		for n := range 42 {
			if n%7 < 5 { // as in a quick run, most have one
				s.tolls[n] = math.Expm1(c.toll)
			}
		}
		o := s.often(draw, runs)
		t.Logf("noise %v, toll %v in log: found in %.2f, at least %.2f; %.3f covered", c.noise, c.toll, o.found, c.least, o.covered)
		labtest.AtLeast(t, fmt.Sprintf("noise %v: share of tolls of %v in log that are found", c.noise, c.toll), o.found, c.least-off)
		labtest.Between(t, "share of intervals that cover the toll", o.covered, 0.92-off, 0.98)
	}
}

// While a run goes on the metrics by which networks are judged first are enough.
func TestHeadlinesAlone(t *testing.T) {
	cells := simulated{groups: 1, networks: 2, blocks: 8, noise: 0.01}.run(rand.New(rand.NewPCG(1, 1)))
	for _, c := range cells {
		for n := range c.Samples {
			c.Samples[n].Metrics["rtt_p99"] = 2 * c.Samples[n].Metrics["rtt_p50"]
		}
	}
	for headlines, want := range map[bool]int{true: 1, false: 2} {
		Result(cells, Options{Margin: stats.DeclaredMargin, Warnings: func(*result.Cell) []string { return nil }, Headlines: headlines})
		for _, c := range cells {
			labtest.Equal(t, fmt.Sprint("metrics of ", c.Network, ", headlines alone ", headlines), len(c.Metrics), want)
			labtest.Equal(t, "the first", c.Metrics[0].Name, "rtt_p50")
		}
	}
}
