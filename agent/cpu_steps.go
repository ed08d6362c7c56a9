package agent

import (
	"errors"
	"time"

	"tare/probe"
	"tare/result"
	"tare/workload"
)

// CPU time of a window is read in steps at the end that does not see its edges: at least
// so long ones, and at most so many.
const (
	leastCPUStep = 100 * time.Millisecond
	mostCPUSteps = 256
)

// cpuSteps are the latest reads of the machine's CPU time, those of one window.
type cpuSteps struct {
	reader *probe.CPUReader
	step   time.Duration
	reads  []cpuRead // a ring
	count  int
}

type cpuRead struct {
	at  time.Time
	cpu probe.CPU
}

// inSteps has a run measure the machine's CPU time at the end that does not own its
// window: over as long as the window, up to the end of the run. A run ends with its
// window but for what it takes to close it. The end that owns the window replaces it.
func inSteps(do func(workload.Run) (workload.Tally, error)) func(workload.Run) (workload.Tally, error) {
	return func(run workload.Run) (tally workload.Tally, err error) {
		reader, err := probe.OpenCPU("/")
		if err != nil {
			return tally, err
		}
		defer func() { err = errors.Join(err, reader.Close()) }()
		s := cpuSteps{reader: reader, step: max(leastCPUStep, run.Duration/mostCPUSteps)}
		s.reads = make([]cpuRead, max(run.Duration/s.step, 1)+1)
		stop, stopped := make(chan struct{}), make(chan error, 1)
		go func() { stopped <- s.follow(stop) }()
		tally, err = do(run)
		close(stop)
		if err = errors.Join(err, <-stopped); err == nil {
			tally.CPU = s.used()
		}
		return tally, err
	}
}

// follow reads in steps until it is stopped.
func (s *cpuSteps) follow(stop <-chan struct{}) error {
	tick := time.NewTicker(s.step)
	defer tick.Stop()
	for {
		r := &s.reads[s.count%len(s.reads)]
		if err := s.reader.Read(&r.cpu); err != nil {
			return err
		}
		r.at = time.Now()
		s.count++
		select {
		case <-stop:
			return nil
		case <-tick.C:
		}
	}
}

// used is the CPU time of the last window; nil: the run was shorter.
func (s *cpuSteps) used() *workload.CPU {
	if s.count < len(s.reads) {
		return nil
	}
	first, last := &s.reads[s.count%len(s.reads)], &s.reads[(s.count-1)%len(s.reads)]
	over := last.at.Sub(first.at).Seconds()
	busy, steal := last.cpu.UsedSince(&first.cpu, result.Seconds(over))
	return &workload.CPU{Busy: float64(busy), Steal: float64(steal), Over: over}
}
