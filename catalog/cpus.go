package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tare/result"
)

// The three ways to place hosts on CPUs.
const (
	PinApart = "apart" // each host has its own
	PinSame  = "same"  // all hosts have those of the first
	PinNone  = "none"  // nothing is bound, nothing is steered
)

// MaxCPUs is what the kernel's cpu_set_t holds.
const MaxCPUs = result.MaxCPUs

// ParseCPUs reads a CPU list as the kernel writes it, "0-3,8": sorted, each once.
func ParseCPUs(text string) ([]int, error) {
	var all []int
	for _, part := range strings.Split(strings.TrimSpace(text), ",") {
		first, last, ranged := strings.Cut(part, "-")
		if !ranged {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || from < 0 || to < from || to >= MaxCPUs {
			return nil, fmt.Errorf("read CPU list %q: write numbers and ranges, as in 0-3,8", text)
		}
		for cpu := from; cpu <= to; cpu++ {
			all = append(all, cpu)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
