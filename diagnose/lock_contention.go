package diagnose

import (
	"fmt"

	"tare/result"
)

// lockWaits is the least share of the path's CPU time spent waiting for locks from
// which locks limit the path.
const lockWaits = 0.1

// lockContention finds CPUs that wait for each other.
func lockContention() Rule {
	return Rule{
		ID: "lock-contention",
		Match: func(e *Evidence) []result.Finding {
			if e.Cell.Trace == nil || e.Cell.Trace.CPU == nil {
				return nil
			}
			for _, kind := range e.Cell.Trace.CPU.Kinds {
				if kind.Name != result.KindLockWait || kind.Share < lockWaits {
					continue
				}
				return []result.Finding{{
					Cause:      fmt.Sprintf("%.0f %% of the CPU time of %s is spent waiting for locks", 100*kind.Share, e.Network),
					Evidence:   []result.Evidence{{Name: kind.Name + ", share of the samples", Value: kind.Share, Source: "CPU sampling"}},
					Fix:        e.run(hostOf(e.Client), "tc -s qdisc show") + "  # a single root queue means a single lock for all senders: tc qdisc replace dev DEVICE root mq",
					Confidence: 0.8,
				}}
			}
			return nil
		},
	}
}
