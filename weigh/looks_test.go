package weigh

import (
	"math"
	"math/rand/v2"
	"testing"

	"tare/catalog"
	"tare/experiment/schedule"
	"tare/result"
	"tare/stats"
)

// looked draws block after block of a group of one network, and looks as a run does,
// until the network is decided or the last look is over.
func looked(draw *rand.Rand, toll, noise float64, most int) (g *Group, blocks int) {
	host, net := &result.Cell{Network: catalog.Baseline}, &result.Cell{Network: "route"}
	g = &Group{Baseline: host, Cells: []*result.Cell{host, net}, Workload: "tcp_rr"}
	for _, c := range g.Cells {
		c.Status, c.Workload = result.StatusOK, g.Workload
	}
	add := func(c *result.Cell, block int, layout string, shift float64) {
		v := 50e-6 * math.Exp(shift+noise*tailed(draw))
		c.Samples = append(c.Samples, result.Sample{Block: block, Layout: layout, Metrics: map[string]float64{"rtt_p50": v}})
	}
	for block := range most {
		add(host, block, LayoutA, 0)
		add(host, block, LayoutB, 0)
		add(net, block, "", math.Log1p(toll))
		if rate, due := schedule.Look(block+1, most); due && ScaleOf([]*Group{g}, stats.DeclaredMargin).Decided(g, net, rate) {
			return g, block + 1
		}
	}
	return g, most
}

// tailed is Student's t with five degrees of freedom, of variance one.
func tailed(draw *rand.Rand) float64 {
	var squares float64
	for range 5 {
		n := draw.NormFloat64()
		squares += n * n
	}
	return draw.NormFloat64() / math.Sqrt(squares/5) / math.Sqrt(5.0/3)
}

// A run that stops as soon as it knows must not know too much: its intervals cover
// what they claim to, and it finds no toll where there is none.
func TestLookingKeepsWhatIntervalsClaim(t *testing.T) { keepsWhatIntervalsClaim(t, 100, 0.06, 0.05) }

func TestDeepLookingKeepsWhatIntervalsClaim(t *testing.T) {
	keepsWhatIntervalsClaim(t, 1000, 0.01, 0.02)
}

// keepsWhatIntervalsClaim looks at so many runs. The share that is covered may be less than claimed by so much, and
// so large a share of runs may find a toll where there is none.
func keepsWhatIntervalsClaim(t *testing.T, runs int, off, alarmed float64) {
	t.Helper()
	draw := rand.New(rand.NewPCG(11, 24))
	q, _ := result.QuantityOf("rtt_p50")
	for _, c := range []struct {
		toll, noise float64
		most        int
	}{{0, 0.05, 30}, {0.02, 0.03, 30}, {0.1, 0.1, 30}, {0.3, 0.1, 30}, {0.3, 0.03, 30}, {0, 0.1, 80}, {0.05, 0.1, 80}} {
		covered, alarms, sum := 0, 0, 0
		for range runs {
			g, blocks := looked(draw, c.toll, c.noise, c.most)
			sum += blocks
			at := ScaleOf([]*Group{g}, stats.DeclaredMargin).of(g, q)
			w := judged(at.tolls[g.Cells[1]].Estimate, true, q, Margins{Margins: at.margins.Margins})
			if w.Low <= c.toll && c.toll <= w.High {
				covered++
			}
			if w.Verdict == stats.Slower || w.Verdict == stats.Faster {
				alarms++
			}
		}
		share := float64(covered) / float64(runs)
		t.Logf("toll %.0f %%, noise %.0f %%: %.1f blocks, %.1f %% covered, %.1f %% with a difference",
			100*c.toll, 100*c.noise, float64(sum)/float64(runs), 100*share, 100*float64(alarms)/float64(runs))
		if share < 0.95-off {
			t.Errorf("a toll of %v with noise of %v: %.1f %% of the intervals cover it", c.toll, c.noise, 100*share)
		}
		if c.toll == 0 && float64(alarms)/float64(runs) > alarmed {
			t.Errorf("%.1f %% of runs find a difference where there is none", 100*float64(alarms)/float64(runs))
		}
	}
}
