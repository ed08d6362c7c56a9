package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// LeastSide is how many values a change has on each side of it: fewer are an outlier.
const LeastSide = 3

// shuffles is how many orders the chance of a change is estimated from.
const shuffles = 20_000

// ChangePoint is where a series changes: At is the first value after it.
type ChangePoint struct {
	At     int
	Chance float64 // of as clear a change somewhere in the series, were there none
}

// ChangeFinder finds where series change their level. It keeps what it has simulated for each
// length. Its zero value can be used.
type ChangeFinder struct {
	nulls map[int][]float64 // by length: the statistic of series without a change, in rising order
}

// Find finds the changes of a series, in order. The statistic is the rank sum of the values before a
// place against those after it, standardised, at the place where it is largest (Pettitt, 1979,
// standardised as of James, James and Siegmund, 1987); its chance is that among random orders.
// Where it is at most the rate, the parts on both sides are looked at in the same way (binary
// segmentation, Scott and Knott, 1974). At last each place is chosen again between its neighbours,
// and those are dropped that are no change there.
//
// A series without a change has any with the chance of the rate at most, however many places are
// looked at, if its values are independent and of one distribution, whatever it is; see inflation for
// values that are not independent. An outlier is no change. A series that holds NaN or an infinity has none.
func (f *ChangeFinder) Find(x []float64, rate float64) []ChangePoint {
	if slices.ContainsFunc(x, notFinite) {
		return nil
	}
	var places []int
	inflated := f.inflation(x)
	f.divide(x, 0, rate, inflated, &places)
	slices.Sort(places)
	for {
		found, worst := f.between(x, places, inflated)
		if worst < 0 || found[worst].Chance <= rate {
			return found
		}
		places = slices.Delete(places, worst, worst+1)
	}
}

// Chance is that of as clear a change somewhere in a series, were there none: 1 where one is NaN or
// infinite, or where all are the same.
func (f *ChangeFinder) Chance(x []float64) float64 {
	if slices.ContainsFunc(x, notFinite) {
		return 1
	}
	_, size := clearest(x)
	return f.chance(len(x), size/f.inflation(x))
}

// between chooses each place again between its neighbours. worst is the least clear; -1: there are none.
func (f *ChangeFinder) between(x []float64, places []int, inflated float64) (found []ChangePoint, worst int) {
	worst = -1
	for n := range places {
		from, to := 0, len(x)
		if n > 0 {
			from = places[n-1]
		}
		if n+1 < len(places) {
			to = places[n+1]
		}
		at, size := clearest(x[from:to]) // where nothing changes at all, size is 0
		c := ChangePoint{from + at, f.chance(to-from, size/inflated)}
		if found = append(found, c); worst < 0 || c.Chance > found[worst].Chance {
			worst = n
		}
	}
	return found, worst
}

// FalseRate is the rate at which changes of several series are found, so that a run in which none
// has a change has one with the given chance at most, and of those found that part at most is
// false (Benjamini and Hochberg, 1995). chances are those of the series. Zero: none has a change.
func FalseRate(chances []float64, rate float64) float64 {
	sorted := slices.Sorted(slices.Values(chances))
	for n := len(sorted); n > 0; n-- {
		if at := rate * float64(n) / float64(len(sorted)); sorted[n-1] <= at {
			return at
		}
	}
	return 0
}

func (f *ChangeFinder) divide(x []float64, from int, rate, inflated float64, places *[]int) {
	at, size := clearest(x)
	if at == 0 || f.chance(len(x), size/inflated) > rate {
		return
	}
	*places = append(*places, from+at)
	f.divide(x[:at], from, rate, inflated, places)
	f.divide(x[at:], from+at, rate, inflated, places)
}

// clearest is the place at which a series changes most clearly, and how clearly; 0: it is too short, or
// all its values are the same.
func clearest(x []float64) (at int, size float64) {
	n := len(x)
	if n < 2*LeastSide {
		return 0, 0
	}
	ranks, ties := midRanks(x)
	spread := float64(n+1) - ties/float64(n*(n-1))
	if spread <= 0 {
		return 0, 0
	}
	return largest(ranks, spread)
}

// firstLook is the rate at which changes are taken out of a series to see how its values follow each other.
const firstLook = 0.05

// inflation is by how much the statistic of a series is too large where its values follow each other closely
// (of an autoregression of first order, sqrt((1+r)/(1-r)); Lund and others, 2007). r is that of the ranks less
// the mean of their part, between the changes that a first look finds, where it is more than chance; else the
// inflation is 1, and a series of a few tens of values may pass for independent that is not.
func (f *ChangeFinder) inflation(x []float64) float64 {
	var places []int
	f.divide(x, 0, firstLook, 1, &places)
	slices.Sort(places)
	ranks, _ := midRanks(x)
	products, squares, before, from := 0.0, 0.0, 0.0, 0
	for _, to := range append(places, len(x)) {
		mean := sum(ranks[from:to]) / float64(to-from)
		for _, rank := range ranks[from:to] {
			rest := rank - mean
			products, squares, before = products+before*rest, squares+rest*rest, rest
		}
		from = to
	}
	r := products / squares
	if !(r > 2/math.Sqrt(float64(len(x)))) {
		return 1
	}
	return math.Sqrt((1 + r) / (1 - min(r, 0.99)))
}

// largest is the place before which the ranks are most unlike those after it.
func largest(ranks []float64, spread float64) (at int, size float64) {
	n, sum := len(ranks), 0.0
	for k := 1; k <= n-LeastSide; k++ {
		sum += ranks[k-1] - float64(n+1)/2
		if k < LeastSide {
			continue
		}
		if z := math.Abs(sum) / math.Sqrt(float64(k*(n-k))*spread/12); z > size {
			at, size = k, z
		}
	}
	return at, size
}

// midRanks are the ranks of values, and the sum of t^3-t over those that are tied.
func midRanks(x []float64) (ranks []float64, ties float64) {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	ranks = make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for _, one := range order[i:j] {
			ranks[one] = float64(i+j+1) / 2
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	return ranks, ties
}

// chance is that of a statistic as large in a series of n values without a change.
func (f *ChangeFinder) chance(n int, size float64) float64 {
	null, known := f.nulls[n]
	if !known {
		null = simulated(n)
		if f.nulls == nil {
			f.nulls = map[int][]float64{}
		}
		f.nulls[n] = null
	}
	below, _ := slices.BinarySearch(null, size-1e-9)
	return float64(1+len(null)-below) / float64(1+len(null))
}

// simulated is the statistic of n values in random orders. The seed is fixed: what is found in
// a file is found in it again.
func simulated(n int) []float64 {
	random := rand.New(rand.NewPCG(uint64(n), 1979))
	ranks := make([]float64, n)
	for i := range ranks {
		ranks[i] = float64(i + 1)
	}
	sizes := make([]float64, shuffles)
	for i := range sizes {
		random.Shuffle(n, func(a, b int) { ranks[a], ranks[b] = ranks[b], ranks[a] })
		_, sizes[i] = largest(ranks, float64(n+1))
	}
	slices.Sort(sizes)
	return sizes
}
