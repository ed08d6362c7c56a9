package diagnose

import (
	"fmt"

	"tare/result"
)

// throttledShare is the least share of a control group's periods, throttled, that
// affects a measurement.
const throttledShare = 0.01

// cfsThrottled finds an end whose control group used up its CPU quota.
func cfsThrottled() Rule {
	return Rule{
		ID: "cfs-throttled", Apart: true,
		Match: func(e *Evidence) []result.Finding {
			var found []result.Finding
			for _, at := range []string{e.Client, e.Server} {
				periods, throttled := e.counted(at, cpuStat, "periods"), e.counted(at, cpuStat, "throttled")
				if throttled == 0 || throttled < throttledShare*periods {
					continue
				}
				found = append(found, result.Finding{
					Cause: fmt.Sprintf("the processes in %s were throttled in %.0f of %.0f periods: their CPU quota is used up", at, throttled, periods),
					Evidence: []result.Evidence{
						seen("throttled", throttled, at, cpuStat), seen("periods", periods, at, cpuStat),
						seen("throttled_time", e.counted(at, cpuStat, "throttled_time"), at, cpuStat),
					},
					Fix:        e.run(at, "sh -c 'echo -1 > /sys/fs/cgroup/cpu/cpu.cfs_quota_us'") + "  # or docker update --cpus 0 CONTAINER",
					Confidence: 0.95,
				})
			}
			return found
		},
	}
}
