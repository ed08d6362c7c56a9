package weigh

import (
	"slices"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// addPooled adds the percentiles for which no window of a cell that makes
// containers holds enough, from the operations of all its windows. They have their
// own interval, count operations and have no toll: no block has a value
// to be paired.
func addPooled(cell *result.Cell) {
	if kind, known := catalog.FindWorkload(cell.Workload); !known || !kind.MakesContainers() {
		return
	}
	var latencies []float64
	for _, s := range cell.Samples {
		latencies = append(latencies, s.Series["latency"]...)
	}
	for _, p := range []struct {
		name string
		q    float64
	}{{"latency_p90", 0.9}, {"latency_p99", 0.99}, {"latency_p999", 0.999}} {
		at, ok := stats.Quantile(latencies, p.q)
		has := slices.ContainsFunc(cell.Metrics, func(m result.Metric) bool { return m.Name == p.name })
		if has || !ok {
			continue
		}
		quantity, _ := result.QuantityOf(p.name)
		m := result.Metric{
			Name: p.name, Unit: quantity.Unit, Better: quantity.Better, N: len(latencies), Value: at.Value,
			Warnings: []string{},
		}
		m.Low, m.High = ends(at)
		cell.Metrics = append(cell.Metrics, m)
	}
	order := result.Quantities()
	slices.SortStableFunc(cell.Metrics, func(a, b result.Metric) int {
		place := func(m result.Metric) int {
			return slices.IndexFunc(order, func(q result.Quantity) bool { return q.Name == m.Name })
		}
		return place(a) - place(b)
	})
}
