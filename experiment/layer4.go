package experiment

import (
	"slices"

	"tare/network"
	"tare/result"
	"tare/workload"
)

// What explains an application's toll.
const (
	layer4RoundTrip = "tcp_rr"
	layer4Bulk      = "tcp_stream"
)

// explain says of every application's toll what the network's layer 4 predicts:
// a transaction waits for one round trip and for its bytes, and both take
// longer by what the bare workloads measured in the same blocks.
func (r *runner) explain() {
	for n, g := range r.groups {
		if kind, _ := workload.Find(g.workload.Name); !kind.Application() || g.workload.Rate.Value > 0 {
			continue // an open loop waits for nothing
		}
		rr, bulk := r.beside(g, layer4RoundTrip), r.beside(g, layer4Bulk)
		if rr < 0 || bulk < 0 {
			continue
		}
		for _, c := range g.cells {
			if c.layout != "" {
				continue
			}
			cell := r.cells[keyOf(n, c)]
			waits, ok := added(r.cells[keyOf(rr, c)], r.cells[keyOf(bulk, c)], cell)
			if !ok {
				continue
			}
			for i := range cell.Metrics {
				cell.Metrics[i].Layer4 = predict(cell.Metrics[i], waits, runOf(r.plan, g.workload).Flows)
			}
		}
	}
}

// beside finds the group of a workload in which the same places stand; -1: there
// is none.
func (r *runner) beside(g group, name string) int {
	return slices.IndexFunc(r.groups, func(other group) bool {
		return other.workload.Name == name && other.path == g.path && other.nic == g.nic
	})
}

// added is by how much longer a transaction waits than on the baseline, in
// seconds, by what the round trips and the bulk of the same network cost.
func added(rr, bulk, application *result.Cell) (waits result.Layer4, ok bool) {
	trip, ok1 := metricNamed(rr, "rtt_p50")
	throughput, ok2 := metricNamed(bulk, "throughput")
	if !ok1 || !ok2 || trip.Toll == nil || throughput.Baseline == nil || throughput.Value <= 0 || throughput.Baseline.Value <= 0 {
		return waits, false
	}
	size, _ := application.Params["size"].(int)
	waits.RoundTrip = trip.Toll.Delta.Value
	waits.Bytes = float64(8*size) * (1/throughput.Value - 1/throughput.Baseline.Value)
	return waits, true
}

// predict turns longer waits into the toll of a metric: a time grows by them,
// and each connection of a closed loop has fewer transactions by them. nil: the
// metric is not about the usual transaction.
func predict(m result.Metric, waits result.Layer4, connections int) *result.Layer4 {
	if m.Toll == nil || m.Baseline == nil || m.Baseline.Value <= 0 {
		return nil
	}
	longer := waits.RoundTrip + waits.Bytes
	switch m.Name {
	case "latency_mean", "latency_p50":
		waits.Predicted = longer / m.Baseline.Value
	case "rate":
		each := float64(connections) / m.Baseline.Value
		if each+longer <= 0 {
			return nil
		}
		waits.Predicted = longer / (each + longer)
	default:
		return nil
	}
	waits.Rest = m.Toll.Value - waits.Predicted
	return &waits
}

func metricNamed(cell *result.Cell, name string) (result.Metric, bool) {
	if cell == nil || cell.Network == network.Baseline {
		return result.Metric{}, false
	}
	at := slices.IndexFunc(cell.Metrics, func(m result.Metric) bool { return m.Name == name })
	if at < 0 {
		return result.Metric{}, false
	}
	return cell.Metrics[at], true
}
