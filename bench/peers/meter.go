package main

import (
	"errors"
	"time"

	"tare/probe"
)

// The part of a run in which its CPU time is read, as parts of its window
// since the client began to send: the steady part of every tool.
const (
	meterFrom = 0.25
	meterTo   = 0.9
)

// meter reads the CPU time of the whole machine over the steady part of a run:
// both ends, softirq and kernel threads included, time stolen left out. The
// kernel's file has steps of 10 ms.
type meter struct {
	reader *probe.CPUReader
	edges  [2]probe.CPU
	at     [2]time.Time
	stop   chan struct{}
	done   chan struct{}
	err    error
}

// startMeter begins now, as the client is started, which sends after lead.
func startMeter(lead, window time.Duration) (*meter, error) {
	reader, err := probe.OpenCPU("/")
	if err != nil {
		return nil, err
	}
	m := &meter{reader: reader, stop: make(chan struct{}), done: make(chan struct{})}
	start := time.Now().Add(lead)
	go func() {
		defer close(m.done)
		for n, part := range []float64{meterFrom, meterTo} {
			select {
			case <-time.After(time.Until(start.Add(time.Duration(part * float64(window))))):
			case <-m.stop:
				return
			}
			m.at[n] = time.Now()
			m.err = errors.Join(m.err, reader.Read(&m.edges[n]))
		}
	}()
	return m, nil
}

// cores ends the meter and returns how many CPUs were busy on average.
func (m *meter) cores() (float64, error) {
	close(m.stop)
	<-m.done
	if err := errors.Join(m.err, m.reader.Close()); err != nil {
		return 0, err
	}
	if m.at[1].IsZero() {
		return 0, errors.New("the run ended before its window")
	}
	spent := m.edges[1].Since(m.edges[0])
	return float64(spent.Busy-spent.Steal) / m.at[1].Sub(m.at[0]).Seconds(), nil
}

// metered does the client's part of a run and measures its CPU time.
func (s *stage) metered(lead time.Duration, client func() error) (cores float64, err error) {
	m, err := startMeter(lead, s.window)
	if err != nil {
		return 0, err
	}
	err = client()
	cores, meterErr := m.cores()
	if err != nil { // the meter's error only follows from it
		return 0, err
	}
	return cores, meterErr
}
