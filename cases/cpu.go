package cases

import (
	"fmt"

	"tare/result"
)

// cpuTimes is where the kernel reports the time that each CPU spent on what
// (proc(5)).
const cpuTimes = "/proc/stat"

// severalCPUs is the least number of CPUs of a machine on which each of two hosts has
// more than one, so that receiving can fill one while another runs the application.
const severalCPUs = 4

// fillsCPU judges whether receiving fills one CPU of the machine, or does not.
func fillsCPU(fills bool) func(e evidence, c comparison) answer {
	const full = 0.9 // of a CPU's time
	return func(e evidence, c comparison) answer {
		s := c.Figure
		return e.decide(func() answer {
			cpu, share := busiest(e.cell(s))
			text := fmt.Sprintf("receiving takes %s of CPU %d, the most of all CPUs, with %s on %s", percent(share), cpu, s.Network, s.Path)
			if e[s.Experiment].Environment.CPUs < severalCPUs {
				return untestable("each host has one CPU here, which its application uses too: " + text)
			}
			return reproducedIf(share >= full == fills, true, text)
		}, s)
	}
}

// busiest is the CPU that spends the largest share of its time receiving.
func busiest(c *result.Cell) (cpu int, share float64) {
	for n := 0; ; n++ {
		softirq, busy, idle := counted(c, n, "softirq"), counted(c, n, "busy"), counted(c, n, "idle")
		if busy+idle == 0 {
			return cpu, share
		}
		if of := softirq / (busy + idle); of > share {
			cpu, share = n, of
		}
	}
}

// counted is the time that a CPU spent on something in all windows of a cell, in s.
func counted(c *result.Cell, cpu int, what string) float64 {
	sum := 0.0
	for _, sample := range c.Samples {
		for _, r := range sample.Readings {
			if r.At == "" && r.Source == cpuTimes {
				sum += r.Counts[fmt.Sprintf("cpu%d.%s", cpu, what)]
			}
		}
	}
	return sum
}
