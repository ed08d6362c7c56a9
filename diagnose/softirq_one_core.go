package diagnose

import (
	"fmt"
	"slices"

	"tare/catalog"
	"tare/result"
)

const (
	softirqShare = 0.6 // of a CPU's time, from which receiving is what fills it
	fullCPU      = 0.9 // share of the time, busy, from which a CPU is full
	idleCPU      = 0.4 // share of the time, idle, from which another has room
)

// softirqOneCore finds packets that one full CPU receives while another is idle.
func softirqOneCore() Rule {
	return Rule{
		ID: "softirq-one-core", Models: true,
		Match: func(e *Evidence) []result.Finding {
			full, free := -1, -1
			var softirq, rest, idle float64
			for cpu := 0; ; cpu++ {
				name := fmt.Sprintf("cpu%d", cpu)
				total := e.counted("", cpuTimes, name+".busy") + e.counted("", cpuTimes, name+".idle")
				if total == 0 {
					break
				}
				received, busy := e.counted("", cpuTimes, name+".softirq")/total, e.counted("", cpuTimes, name+".busy")/total
				if received >= softirqShare && busy >= fullCPU {
					full, softirq, rest = cpu, received, busy-received
				}
				if 1-busy >= idleCPU && e.mayUse(cpu) {
					free, idle = cpu, 1-busy
				}
			}
			if full < 0 || free < 0 {
				return nil
			}
			return []result.Finding{{
				Cause: fmt.Sprintf("CPU %d spends %.0f %% of its time receiving packets and is full, while CPU %d is idle", full, 100*softirq, free),
				Evidence: []result.Evidence{
					{Name: fmt.Sprintf("cpu%d.softirq, share of its time", full), Value: softirq, Source: cpuTimes},
					{Name: fmt.Sprintf("cpu%d.idle, share of its time", free), Value: idle, Source: cpuTimes},
				},
				Remedy: remedy(hostOf(e.Server), fmt.Sprintf("sh -c 'echo %x > /sys/class/net/eth0/queues/rx-0/rps_cpus'", 1<<free)),
				// The fix moves receiving to the other CPU; the rest stays. The larger of the two
				// is then the limit.
				Confidence: 0.85, Share: e.ofGap(1 / max(softirq, rest)),
			}}
		},
	}
}

// mayUse reports whether the server's host may use a CPU: the CPUs of other hosts are
// not its own. Where its CPUs are unknown, it may use all.
func (e *Evidence) mayUse(cpu int) bool {
	if e.Cell == nil || e.Cell.Server == nil || e.Cell.Server.CPUs == "" {
		return true
	}
	own, err := catalog.ParseCPUs(e.Cell.Server.CPUs)
	return err != nil || slices.Contains(own, cpu)
}
