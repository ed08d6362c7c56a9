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

// QuotaSource is where a control group's CPU account is. It counts periods only where there is a quota.
const QuotaSource = "/sys/fs/cgroup/.../cpu.stat"

// cgroupCPU counts how often the process's control group, or one above it, had
// used up its share of the CPUs.
func cgroupCPU() Probe {
	return Probe{
		Name: "cgroup", Doc: "periods in which a CPU quota was used up, and the time lost", Scope: Process, Source: QuotaSource,
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

// cpuStatFiles are where the CPU account of a process's control group may be, and
// those of the groups above it, for the lines of its /proc/PID/cgroup.
func cpuStatFiles(groups []byte) []string {
	var files []string
	for _, group := range groupsWith("cpu", groups) {
		for _, folder := range group.folders {
			files = append(files, path.Join(folder, "cpu.stat"))
		}
	}
	return files
}

// group is a process's control group in a hierarchy that may hold a controller.
type group struct {
	version int
	folders []string // of the group and of every group above it, the hierarchy's root last
}

// groupsWith are those of a process that may hold a controller, for the lines of its
// /proc/PID/cgroup: of version 2, alone or in addition to version 1, and of version 1
// (cgroups(7)).
func groupsWith(controller string, groups []byte) []group {
	var all []group
	for line := range bytes.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(string(line)), ":", 3)
		if len(parts) != 3 {
			continue
		}
		version, mounts := 1, []string(nil)
		switch controllers := strings.Split(parts[1], ","); {
		case parts[1] == "":
			version, mounts = 2, []string{"", "unified"}
		case slices.Contains(controllers, controller):
			mounts = []string{controller} // a link, where cpuacct shares the mount of cpu
		}
		for _, mount := range mounts {
			all = append(all, group{version, upwards(path.Join("sys/fs/cgroup", mount), parts[2])})
		}
	}
	return all
}

// upwards are the folders of a group and of every group above it.
func upwards(mount, group string) []string {
	var folders []string
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		folders = append(folders, path.Join(mount, at))
		if at == "/" {
			return folders
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
