package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// measuredAt are the curves of blocks at some points, each with noise, and with a level that
// is the block's.
func measuredAt(r *rand.Rand, x []float64, blocks int, of func(float64) float64, noise float64) [][]float64 {
	all := make([][]float64, blocks)
	for n := range all {
		level := 50 * r.NormFloat64()
		for _, v := range x {
			all[n] = append(all[n], level+of(v)+noise*r.NormFloat64())
		}
	}
	return all
}

// Each shape is found for what it is, beside noise that is a twentieth of what it grows by, and
// the interval of its slope covers the true one.
func TestGrowthNamesTheShape(t *testing.T) {
	x := []float64{1, 100, 1000, 3000, 10_000, 30_000}
	const runs = 1000
	for name, c := range map[string]struct {
		shape Shape
		of    func(float64) float64
		slope float64
	}{
		"constant":    {Constant, func(float64) float64 { return 5 }, 0},
		"logarithmic": {Logarithmic, func(v float64) float64 { return 2 * math.Log2(v) }, 2},
		"linear":      {Linear, func(v float64) float64 { return v / 1000 }, 1e-3},
		"bent":        {Bent, func(v float64) float64 { return v/1000 + 4*max(0, v-10_000)/1000 }, 1e-3},
	} {
		r := rand.New(rand.NewPCG(3, 4))
		named, covered := 0, 0
		for range runs {
			g, ok := GrowthOf(x, measuredAt(r, x, 10, c.of, 1.5))
			if !ok {
				t.Fatalf("%s: not fitted", name)
			}
			if g.Shape == c.shape {
				named++
				if g.Slope.Low <= c.slope && c.slope <= g.Slope.High {
					covered++
				}
			}
		}
		t.Logf("%s: named in %d of %d, its slope covered in %d of these", name, named, runs, covered)
		if named < runs*9/10 || covered < named*93/100 {
			t.Errorf("%s: named in %d of %d, its slope covered in %d of these", name, named, runs, covered)
		}
	}
}

func TestGrowthBendsWhereItDoes(t *testing.T) {
	x := []float64{1, 1000, 5000, 10_000, 30_000}
	r := rand.New(rand.NewPCG(5, 6))
	g, ok := GrowthOf(x, measuredAt(r, x, 10, func(v float64) float64 { return max(0, v-5000) / 100 }, 1))
	if !ok || g.Shape != Bent || g.Bend != 5000 {
		t.Fatalf("got %+v, %t, want a bend at 5000", g, ok)
	}
	if math.Abs(g.Beyond.Value-0.01) > 1e-4 || math.Abs(g.Slope.Value) > 5e-4 {
		t.Errorf("slopes %+v and %+v, want 0 and 0.01", g.Slope, g.Beyond)
	}
}

func TestGrowthNeedsPointsAndBlocks(t *testing.T) {
	block := []float64{1, 2, 3}
	blocks := func(n int, of []float64) [][]float64 {
		all := make([][]float64, n)
		for i := range all {
			all[i] = of
		}
		return all
	}
	for name, c := range map[string]struct {
		x      []float64
		blocks [][]float64
	}{
		"two points":        {[]float64{1, 2}, blocks(6, []float64{1, 2})},
		"five blocks":       {[]float64{1, 2, 3}, blocks(5, block)},
		"points that fall":  {[]float64{1, 3, 2}, blocks(6, block)},
		"a point twice":     {[]float64{1, 1, 2}, blocks(6, block)},
		"a value too few":   {[]float64{1, 2, 3}, blocks(6, block[:2])},
		"a value not known": {[]float64{1, 2, 3}, blocks(6, []float64{1, math.NaN(), 3})},
	} {
		if g, ok := GrowthOf(c.x, c.blocks); ok {
			t.Errorf("%s: fitted as %+v", name, g)
		}
	}
	if g, ok := GrowthOf([]float64{0, 1, 2}, blocks(6, block)); !ok || g.Shape == Constant || math.IsNaN(g.Slope.Value) {
		t.Errorf("from 0 on: %+v, %t", g, ok)
	}
}

// What begins at 0 doubles from 1 on.
func TestGrowthByDoublingsBeginsAtZero(t *testing.T) {
	curve := []float64{5, 6, 7, 8, 9}
	blocks := slices.Repeat([][]float64{curve}, MinBlocks)
	for name, x := range map[string][]float64{"from 0": {0, 1, 3, 7, 15}, "from 1": {1, 2, 4, 8, 16}, "from 2": {2, 4, 8, 16, 32}} {
		g, ok := GrowthOf(x, blocks)
		if !ok || g.Shape != Logarithmic || !(math.Abs(g.Slope.Value-1) < 1e-12) { // nor is it NaN
			t.Errorf("%s: %+v, %t, want one for each doubling", name, g, ok)
		}
	}
}

// A model that fits all blocks exactly foretells each.
func TestExactModelForetellsWithoutError(t *testing.T) {
	x := []float64{1, 2, 3, 4, 8}
	for _, m := range modelsOf(x) {
		curves := make([][]float64, MinBlocks)
		for n := range curves {
			curve := make([]float64, len(x))
			for i, v := range x {
				switch m.shape {
				case Logarithmic:
					curve[i] = math.Log2(v)
				case Linear:
					curve[i] = 3 * v
				case Bent:
					curve[i] = v + 2*max(0, v-m.bend)
				}
			}
			curves[n] = centred(curve)
		}
		for _, err := range m.foretells(curves) {
			if err > 1e-20 {
				t.Errorf("%s, bent at %v: an error of %v", m.shape, m.bend, err)
			}
		}
	}
}
