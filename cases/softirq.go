package cases

import (
	"fmt"

	"tare/result"
)

// cpuTimes is where the kernel says what each CPU did.
const cpuTimes = "/proc/stat"

// severalCPUs is from how many CPUs a machine's two hosts have more than one each,
// so that one can be full of receiving beside others.
const severalCPUs = 4

// fillsCPU claims that receiving fills one CPU of the machine, or that it does not.
func fillsCPU(s spot, fills bool) judge {
	const full = 0.9 // of a CPU's time
	return func(e evidence) answer {
		return e.judged([]spot{s}, func() answer {
			cpu, share := busiest(e.cell(s))
			text := fmt.Sprintf("receiving takes %s of CPU %d, the most of any, under %s on %s", percent(share), cpu, s.network, s.path)
			if e[s.experiment].Environment.CPUs < severalCPUs {
				return untestable("each host has one CPU here, which its application needs too: " + text)
			}
			return told(share >= full == fills, text)
		})
	}
}

// busiest is the CPU that receives for the largest share of its time.
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

// counted is what a CPU spent on something over all windows of a cell, in s.
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
