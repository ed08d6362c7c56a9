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
		spread := test.sigma * math.Sqrt(1.5)
		ratios := sample(10, math.Log(1-test.toll), spread)
		layout, _ := Toll(sample(10, 0, test.sigma*math.Sqrt2), HigherIsBetter)
		margins := Margins{Declared: DeclaredMargin, AA: layout}
		now, _ := Toll(ratios, HigherIsBetter)
		if got := Judge(now, margins); got != Inconclusive {
			t.Fatalf("toll %v is %s from the start", test.toll, got)
		}
		blocks, ok := BlocksNeeded(ratios, margins, HigherIsBetter)
		if !ok || blocks <= 10 {
			t.Fatalf("toll %v: %d, %v", test.toll, blocks, ok)
		}
		found := share(test.want, HigherIsBetter, blocks, test.toll, test.sigma)
		t.Logf("toll %v, sigma %v: %d blocks find %s in %.3f", test.toll, test.sigma, blocks, test.want, found)
		if found < 0.65 || found > 0.9 {
			t.Errorf("toll %v, sigma %v: %d blocks find %s in %.3f", test.toll, test.sigma, blocks, test.want, found)
		}
	}
}

func TestBlocksNeededIsMoreThanAtPresent(t *testing.T) {
	margins := Margins{Declared: DeclaredMargin, AA: around(0, 0.01)}
	if blocks, ok := BlocksNeeded(sample(10, 0.5, 0.01), margins, LowerIsBetter); !ok || blocks != 11 {
		t.Errorf("ten blocks with a verdict already: %d, %v", blocks, ok)
	}
}

// Half as far from the margin takes about four times as many blocks.
func TestBlocksNeededGrowWithTheNoise(t *testing.T) {
	needed := func(toll, noise float64) int {
		margins := Margins{Declared: DeclaredMargin, AA: around(0, noise/4)}
		blocks, ok := BlocksNeeded(sample(10, math.Log1p(toll), noise), margins, LowerIsBetter)
		if !ok {
			t.Errorf("a toll of %v in noise of %v cannot be decided", toll, noise)
		}
		return blocks
	}
	labtest.Between(t, "two from the margin", needed(0.04, 0.04), 34, 38)
	labtest.Between(t, "one from the margin", needed(0.03, 0.04), 130, 140)
	labtest.Between(t, "one, in half of the noise", needed(0.03, 0.02), 34, 38)
	// What the A/A comparison shows is divided by as many blocks: a margin of 5 % of today.
	wide := Margins{Declared: DeclaredMargin, AA: around(0, 0.05)}
	blocks, ok := BlocksNeeded(sample(10, math.Log1p(0.04), 0.02), wide, LowerIsBetter)
	if !ok || blocks < 20 || blocks > 30 {
		t.Errorf("a toll of 4 %% in an A/A margin of 5 %%: %d, %t", blocks, ok)
	}
}

// 1000 blocks are the most that are asked for.
func TestBlocksForEndsAtAThousand(t *testing.T) {
	least, _ := Detectable(0.02, mostBlocks, 0)
	if blocks, ok := BlocksFor(0.02, least, 0); !ok || blocks != mostBlocks {
		t.Errorf("the toll that 1000 blocks find: %d, %t", blocks, ok)
	}
}

func TestBlocksNeededWhereItCannotBeSaid(t *testing.T) {
	quiet := Margins{Declared: DeclaredMargin, AA: around(0, 0.01)}
	tooFew, _ := Toll([]float64{0}, LowerIsBetter)
	for name, test := range map[string]struct {
		ratios  []float64
		margins Margins
	}{
		"too few blocks":     {sample(5, 0.05, 0.03), quiet},
		"on the margin":      {sample(10, math.Log1p(DeclaredMargin), 0.03), quiet},
		"too few A/A blocks": {sample(10, 0.05, 0.03), Margins{DeclaredMargin, tooFew}},
	} {
		if blocks, ok := BlocksNeeded(test.ratios, test.margins, LowerIsBetter); ok || blocks != 0 {
			t.Errorf("%s: %d blocks, %v", name, blocks, ok)
		}
	}
}

// By hand: 95.5 % of six blocks count, 1/64 lies beyond each end of their interval, Student's t of
// five degrees of freedom is 2.967420 there, and 0.919544 for four in five.
func TestDetectableBySixBlocks(t *testing.T) {
	deviation := 0.02 / math.Sqrt(0.955*6)
	toll, ok := Detectable(0.02, 6, 0)
	labtest.Equal(t, "known", ok, true)
	labtest.Near(t, "toll", math.Log1p(toll), deviation*(2.967420+math.Sqrt(0.75)*(2.967420+0.919544)), 1e-7)
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
	for _, toll := range []float64{0.08, 0.04, 0.03, 0.025} {
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

// What is computed once for so many blocks is what is computed for any other number.
func TestPrecisionIsTheSameFromTheTable(t *testing.T) {
	for _, blocks := range []int{MinBlocks, MinBlocks + 1, exactBlocks, mostBlocks, mostBlocks + 1} {
		halfWidth, reach := precision(blocks)
		wantHalf, wantReach := precisionOf(blocks)
		labtest.Equal(t, "half-width", halfWidth, wantHalf)
		labtest.Equal(t, "reach", reach, wantReach)
	}
}
