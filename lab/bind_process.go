package lab

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// BindProcess binds every thread of this process, and those that they start,
// to the set.
func (s CPUSet) BindProcess() error {
	if len(s) == 0 {
		return nil
	}
	mask := s.affinity()
	bound := map[string]bool{}
	for { // until a pass finds no thread that was started meanwhile
		entries, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("list threads: %w", err)
		}
		fresh := false
		for _, entry := range entries {
			id, err := strconv.Atoi(entry.Name())
			if err != nil || bound[entry.Name()] {
				continue
			}
			if err := unix.SchedSetaffinity(id, &mask); err != nil && err != unix.ESRCH {
				return fmt.Errorf("bind to CPUs %s: %w", s, err)
			}
			bound[entry.Name()], fresh = true, true
		}
		if !fresh {
			return nil
		}
	}
}
