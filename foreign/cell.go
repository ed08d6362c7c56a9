package foreign

import (
	"slices"

	"tare/result"
)

// The sides and directions of a run; nil in a param where the text has none.
const (
	client  = "client"
	server  = "server"
	forward = "forward" // client to server
	reverse = "reverse"
	bidir   = "bidir"
)

// builder makes the cell of one run.
type builder struct {
	cell   result.Cell
	sample result.Sample
	basis  basis
}

// newRun begins the cell of a run. The params named are there from the start,
// as nil: unknown.
func newRun(tool, workload string, params ...string) *builder {
	b := &builder{cell: result.Cell{Workload: workload, Mode: tool, Status: result.StatusOK, Params: result.Params{}}}
	for _, name := range append([]string{"tool_version", "side"}, params...) {
		b.cell.Params[name] = nil
	}
	b.cell.Params["tool"] = tool
	b.cell.Metrics, b.cell.Findings = []result.Metric{}, []result.Finding{}
	b.sample = result.Sample{Metrics: map[string]float64{}, Series: map[string][]float64{}, Counters: map[string]float64{}, Warnings: []string{}}
	return b
}

// newStream begins a bulk transfer over a protocol; "" where the text does not
// name it.
func newStream(tool, protocol string) *builder {
	workload := ""
	if protocol != "" {
		workload = protocol + "_stream"
	}
	b := newRun(tool, workload, "direction", "flows", "size", "rate", "duration")
	if protocol != "udp" {
		b.cell.Params["cc"] = nil
	}
	return b
}

// newPair begins a run of request and response on a connection.
func newPair(tool, workload string) *builder {
	return newRun(tool, workload, "flows", "size", "rate", "duration")
}

// param notes what a run was made with; what is known stays.
func (b *builder) param(name string, value any) {
	if f, ok := value.(float64); ok && !sound(f) {
		return
	}
	if value != nil && b.cell.Params[name] == nil {
		b.cell.Params[name] = value
	}
}

// known notes a parameter that the text may lack: then it is empty or not above 0.
func (b *builder) known(name string, value any) {
	if n, isInt := value.(int); isInt && n <= 0 || value == 0.0 || value == "" {
		return
	}
	b.param(name, value)
}

// metric notes a number of a name in result.Quantities, in its unit. The
// warnings belong to it.
func (b *builder) metric(name string, value float64, warnings ...string) {
	q, known := result.QuantityOf(name)
	if !known || !sound(value) {
		return
	}
	if _, found := b.sample.Metrics[name]; found {
		return
	}
	b.sample.Metrics[name] = value
	b.cell.Metrics = append(b.cell.Metrics, result.Metric{
		Name: q.Name, Unit: q.Unit, Better: q.Better, N: 1, Value: value, Warnings: append([]string{}, warnings...),
	})
}

// counter notes a number that is no metric.
func (b *builder) counter(name string, value float64) {
	if sound(value) {
		b.sample.Counters[name] = value
	}
}

// time notes a latency or a round trip in seconds: a metric where there is one, else a counter.
func (b *builder) time(name string, value float64) {
	if _, known := result.QuantityOf(name); known {
		b.metric(name, value)
	} else {
		b.counter(name, value)
	}
}

// series notes a value per interval.
func (b *builder) series(name string, points []float64) {
	if len(points) > 0 && !slices.ContainsFunc(points, func(v float64) bool { return !sound(v) }) {
		b.sample.Series[name] = points
	}
}

// warn notes what touches the whole run.
func (b *builder) warn(text string) {
	if text != "" && !slices.Contains(b.sample.Warnings, text) {
		b.sample.Warnings = append(b.sample.Warnings, text)
	}
}

// fail notes that the tool gave up, in its own words; empty: it did not.
func (b *builder) fail(reason string) {
	if reason != "" && b.cell.Status == result.StatusOK {
		b.cell.Status, b.cell.Reason = result.StatusFailed, reason
	}
}

// done returns the cell.
func (b *builder) done() result.Cell {
	b.check()
	if b.cell.Status == result.StatusOK && len(b.sample.Metrics)+len(b.sample.Counters)+len(b.sample.Warnings) == 0 {
		b.warn("no figures: the lines that have them were not understood")
	}
	slices.SortStableFunc(b.cell.Metrics, func(a, c result.Metric) int { return rank(a.Name) - rank(c.Name) })
	b.cell.Samples = []result.Sample{b.sample}
	return b.cell
}

// rank is a metric's place in result.Quantities.
func rank(name string) int {
	return slices.IndexFunc(result.Quantities(), func(q result.Quantity) bool { return q.Name == name })
}
