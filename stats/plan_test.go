package stats

import (
	"math"
	"testing"

	"tare/test/labtest"
)

// sample is an even sample of log ratios with a centre and a spread.
func sample(blocks int, centre, spread float64) []float64 {
	x := make([]float64, blocks)
	for i := range x {
		x[i] = centre + spread*normalQuantile((float64(i)+0.5)/float64(blocks))
	}
	return x
}

// centreOf is the estimate from an even sample.
func centreOf(blocks int, centre, spread float64) Estimate {
	e, _ := Centre(sample(blocks, centre, spread))
	return e
}

func declared() Margins { return Margins{Declared: DeclaredMargin, Least: DeclaredMargin} }

func TestBlocksNeededDecide(t *testing.T) {
	for _, test := range []struct {
		toll, sigma float64
		want        Verdict
	}{
		{0.035, 0.02, Slower},
		{0.06, 0.04, Slower},
		{-0.05, 0.03, Faster},
		{0.002, 0.03, Equal},
		{0.01, 0.02, Equal},
	} {
		e, margins := centreOf(10, math.Log(1-test.toll), test.sigma*math.Sqrt(1.5)), declared()
		blocks, ok := BlocksNeeded(e, 10, margins, HigherIsBetter, 0.05)
		if !ok || blocks <= 10 {
			t.Fatalf("toll %v: %d, %v", test.toll, blocks, ok)
		}
		found := share(test.want, HigherIsBetter, blocks, test.toll, test.sigma, Variance{})
		t.Logf("toll %v, sigma %v: %d blocks find %s in %.3f", test.toll, test.sigma, blocks, test.want, found)
		if found < 0.65 || found > 0.9 {
			t.Errorf("toll %v, sigma %v: %d blocks find %s in %.3f", test.toll, test.sigma, blocks, test.want, found)
		}
	}
}

func TestBlocksNeededIsMoreThanAtPresent(t *testing.T) {
	if blocks, ok := BlocksNeeded(centreOf(10, 0.5, 0.01), 10, declared(), LowerIsBetter, 0.05); !ok || blocks != 11 {
		t.Errorf("ten blocks with a verdict already: %d, %v", blocks, ok)
	}
}

// Half as far from the margin takes about four times as many blocks, and a verdict that may be
// wrong less often takes more.
func TestBlocksNeededGrowWithTheNoise(t *testing.T) {
	needed := func(toll, noise, rate float64) int {
		blocks, ok := BlocksNeeded(centreOf(10, math.Log1p(toll), noise), 10, declared(), LowerIsBetter, rate)
		if !ok {
			t.Errorf("a toll of %v in noise of %v cannot be decided", toll, noise)
		}
		return blocks
	}
	labtest.Between(t, "two from the margin", needed(0.04, 0.04, 0.05), 33, 38)
	labtest.Between(t, "one from the margin", needed(0.03, 0.04, 0.05), 125, 140)
	labtest.Between(t, "one, in half of the noise", needed(0.03, 0.02, 0.05), 33, 38)
	labtest.Between(t, "two from the margin, wrong in one of 1000", needed(0.04, 0.04, 0.001), 72, 82)
}

// What layouts differ by stays, however many blocks there are.
func TestBlocksNeededWhereLayoutsDiffer(t *testing.T) {
	e := centreOf(10, math.Log1p(0.05), 0.03)
	alone, _ := BlocksNeeded(e, 10, declared(), LowerIsBetter, 0.05)
	beside, ok := BlocksNeeded(e.And(Variance{0.01 * 0.01, 40}), 10, declared(), LowerIsBetter, 0.05)
	labtest.Equal(t, "known", ok, true)
	labtest.MoreThan(t, "blocks where layouts differ by 1 %", beside, alone)
	_, ok = BlocksNeeded(e.And(Variance{0.03 * 0.03, 40}), 10, declared(), LowerIsBetter, 0.05)
	labtest.Equal(t, "known where they differ by 3 %", ok, false)
}

