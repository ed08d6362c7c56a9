package diagnose

import (
	"fmt"
	"slices"

	"tare/result"
)

const (
	// collapsed is by which share of its maximum the received rate must have fallen, at
	// twice the load at which loss begins, for a collapse.
	collapsed = 0.1
	// collapseSoftirq is the share of a CPU's time at the highest load.
	collapseSoftirq = 0.3
)

// softirqCollapse finds a receiver that receives less the more is sent to it, since
// softirqs leave its application no time to read packets (receive livelock: Mogul
// and Ramakrishnan, 1997).
func softirqCollapse() Rule {
	return Rule{
		ID: "softirq-collapse",
		Match: func(e *Evidence) []result.Finding {
			lost := e.mean("collapse")
			cpu, share := e.busiest("softirq_cpu")
			if lost < collapsed || share < collapseSoftirq {
				return nil
			}
			return []result.Finding{{
				Cause: fmt.Sprintf("at twice the load at which loss begins %s receives %.0f %% less than its maximum: CPU %d spends %.0f %% of its time in softirqs", e.Server, 100*lost, cpu, 100*share),
				Evidence: []result.Evidence{
					{Name: "knee (1/s)", Value: e.mean("knee"), Source: "this result"},
					{Name: "received at most (1/s)", Value: e.mean("received_most"), Source: "this result"},
					{Name: "received at twice the knee (1/s)", Value: e.mean("received_at_twice_knee"), Source: "this result"},
					{Name: fmt.Sprintf("cpu%d.softirq, share of its time", cpu), Value: share, Source: cpuTimes},
				},
				Fix: e.run(hostOf(e.Server), "sh -c 'echo MASK > /sys/class/net/eth0/queues/rx-0/rps_cpus'") +
					fmt.Sprintf("  # a mask without CPU %d, or keep senders below %.0f packets/s", cpu, e.mean("knee")),
				Confidence: 0.85,
			}}
		},
	}
}

// busiest is the CPU whose series, of a name that ends in its number, rises
// highest, on the average over the samples.
func (e *Evidence) busiest(name string) (cpu int, share float64) {
	for n := 0; ; n++ {
		var sum, steps float64
		for _, s := range e.Cell.Samples {
			if series := s.Series[fmt.Sprintf("%s%d", name, n)]; len(series) > 0 {
				sum, steps = sum+slices.Max(series), steps+1
			}
		}
		if steps == 0 {
			return cpu, share
		}
		if mean := sum / steps; mean > share {
			cpu, share = n, mean
		}
	}
}
