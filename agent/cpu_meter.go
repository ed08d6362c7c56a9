package agent

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"tare/probe"
	"tare/workload"
)

// cpuMeter reads the machine's CPU time at the edges of a window. Its reads
// allocate nothing: they happen on the thread that moves the data.
type cpuMeter struct {
	reader *probe.CPUReader
	edges  [2]probe.CPU // the window's start and end
	thread [2]threadTime
	seen   int
	spins  bool
	err    error
}

// Metered does a run in this process and measures the machine's CPU time
// meanwhile.
func Metered(run workload.Run, do func(workload.Run) (workload.Tally, error)) (tally workload.Tally, err error) {
	meter, err := newCPUMeter()
	if err != nil {
		return tally, err
	}
	defer func() { err = errors.Join(err, meter.reader.Close()) }()
	return meter.around(run, do)
}

// around does a run and adds the CPU time of its window.
func (m *cpuMeter) around(run workload.Run, do func(workload.Run) (workload.Tally, error)) (workload.Tally, error) {
	run.Edge = m.edge
	tally, err := do(run)
	if err != nil {
		return tally, err
	}
	tally.CPU, err = m.used()
	return tally, err
}

// newCPUMeter reads once, so that later reads find their memory allocated. Each
// job has a separate reader: one that is being stopped may still read.
func newCPUMeter() (*cpuMeter, error) {
	reader, err := probe.OpenCPU("/")
	if err != nil {
		return nil, err
	}
	m := &cpuMeter{reader: reader}
	for n := range m.edges {
		if err := reader.Read(&m.edges[n]); err != nil {
			return nil, errors.Join(err, reader.Close())
		}
	}
	return m, nil
}

func (m *cpuMeter) edge(end bool) {
	n := 0
	if end {
		n = 1
	}
	if m.err == nil {
		m.err = m.reader.Read(&m.edges[n])
	}
	if m.err == nil {
		m.err = m.thread[n].read()
	}
	m.seen++
}

// threadTime is how much CPU time a thread has had, and when.
type threadTime struct {
	id        int
	cpu, wall time.Duration
}

// read takes the calling thread's time.
func (t *threadTime) read() error {
	var cpu, wall unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &cpu); err != nil {
		return fmt.Errorf("read the thread's CPU time: %w", err)
	}
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &wall); err != nil {
		return fmt.Errorf("read the clock: %w", err)
	}
	*t = threadTime{unix.Gettid(), time.Duration(cpu.Nano()), time.Duration(wall.Nano())}
	return nil
}

// judge adds the share of the window that the data thread which owned it was
// on its CPU, where both edges fell on one thread. One that spins is always
// busy, which proves nothing.
func (m *cpuMeter) judge(tally *workload.Tally) {
	from, to := m.thread[0], m.thread[1]
	if m.spins || m.seen < 2 || from.id != to.id || to.wall <= from.wall {
		return
	}
	if tally.Counters == nil {
		tally.Counters = map[string]float64{}
	}
	tally.Counters[workload.ThreadBusy] = float64(to.cpu-from.cpu) / float64(to.wall-from.wall)
}

// used is nil at the end that owns no window.
func (m *cpuMeter) used() (*workload.CPU, error) {
	if m.err != nil || m.seen < 2 {
		return nil, m.err
	}
	spent := m.edges[1].Since(m.edges[0])
	return &workload.CPU{Busy: float64(spent.Busy - spent.Steal), Steal: float64(spent.Steal)}, nil
}