// 1000 blocks are the most that are asked for.
func TestBlocksForEndsAtAThousand(t *testing.T) {
	least, _ := Detectable(0.2, mostBlocks, 0)
	if blocks, ok := BlocksFor(0.2, least, 0); !ok || blocks != mostBlocks {
		t.Errorf("the toll that 1000 blocks find: %d, %t", blocks, ok)
	}
}

func TestBlocksNeededWhereItCannotBeSaid(t *testing.T) {
	for name, e := range map[string]Estimate{
		"too few blocks": centreOf(5, 0.05, 0.03),
		"on the margin":  centreOf(10, math.Log1p(DeclaredMargin), 0.03),
	} {
		if blocks, ok := BlocksNeeded(e, 10, declared(), LowerIsBetter, 0.05); ok || blocks != 0 {
			t.Errorf("%s: %d blocks, %v", name, blocks, ok)
		}
	}
}

// By hand: 95.5 % of six blocks count, and layouts differ by 0.3 %. Together they have the degrees of
// freedom of Satterthwaite, 7 whole ones; Student's t of these is 2.364624 for an interval of 95 %, and
// 0.896030 for four in five.
func TestDetectableBySixBlocks(t *testing.T) {
	noise, usual := 0.02*0.02/(0.955*6), 2*0.003*0.003
	toll, ok := Detectable(0.02, 6, 0)
	labtest.Equal(t, "known", ok, true)
	freedom := (noise + usual) * (noise + usual) / (noise*noise/5 + usual*usual/200)
	labtest.Equal(t, "whole degrees of freedom", math.Floor(freedom), 7)
	labtest.Near(t, "toll", math.Log1p(toll), math.Sqrt(0.75*(noise+usual))*(2.364624+0.896030), 1e-6)
}

func TestDetectableWhereItCannotBeSaid(t *testing.T) {
	for name, test := range map[string]struct {
		spread, declared float64
		blocks           int
	}{
		"too few blocks":  {0.01, 0.02, 5},
		"spread unknown":  {math.NaN(), 0.02, 10},
		"spread endless":  {math.Inf(1), 0.02, 10},
		"spread negative": {-0.01, 0.02, 10},
		"margin negative": {0.01, -0.02, 10},
	} {
		if toll, ok := Detectable(test.spread, test.blocks, test.declared); ok || toll != 0 {
			t.Errorf("%s: %v, %v", name, toll, ok)
		}
	}
}

func TestBlocksFor(t *testing.T) {
	const spread = 0.02
	if blocks, ok := BlocksFor(spread, 0.5, DeclaredMargin); !ok || blocks != MinBlocks {
		t.Errorf("a toll of a half takes %d blocks, %v", blocks, ok)
	}
	if blocks, ok := BlocksFor(spread, 0.01, DeclaredMargin); ok || blocks != 0 {
		t.Errorf("a toll within the declared margin is found in %d blocks", blocks)
	}
	if blocks, ok := BlocksFor(spread, 0.0001, 0); ok || blocks != 0 {
		t.Errorf("a toll far below the noise is found in %d blocks", blocks)
	}
	previous := 0
	for _, toll := range []float64{0.08, 0.045, 0.035, 0.032} {
		blocks, ok := BlocksFor(spread, toll, DeclaredMargin)
		if !ok || blocks <= previous {
			t.Errorf("a toll of %v takes %d blocks, a larger one %d", toll, blocks, previous)
		}
		previous = blocks
	}
}

func TestSpread(t *testing.T) {
	if got, ok := Spread([]float64{1, 3}); !ok || math.Abs(got-math.Sqrt2) > 1e-15 {
		t.Errorf("got %v, %v", got, ok)
	}
	if got, ok := Spread([]float64{1}); ok || got != 0 {
		t.Errorf("of one value: %v, %v", got, ok)
	}
}
