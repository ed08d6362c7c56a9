package diagnose

import (
	"fmt"

	"tare/catalog"
	"tare/result"
)

const (
	steeredSoftirq = 0.3 // of the application's CPU time, from which receiving slows the application
	steeredLoss    = 0.01
)

// steeredOntoApplication finds packets that are steered to the CPU on which the
// application reads them, although another CPU of its host is idle.
func steeredOntoApplication() Rule {
	return Rule{
		ID: "steered-onto-application",
		Match: func(e *Evidence) []result.Finding {
			if e.Cell.Server == nil {
				return nil
			}
			lost, _ := e.cellLoses()
			dropped := e.counted(e.Server, snmp, "Udp.RcvbufErrors")
			own, err := catalog.ParseCPUs(e.Cell.Server.CPUs)
			if err != nil || lost < steeredLoss || dropped == 0 || len(own) != 1 {
				return nil
			}
			softirq, _ := e.cpuShares(own[0])
			var found []result.Finding
			for _, device := range e.carriers(hostOf(e.Server)) {
				mask := e.word(hostOf(e.Server), steering, device+".rx-0.rps_cpus")
				free, idles := e.idleBut(own[0])
				if mask != fmt.Sprintf("%x", 1<<own[0]) || softirq < steeredSoftirq || !idles {
					continue
				}
				found = append(found, result.Finding{
					Cause: fmt.Sprintf("%s in %s steers packets to CPU %d, on which %s reads them: receiving takes %.0f %% of its time, while CPU %d is idle", device, hostOf(e.Server), own[0], e.Server, 100*softirq, free),
					Evidence: []result.Evidence{
						seen(device+".rx-0.rps_cpus", mask, hostOf(e.Server), steering),
						{Name: fmt.Sprintf("cpu%d.softirq, share of its time", own[0]), Value: softirq, Source: cpuTimes},
						seen("Udp.RcvbufErrors", dropped, e.Server, snmp),
					},
					Remedy:     remedy(hostOf(e.Server), fmt.Sprintf("sh -c 'echo %x > /sys/class/net/%s/queues/rx-0/rps_cpus'", 1<<free, device)),
					Confidence: 0.85,
				})
			}
			return found
		},
	}
}

// cpuShares are the shares of a CPU's time that it spent in softirqs, and idle; both
// 0: they were not counted.
func (e *Evidence) cpuShares(cpu int) (softirq, idle float64) {
	name := fmt.Sprintf("cpu%d", cpu)
	idle = e.counted("", cpuTimes, name+".idle")
	total := e.counted("", cpuTimes, name+".busy") + idle
	if total == 0 {
		return 0, 0
	}
	return e.counted("", cpuTimes, name+".softirq") / total, idle / total
}

// idleBut finds an idle CPU other than busy.
func (e *Evidence) idleBut(busy int) (cpu int, idles bool) {
	for cpu := 0; ; cpu++ {
		softirq, idle := e.cpuShares(cpu)
		if softirq == 0 && idle == 0 && cpu > busy {
			return 0, false
		}
		if cpu != busy && idle >= idleCPU {
			return cpu, true
		}
	}
}
