package lab

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tare/catalog"
)

// CPUSet is a sorted set of CPU numbers.
type CPUSet []int

// Places gives hosts CPUs by name: "h1" -> {0}.
type Places map[string]CPUSet

// ParseCPUSet reads a CPU list as the kernel writes it: "0-3,8".
func ParseCPUSet(text string) (CPUSet, error) {
	cpus, err := catalog.ParseCPUs(text)
	return cpus, err
}

// String writes the set as a CPU list.
func (s CPUSet) String() string {
	var parts []string
	for n := 0; n < len(s); n++ {
		first := s[n]
		for n+1 < len(s) && s[n+1] == s[n]+1 {
			n++
		}
		if first == s[n] {
			parts = append(parts, strconv.Itoa(first))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", first, s[n]))
		}
	}
	return strings.Join(parts, ",")
}

// mask writes the set as sysfs takes it in rps_cpus: comma-separated words of
// 32 bits, the highest first.
func (s CPUSet) mask() string {
	if len(s) == 0 {
		return "0"
	}
	words := make([]uint32, s[len(s)-1]/32+1)
	for _, cpu := range s {
		words[cpu/32] |= 1 << (cpu % 32)
	}
	text := make([]string, len(words))
	for n, word := range words {
		text[len(words)-1-n] = fmt.Sprintf("%08x", word)
	}
	return strings.Join(text, ",")
}

// bind binds the calling thread, and what it starts, to the set.
func (s CPUSet) bind() error {
	if len(s) == 0 {
		return nil
	}
	mask := s.affinity()
	if err := unix.SchedSetaffinity(0, &mask); err != nil {
		return fmt.Errorf("bind to CPUs %s: %w", s, err)
	}
	return nil
}

// Do runs work on a thread that is bound to the set, and so are those on which
// it enters namespaces.
func (s CPUSet) Do(work func() error) error {
	return onThread(func() error {
		if err := s.bind(); err != nil {
			return err
		}
		return work()
	})
}

func (s CPUSet) affinity() unix.CPUSet {
	var mask unix.CPUSet
	for _, cpu := range s {
		mask.Set(cpu)
	}
	return mask
}

// UsableCPUs is the set of CPUs that this process may run on.
func UsableCPUs() (CPUSet, error) {
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mask); err != nil {
		return nil, fmt.Errorf("read CPU affinity: %w", err)
	}
	var set CPUSet
	for cpu := range catalog.MaxCPUs {
		if mask.IsSet(cpu) {
			set = append(set, cpu)
		}
	}
	return set, nil
}

// first are the first n of the CPUs; 0: all.
func (s CPUSet) first(n int) (CPUSet, error) {
	if n > len(s) {
		return nil, fmt.Errorf("it has %d of the %d that were asked for: ask for fewer, or take a machine that has more", len(s), n)
	}
	if n == 0 {
		return s, nil
	}
	return s[:n], nil
}

// place returns the CPUs of the n-th of count hosts (from 0). shared reports
// whether it shares them with another host although each should have its own.
func (c Config) place(name string, n, count int) (cpus CPUSet, shared bool) {
	if chosen, ok := c.CPUs[name]; ok {
		return chosen, false
	}
	switch {
	case c.Pin == catalog.PinNone || len(c.All) == 0:
		return nil, false
	case c.Pin == catalog.PinSame:
		n = 0
		count = min(2, len(c.All))
	}
	if count > len(c.All) {
		return CPUSet{c.All[n%len(c.All)]}, true
	}
	each := len(c.All) / count
	return c.All[n*each : (n+1)*each], false
}
