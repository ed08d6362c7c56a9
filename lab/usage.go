package lab

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Usage is the CPU time of the processes of one name in the namespaces of one
// cluster.
type Usage struct {
	Cluster string        `json:"underlay"` // empty: of the lab itself
	Name    string        `json:"name"`     // of the program, as the kernel has it: 15 bytes
	CPU     time.Duration `json:"cpu"`      // of those that still run, since they started
}

// Usage returns the CPU time of the lab's processes, without its init. Those in
// shared hosts count as their engine's.
func (l *Lab) Usage() ([]Usage, error) {
	owners, err := l.owners()
	if err != nil {
		return nil, err
	}
	pids, err := processes()
	if err != nil {
		return nil, err
	}
	sums := map[Usage]time.Duration{}
	for _, pid := range pids {
		net, err := inode(fmt.Sprintf("/proc/%d/ns/net", pid))
		name, errName := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		cpu, errCPU := cpuTime(pid)
		if err != nil || errName != nil || errCPU != nil {
			continue // it has ended
		}
		sums[Usage{Cluster: owners[net], Name: strings.TrimSpace(string(name))}] += cpu
	}
	var all []Usage
	for of, cpu := range sums {
		of.CPU = cpu
		all = append(all, of)
	}
	return all, nil
}

// owners maps each network namespace to the cluster that it belongs to: the first
// that has it.
func (l *Lab) owners() (map[uint64]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	owners := map[uint64]string{}
	for _, cluster := range l.clusters {
		for _, h := range cluster.Hosts {
			for _, ns := range h.namespaces() {
				id, err := inodeOf(ns.net)
				if err != nil {
					return nil, fmt.Errorf("name owner of %s: %w", ns.Name, err)
				}
				if _, had := owners[id]; !had {
					owners[id] = cluster.Spec.Name
				}
			}
		}
	}
	return owners, nil
}

func inode(path string) (uint64, error) {
	var stat unix.Stat_t
	err := unix.Stat(path, &stat)
	return stat.Ino, err
}

func inodeOf(file *os.File) (uint64, error) {
	var stat unix.Stat_t
	err := unix.Fstat(int(file.Fd()), &stat)
	return stat.Ino, err
}

// processes lists those of the lab without its init. It is empty where the kernel
// refused the lab its own /proc.
func processes() ([]int, error) {
	if self, err := os.Readlink("/proc/self"); err != nil || self != "1" {
		return nil, err
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	pids := []int{}
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && pid != 1 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// cpuTime is what all threads of a process have used: its CPU clock has the
// number of clock_getcpuclockid(3).
func cpuTime(pid int) (time.Duration, error) {
	const processClock = 2 // CPUCLOCK_SCHED
	var used unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|processClock), &used); err != nil {
		return 0, err
	}
	return time.Duration(used.Nano()), nil
}

// Memory is what the processes of the lab hold, its init included: the sum of
// their proportional shares (Pss of smaps_rollup, Linux 4.14), in bytes; 0
// where /proc does not show them.
func Memory() (uint64, error) {
	pids, err := processes()
	if err != nil || pids == nil {
		return 0, err
	}
	var sum uint64
	for _, pid := range append(pids, 1) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			continue // it has ended
		}
		if err != nil {
			return 0, fmt.Errorf("read memory of process %d: %w", pid, err)
		}
		sum += shareOf(text)
	}
	return sum, nil
}

// shareOf is the line "Pss:   1234 kB" of smaps_rollup, in bytes; a process
// without memory has none.
func shareOf(rollup []byte) uint64 {
	for line := range bytes.Lines(rollup) {
		fields := bytes.Fields(line)
		if len(fields) < 2 || string(fields[0]) != "Pss:" {
			continue
		}
		kib, err := strconv.ParseUint(string(fields[1]), 10, 64)
		if err != nil {
			return 0
		}
		return kib << 10
	}
	return 0
}
