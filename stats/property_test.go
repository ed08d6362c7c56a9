package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func values() *rapid.Generator[[]float64] {
	return rapid.SliceOfN(rapid.Float64Range(-100, 100), 1, 40)
}

func ordered(i Interval) bool { return i.Low <= i.Value && i.Value <= i.High }

// moved reports whether got is i taken through f, to rounding.
func moved(i, got Interval, f func(float64) float64) bool {
	near := func(x, y float64) bool { return x == y || math.Abs(x-y) < 1e-6 }
	return near(f(i.Value), got.Value) && near(f(i.Low), got.Low) && near(f(i.High), got.High)
}

func TestHodgesLehmannProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := values().Draw(t, "x")
		shift := rapid.Float64Range(-1000, 1000).Draw(t, "shift")
		scale := rapid.Float64Range(0.01, 100).Draw(t, "scale")
		centre, ok := HodgesLehmann(x)
		if ok != (len(x) >= MinBlocks) {
			t.Fatalf("ok = %v of %d values", ok, len(x))
		}
		if !ordered(centre) || centre.Value < slices.Min(x) || centre.Value > slices.Max(x) {
			t.Fatalf("%v of %v", centre, x)
		}
		linear := func(v float64) float64 { return scale*v + shift }
		mapped := make([]float64, len(x))
		negated := make([]float64, len(x))
		for i, v := range x {
			mapped[i], negated[i] = linear(v), -v
		}
		if got, _ := HodgesLehmann(mapped); !moved(centre, got, linear) {
			t.Fatalf("%v through %v x + %v gives %v", centre, scale, shift, got)
		}
		if got, _ := HodgesLehmann(negated); got != centre.mirrored() {
			t.Fatalf("negated, %v becomes %v", centre, got)
		}
		shuffled := rapid.Permutation(x).Draw(t, "shuffled")
		if got, _ := HodgesLehmann(shuffled); got != centre {
			t.Fatalf("the order changes %v to %v", centre, got)
		}
	})
}

func TestTollAndLocationProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ratios := values().Draw(t, "ratios")
		higher, _ := Toll(ratios, HigherIsBetter)
		lower, _ := Toll(ratios, LowerIsBetter)
		if !ordered(higher) || !ordered(lower) {
			t.Fatalf("tolls %v, %v", higher, lower)
		}
		if higher != lower.mirrored() || higher.High > 1 || lower.Low < -1 {
			t.Fatalf("tolls %v, %v", higher, lower)
		}
		for _, positive := range []bool{false, true} {
			if where, _ := Location(ratios, positive); !ordered(where) {
				t.Fatalf("location %v", where)
			}
		}
	})
}

func TestJudgeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ends := rapid.SliceOfN(rapid.Float64Range(-1, 1), 3, 3).Draw(t, "ends")
		slices.Sort(ends)
		toll := Interval{Value: ends[1], Low: ends[0], High: ends[2]}
		declared := rapid.Float64Range(0, 0.5).Draw(t, "declared")
		margins := Margins{Declared: declared, Least: declared + rapid.Float64Range(0, 0.5).Draw(t, "more")}
		mirror := map[Verdict]Verdict{Slower: Faster, Faster: Slower, Equal: Equal, Inconclusive: Inconclusive}
		got := Judge(toll, margins)
		if back := Judge(toll.mirrored(), margins); back != mirror[got] {
			t.Fatalf("%v is %s, and mirrored %s", toll, got, back)
		}
		noisier := Margins{Declared: margins.Declared, Least: margins.Least + 0.1}
		if after := Judge(toll, noisier); after != got && after != Inconclusive {
			t.Fatalf("baselines that differ more turn %s into %s", got, after)
		}
	})
}

func TestRatioOfSumsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		positive := rapid.SliceOfN(rapid.Float64Range(0.1, 100), n, n)
		cost, work := positive.Draw(t, "cost"), positive.Draw(t, "work")
		scale := rapid.Float64Range(0.01, 100).Draw(t, "scale")
		ratio, ok := RatioOfSums(cost, work)
		if ok != (n >= MinBlocks) || !ordered(ratio) {
			t.Fatalf("%v, %v of %d blocks", ratio, ok, n)
		}
		scaled := make([]float64, n)
		for i, c := range cost {
			scaled[i] = c * scale
		}
		got, _ := RatioOfSums(scaled, work)
		want := ratio.through(func(x float64) float64 { return x * scale })
		if ok && !close(got, want, 1e-6) {
			t.Fatalf("scaled by %v, %v becomes %v", scale, ratio, got)
		}
	})
}

func TestDetectableProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spread := rapid.Float64Range(0, 0.2).Draw(t, "spread")
		declared := rapid.Float64Range(0, 0.1).Draw(t, "declared")
		blocks := rapid.IntRange(MinBlocks, 80).Draw(t, "blocks")
		toll, ok := Detectable(spread, blocks, declared)
		if !ok || toll < declared*(1-1e-12) {
			t.Fatalf("toll %v, %v with a declared margin of %v", toll, ok, declared)
		}
		if noisier, _ := Detectable(spread+0.01, blocks, declared); noisier <= toll {
			t.Fatalf("more spread lowers %v to %v", toll, noisier)
		}
		least, ok := BlocksFor(spread, toll, declared)
		if !ok || least > blocks {
			t.Fatalf("toll %v takes %d blocks, but %d find it", toll, least, blocks)
		}
		if found, _ := Detectable(spread, least, declared); found > toll {
			t.Fatalf("%d blocks find %v, not %v", least, found, toll)
		}
	})
}
