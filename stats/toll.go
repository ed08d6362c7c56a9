package stats

import "math"

// Direction is which way a metric is better.
type Direction int

// The two directions.
const (
	HigherIsBetter Direction = iota
	LowerIsBetter
)

// Block is what one block measured of one metric: the value of the cell and of
// its baselines, all in one unit. NaN is a value that is missing.
type Block struct {
	Cell      float64
	Baselines []float64 // one or two
}

// LogRatio is the logarithm of the cell over the geometric mean of its
// baselines. ok is false where a value is missing, zero, negative or infinite,
// and where there is no baseline: such a block compares nothing.
func (b Block) LogRatio() (ratio float64, ok bool) {
	if notPositive(b.Cell) || len(b.Baselines) == 0 {
		return 0, false
	}
	sum := 0.0
	for _, baseline := range b.Baselines {
		if notPositive(baseline) {
			return 0, false
		}
		sum += math.Log(baseline)
	}
	return math.Log(b.Cell) - sum/float64(len(b.Baselines)), true
}

// LogRatios are the log ratios of the blocks that have one, in their order.
// Those left out are len(blocks) - len(LogRatios(blocks)); the caller reports them.
func LogRatios(blocks []Block) []float64 {
	ratios := make([]float64, 0, len(blocks))
	for _, block := range blocks {
		if ratio, ok := block.LogRatio(); ok {
			ratios = append(ratios, ratio)
		}
	}
	return ratios
}

// Toll is what a network costs, as a ratio of the baseline; positive is worse.
// With r the exponential of the Hodges-Lehmann estimate it is 1 - r where
// higher is better and r - 1 where lower is better: a toll of 0.1 is a tenth
// less throughput, or a tenth more latency. ok is as for HodgesLehmann.
//
// Noise that is skewed in its logarithm is not undone by the mean of two
// baselines, which is less skewed than the cell. Simulated, the interval of
// ten blocks still covers 93 to 96 %; of fifty it covers 89 % where the skew is
// strong (log-normal with sigma 1), since it is then narrow about a centre
// that is off by a small part of the noise.
func Toll(logRatios []float64, direction Direction) (Interval, bool) {
	centre, ok := HodgesLehmann(logRatios)
	return direction.toll(centre), ok
}

// Of is the toll of one log ratio.
func (d Direction) Of(logRatio float64) float64 {
	return d.toll(around(logRatio, 0)).Value
}

// toll turns a log ratio with its interval into a toll.
func (d Direction) toll(logRatio Interval) Interval {
	change := logRatio.through(math.Expm1)
	if d == LowerIsBetter {
		return change
	}
	return change.mirrored()
}
