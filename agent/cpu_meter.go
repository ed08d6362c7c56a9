package agent

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"tare/probe"
	"tare/result"
	"tare/workload"
)

// LeastSlot is the shortest slot whose CPU time is taken. The kernel gives it in ticks
// (USER_HZ, proc_stat(5)): of a slot shorter than one, most would be error.
const LeastSlot = 10 * time.Millisecond

// cpuMeter reads the machine's CPU time at the edges of a window. Its reads
// allocate nothing: they happen on the thread that moves the data.
type cpuMeter struct {
	reader *probe.CPUReader
	edges  [2]probe.CPU // the start and end of the window, or of the slot under way
	thread [2]threadTime
	spins  bool
	err    error

	// Of the window, or of all its slots that closed.
	busy, steal   result.Seconds
	each          []probe.CPUTimes
	onCPU, lasted time.Duration // of the thread that owns the window
	moved         bool          // it was not always the same one
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

// around does a run and adds the CPU time of its window, at the end that owns one.
func (m *cpuMeter) around(run workload.Run, do func(workload.Run) (workload.Tally, error)) (workload.Tally, error) {
	if run.Slots == nil || run.Slots.Window > 0 || run.Slots.Length >= LeastSlot {
		run.Edge = m.edge
	}
	tally, err := do(run)
	if err != nil {
		return tally, err
	}
	if m.err != nil || m.lasted <= 0 {
		return tally, m.err
	}
	tally.CPU = &workload.CPU{Busy: float64(m.busy), Steal: float64(m.steal)}
	if run.Slots != nil { // the end of a slot after which nothing came was not seen
		part := tally.Window.Seconds() / m.lasted.Seconds()
		tally.CPU.Busy *= part
		tally.CPU.Steal *= part
		tally.CPU.Each = probe.CPUCounts(m.each)
	}
	return tally, nil
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
	m.each = make([]probe.CPUTimes, len(m.edges[0].Each))
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
	if end && m.err == nil {
		m.add()
	}
}

// add adds what lies between the two edges.
func (m *cpuMeter) add() {
	from, to := m.thread[0], m.thread[1]
	lasted := to.wall - from.wall
	busy, steal := m.edges[1].UsedSince(&m.edges[0], result.Seconds(lasted.Seconds()))
	m.busy += busy
	m.steal += steal
	m.each = m.edges[1].AddSince(&m.edges[0], m.each)
	m.onCPU += to.cpu - from.cpu
	m.lasted += lasted
	m.moved = m.moved || from.id != to.id
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
	if m.spins || m.moved || m.lasted <= 0 {
		return
	}
	if tally.Counters == nil {
		tally.Counters = map[string]float64{}
	}
	tally.Counters[workload.ThreadBusy] = float64(m.onCPU) / float64(m.lasted)
}
