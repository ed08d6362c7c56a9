package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"tare/probe"
	"tare/traffic"
	"tare/workload"
)

const (
	// threads lets every blocked data thread of most runs keep its processor, so
	// that none waits for the runtime to take one from a neighbour.
	threads = 64
	// heapLeast is the heap that is worth collecting between two runs.
	heapLeast = 16 << 20
)

// Agent is the process at an end.
type Agent struct {
	out  *json.Encoder
	mu   sync.Mutex // guards out and stop
	stop map[int]context.CancelFunc
	jobs sync.WaitGroup
}

// Serve answers orders until in ends. Nothing is collected or printed while a
// window is open: the collector runs between runs only.
func Serve(ctx context.Context, in io.Reader, out io.Writer, version string) error {
	runtime.GOMAXPROCS(threads)
	debug.SetGCPercent(-1)
	a := &Agent{out: json.NewEncoder(out), stop: map[int]context.CancelFunc{}}
	if err := a.out.Encode(Hello{Schema: Schema, Version: version}); err != nil {
		return fmt.Errorf("say hello: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer a.jobs.Wait()
	defer cancel()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return fmt.Errorf("read order: %w", err)
		}
		a.take(ctx, o)
	}
	return lines.Err()
}

// take starts or stops a job.
func (a *Agent) take(ctx context.Context, o order) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o.Do == doStop {
		if cancel, running := a.stop[o.ID]; running {
			cancel()
		}
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	a.stop[o.ID] = cancel
	a.jobs.Go(func() {
		defer cancel()
		tally, err := a.do(ctx, o)
		a.ended(o.ID)
		if err != nil {
			a.say(answer{ID: o.ID, Error: err.Error()})
		} else {
			a.say(answer{ID: o.ID, Tally: &tally})
		}
	})
}

// ended forgets a job. The collector runs when there is no other: it would wait
// for the data threads, and they for their peers.
func (a *Agent) ended(id int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if delete(a.stop, id); len(a.stop) == 0 {
		collect()
	}
}

// say writes a line; a tally that JSON has no words for is an error. A line
// that can't be written has no reader left: the input ends too, and with it
// the agent.
func (a *Agent) say(line answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.out.Encode(line)
	if unspoken := new(json.UnsupportedValueError); errors.As(err, &unspoken) {
		err = a.out.Encode(answer{ID: line.ID, Error: "encode tally: " + unspoken.Error()})
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "tare agent: answer: %v\n", err)
	}
}

// do carries out one end of a run.
func (a *Agent) do(ctx context.Context, o order) (tally workload.Tally, err error) {
	if o.Job == nil {
		return workload.Tally{}, fmt.Errorf("order %q: no job", o.Do)
	}
	kind, known := workload.Find(o.Job.Workload)
	if !known {
		return workload.Tally{}, fmt.Errorf("workload %q: unknown to this agent", o.Job.Workload)
	}
	address, err := netip.ParseAddrPort(o.Job.Address)
	if err != nil {
		return workload.Tally{}, fmt.Errorf("order %q: %w", o.Do, err)
	}
	meter, err := newCPUMeter()
	if err != nil {
		return workload.Tally{}, err
	}
	defer func() { err = errors.Join(err, meter.reader.Close()) }()
	run := o.Job.Run
	run.Edge = meter.edge
	if want := traffic.Processors(run.Flows); want > runtime.GOMAXPROCS(0) {
		runtime.GOMAXPROCS(want)
	}

	before, err := probe.NetDevices("/")
	if err != nil {
		return workload.Tally{}, err
	}
	switch o.Do {
	case doServe:
		tally, err = kind.Serve(ctx, run, address, func(at netip.AddrPort) error {
			a.say(answer{ID: o.ID, Listening: at.String()})
			return nil
		})
	case doSend:
		tally, err = kind.Send(ctx, run, address)
	default:
		return workload.Tally{}, fmt.Errorf("order %q: unknown to this agent", o.Do)
	}
	if err == nil {
		tally.CPU, err = meter.used()
	}
	if err == nil && o.Do == doServe {
		err = addPacketSize(&tally, before)
	}
	return tally, err
}

// addPacketSize counts the mean bytes of what the busiest device received:
// the size of the packets that the path really carried, after all merging.
func addPacketSize(tally *workload.Tally, before map[string]probe.NetDevice) error {
	after, err := probe.NetDevices("/")
	if err != nil {
		return err
	}
	var bytes, packets uint64
	for name, now := range after {
		if got := now.RxBytes - before[name].RxBytes; got > bytes {
			bytes, packets = got, now.RxPackets-before[name].RxPackets
		}
	}
	if packets > 0 {
		if tally.Counters == nil {
			tally.Counters = map[string]float64{}
		}
		tally.Counters["skb_bytes"] = float64(bytes) / float64(packets)
	}
	return nil
}

// collect runs the collector between two runs, when there is something worth it.
func collect() {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	if mem.HeapAlloc > heapLeast {
		runtime.GC()
	}
}

// cpuMeter reads the machine's CPU time at the edges of a window. Its reads
// allocate nothing: they happen on the thread that moves the data.
type cpuMeter struct {
	reader *probe.CPUReader
	edges  [2]probe.CPU // the window's start and end
	seen   int
	err    error
}

// newCPUMeter reads once, so that later reads find their memory laid out. Each
// job has a reader of its own: one that is being stopped may still read.
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
	if err := m.reader.Read(&m.edges[n]); err != nil {
		m.err = err
		return
	}
	m.seen++
}

// used is nil at the end that owns no window.
func (m *cpuMeter) used() (*workload.CPU, error) {
	if m.err != nil || m.seen < 2 {
		return nil, m.err
	}
	spent := m.edges[1].Since(m.edges[0])
	return &workload.CPU{Busy: float64(spent.Busy - spent.Steal), Steal: float64(spent.Steal)}, nil
}
