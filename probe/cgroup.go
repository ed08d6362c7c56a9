package probe

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cgroupCPU counts how often the process's control group, or one above it, had
// used up its share of the CPUs.
func cgroupCPU() Probe {
	return Probe{
		Name: "cgroup", Doc: "periods in which a CPU quota was used up, and the time lost", Scope: Process, Source: "/sys/fs/cgroup/.../cpu.stat",
		count: func(v *view) (map[string]float64, error) {
			data, err := v.read("proc/self/cgroup")
			if err != nil {
				return nil, err
			}
			sums := map[string]float64{}
			found := false
			for _, file := range cpuStatFiles(data) {
				text, err := v.read(file)
				if errors.Is(err, fs.ErrNotExist) {
					continue // not the way that this machine mounts it, or beyond what a container sees
				}
				if err != nil {
					return nil, err
				}
				counted, err := parseCPUStat(text)
				if err != nil {
					return nil, fmt.Errorf("read %s: %w", file, err)
				}
				for name, value := range counted {
					sums[name] += value
				}
				found = true
			}
			if !found {
				return nil, fs.ErrNotExist
			}
			return sums, nil
		},
	}
}

// cpuStatFiles are the files that may hold the CPU account of a process's
// control group and of those above it, for the lines of its /proc/PID/cgroup:
// version 2, alone or together with version 1, and version 1 (cgroups(7)).
func cpuStatFiles(groups []byte) []string {
	var files []string
	for line := range bytes.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(string(line)), ":", 3)
		if len(parts) != 3 {
			continue
		}
		var mounts []string
		switch controllers := strings.Split(parts[1], ","); {
		case parts[1] == "":
			mounts = []string{"", "unified"}
		case slices.Contains(controllers, "cpu"):
			mounts = []string{"cpu"} // a link, where cpuacct shares the mount
		}
		for _, mount := range mounts {
			files = append(files, upwards(path.Join("sys/fs/cgroup", mount), parts[2])...)
		}
	}
	return files
}

// upwards are the accounts of a group and of every group above it.
func upwards(mount, group string) []string {
	var files []string
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		files = append(files, path.Join(mount, at, "cpu.stat"))
		if at == "/" {
			return files
		}
	}
}

// parseCPUStat reads cpu.stat of a control group: "periods", "throttled"
// (periods) and "throttled_time". Version 1 counts in ns, version 2 in us; a
// group without a quota may have none.
func parseCPUStat(data []byte) (map[string]float64, error) {
	counters := map[string]float64{}
	for line := range bytes.Lines(data) {
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		unit := float64(1)
		var counter string
		switch name {
		case "nr_periods":
			counter = "periods"
		case "nr_throttled":
			counter = "throttled"
		case "throttled_time":
			counter, unit = "throttled_time", time.Nanosecond.Seconds()
		case "throttled_usec":
			counter, unit = "throttled_time", time.Microsecond.Seconds()
		default:
			continue
		}
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("parse cpu.stat: %s: %w", name, err)
		}
		counters[counter] = float64(n) * unit
	}
	return counters, nil
}
