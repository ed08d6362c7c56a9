package result

// Growth is how a metric of a network grows with one of its parameters, on one path under one
// workload.
type Growth struct {
	Axis     string        `json:"axis"` // "services"
	Network  string        `json:"network"`
	Settings Settings      `json:"settings,omitempty"` // the network's other parameters
	Path     string        `json:"path"`
	Workload string        `json:"workload"`
	Mode     string        `json:"mode"`
	Metric   string        `json:"metric"` // of a rate latency_mean: the mean time of one
	Unit     string        `json:"unit"`
	Points   []GrowthPoint `json:"points"` // in rising order
	Blocks   int           `json:"blocks"` // that have all points
	// Shape is "constant", "logarithmic", "linear", or "bent" at one of the points.
	Shape string `json:"shape"`
	// Slope is per unit of the axis, or per doubling where it is logarithmic; of a bent
	// growth the slope up to the bend, of a constant one what remains possible.
	Slope  Span    `json:"slope"`
	Bend   float64 `json:"bend,omitempty"`
	Beyond *Span   `json:"beyond,omitempty"` // the slope beyond the bend
}

// GrowthPoint is the metric at one value of the axis.
type GrowthPoint struct {
	At    float64  `json:"at"`
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// Span is a value with its 95 % interval.
type Span struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}
