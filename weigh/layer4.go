package weigh

import (
	"slices"

	"tare/catalog"
	"tare/result"
)

// predictApplications adds to every application's toll what the network's layer 4
// predicts of it: a transaction waits for one round trip and for its bytes, and both
// take longer by what the bare workloads measured in the same blocks. One whose messages
// are datagrams waits for the round trip alone.
func predictApplications(groups []*Group) {
	for _, g := range groups {
		kind, _ := catalog.FindWorkload(g.Workload)
		if !kind.Application() || g.Params.Number("rate") > 0 {
			continue // an open loop waits for nothing
		}
		trips, carries := kind.Below()
		rr, bulk := groupUnder(groups, g, trips), groupUnder(groups, g, carries)
		if rr == nil || bulk == nil && carries != "" {
			continue
		}
		for _, cell := range g.Cells {
			if cell == g.Baseline {
				continue
			}
			waits, ok := addedTrip(rr.Counterpart(cell, cell.Network))
			if ok && bulk != nil {
				waits.Bytes, ok = addedByBytes(bulk.Counterpart(cell, cell.Network), cell)
			}
			if !ok {
				continue
			}
			for i := range cell.Metrics {
				cell.Metrics[i].Layer4 = predict(cell.Metrics[i], waits, cell.Params.AtOnce())
			}
		}
	}
}

// groupUnder finds the group of another workload on the same path of the same lab;
// nil: there is none.
func groupUnder(groups []*Group, g *Group, name string) *Group {
	lab := g.OfLab()
	n := slices.IndexFunc(groups, func(other *Group) bool { return other.Workload == name && other.OfLab() == lab })
	if n < 0 {
		return nil
	}
	return groups[n]
}

// addedTrip is by how much longer a transaction waits than on the baseline, in
// seconds, by what the round trips of the same network cost.
func addedTrip(rr *result.Cell) (waits result.Layer4, ok bool) {
	if rr == nil || rr.Network == catalog.Baseline {
		return waits, false
	}
	trip := Metric(rr, "rtt_p50")
	if trip == nil || trip.Toll == nil {
		return waits, false
	}
	waits.RoundTrip = trip.Toll.Delta.Value
	return waits, true
}

// addedByBytes is the same by what the bulk of the same network costs.
func addedByBytes(bulk, application *result.Cell) (seconds float64, ok bool) {
	if bulk == nil {
		return 0, false
	}
	throughput := Metric(bulk, "throughput")
	if throughput == nil || throughput.Baseline == nil || throughput.Value <= 0 || throughput.Baseline.Value <= 0 {
		return 0, false
	}
	return 8 * application.Params.Number("size") * (1/throughput.Value - 1/throughput.Baseline.Value), true
}

// predict turns longer waits into the toll of a metric: a time grows by them,
// and each connection of a closed loop has fewer transactions by them. nil: the
// metric is not about the usual transaction.
func predict(m result.Metric, waits result.Layer4, connections float64) *result.Layer4 {
	if m.Toll == nil || m.Baseline == nil || m.Baseline.Value <= 0 {
		return nil
	}
	longer := waits.RoundTrip + waits.Bytes
	switch m.Name {
	case "latency_mean", "latency_p50":
		waits.Predicted = longer / m.Baseline.Value
	case "rate":
		each := connections / m.Baseline.Value
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
