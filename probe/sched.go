package probe

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// schedstat counts how long the process's threads ran and waited for a CPU.
func schedstat() Probe {
	return ofThreads(Probe{
		Name: "schedstat", Doc: "time on a CPU, and waiting for one", Scope: Process, Source: "/proc/self/task/*/schedstat",
	}, "schedstat", parseSchedstat)
}

// sched counts how often the process's threads changed their CPU, and were
// taken off it.
func sched() Probe {
	return ofThreads(Probe{
		Name: "sched", Doc: "migrations between CPUs, and context switches", Scope: Process, Source: "/proc/self/task/*/sched",
	}, "sched", parseSched)
}

// ofThreads completes a probe that sums a file over the threads of the calling
// process. A thread that ends takes what it counted with it.
func ofThreads(p Probe, name string, parse func([]byte) (map[string]float64, error)) Probe {
	p.count = func(v *view) (map[string]float64, error) {
		threads, err := os.ReadDir(filepath.Join(v.root, "proc/self/task"))
		if err != nil {
			return nil, err
		}
		sums := map[string]float64{}
		for _, thread := range threads {
			path := filepath.Join("proc/self/task", thread.Name(), name)
			data, err := v.read(path)
			if errors.Is(err, unix.ESRCH) || errors.Is(err, fs.ErrNotExist) && len(sums) > 0 {
				v.forget(path) // it has just ended
				continue
			}
			if err != nil {
				return nil, err
			}
			counted, err := parse(data)
			if err != nil {
				return nil, fmt.Errorf("thread %s: %w", thread.Name(), err)
			}
			for counter, value := range counted {
				sums[counter] += value
			}
		}
		return sums, nil
	}
	return p
}

// parseSchedstat reads /proc/PID/schedstat: ns on a CPU, ns runnable without
// one, and how often it was given one (proc_pid_schedstat in fs/proc/base.c).
func parseSchedstat(data []byte) (map[string]float64, error) {
	fields := bytes.Fields(data)
	if len(fields) != 3 {
		return nil, fmt.Errorf("parse schedstat: %d numbers, want 3", len(fields))
	}
	var values [3]uint64
	for n := range values {
		value, err := strconv.ParseUint(string(fields[n]), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("parse schedstat: %w", err)
		}
		values[n] = value
	}
	const second = float64(time.Second)
	return map[string]float64{
		"run_time": float64(values[0]) / second, "run_delay": float64(values[1]) / second, "timeslices": float64(values[2]),
	}, nil
}

// parseSched reads what it knows of /proc/PID/sched, which has a line "name :
// value" for each number (proc_sched_show_task in kernel/sched/debug.c).
func parseSched(data []byte) (map[string]float64, error) {
	counters := map[string]float64{}
	for line := range bytes.Lines(data) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		var counter string
		switch string(bytes.TrimSpace(name)) {
		case "se.nr_migrations":
			counter = "migrations"
		case "nr_voluntary_switches":
			counter = "voluntary_switches"
		case "nr_involuntary_switches":
			counter = "involuntary_switches"
		default:
			continue
		}
		n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("parse sched: %s: %w", counter, err)
		}
		counters[counter] = float64(n)
	}
	if len(counters) == 0 {
		return nil, errors.New("parse sched: none of the counters: is this a file sched of /proc?")
	}
	return counters, nil
}
