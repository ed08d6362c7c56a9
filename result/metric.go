package result

import "slices"

// Better is the direction in which a metric is better.
type Better string

// The two directions.
const (
	Higher Better = "higher"
	Lower  Better = "lower"
)

// Quantity is a kind of metric: its name, unit and direction.
type Quantity struct {
	Name   string
	Unit   string
	Better Better
}

// Quantities lists every metric that a result can hold.
func Quantities() []Quantity {
	return []Quantity{
		{"throughput", "bit/s", Higher}, // goodput at the receiver
		{"throughput_min", "bit/s", Higher},
		{"throughput_max", "bit/s", Higher},
		{"throughput_cv", "ratio", Lower},
		{"fairness", "ratio", Higher}, // among the flows of one window
		{"rate", "1/s", Higher},
		{"offered_rate", "1/s", Higher},
		{"rtt_p50", "s", Lower},
		{"rtt_p90", "s", Lower},
		{"rtt_p99", "s", Lower},
		{"rtt_p999", "s", Lower},
		{"rtt_mean", "s", Lower},
		{"time_per_message", "s", Lower},
		{"time_per_byte", "s", Lower},
		{"latency_one_way", "s", Lower},
		{"latency_mean", "s", Lower},
		{"latency_p50", "s", Lower},
		{"latency_p90", "s", Lower},
		{"latency_p95", "s", Lower},
		{"latency_p99", "s", Lower},
		{"latency_p999", "s", Lower},
		{"latency_lifecycle", "s", Lower}, // of a container without a network
		{"latency_network", "s", Lower},   // the network's share
		{"latency_remove", "s", Lower},
		{"rpm", "rpm", Higher}, // round trips a minute
		{"loss", "ratio", Lower},
		{"sender_drops", "count", Lower},
		{"jitter", "s", Lower},
		{"jitter_p50", "s", Lower}, // RFC 5481 PDV
		{"jitter_p99", "s", Lower},
		{"retransmits", "count", Lower},
		{"cpu_per_gbit", "s", Lower},
		{"cpu_per_transaction", "s", Lower},
	}
}

// QuantityOf finds a metric by name.
func QuantityOf(name string) (Quantity, bool) {
	return First(Quantities(), func(q Quantity) bool { return q.Name == name })
}

// Judged reports whether networks are judged by a metric: by rates and medians,
// not by tails, counts and costs.
func Judged(metric string) bool {
	return slices.Contains([]string{"throughput", "rate", "rtt_p50", "latency_p50"}, metric)
}
