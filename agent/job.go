package agent

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"runtime/debug"

	"tare/catalog"
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
	// memoryOf is what a process that serves any peer may take, in bytes, and for each
	// flow of its runs. Beyond it the collector works during runs too.
	memoryOf     = 40 << 20
	memoryOfFlow = 4 << 20
	memoryIdle   = 4 << 20 // that it may hold without a run
)

// prepare makes the process one that measures: nothing is collected while a
// run is under way.
func prepare() {
	runtime.GOMAXPROCS(threads)
	debug.SetGCPercent(-1)
}

// serve carries out the serving end of a run.
func (j Job) serve(ctx context.Context, ready func(netip.AddrPort) error) (workload.Tally, error) {
	same := j.Run.Boot == probe.BootID("/")
	j.Run.SharedClock = j.Run.Boot != "" && same && !j.Run.OwnClocks
	j.apart = j.Run.Boot != "" && !same
	return j.carry(!j.Run.Reverse, func(kind workload.Workload, run workload.Run, at netip.AddrPort) (workload.Tally, error) {
		return kind.Serve(ctx, run, at, ready)
	})
}

// send carries out the driving end of a run.
func (j Job) send(ctx context.Context) (workload.Tally, error) {
	return j.carry(j.Run.Reverse, func(kind workload.Workload, run workload.Run, to netip.AddrPort) (workload.Tally, error) {
		return kind.Drive(ctx, run, to)
	})
}

// threads is how many flows have a thread at this end.
func (j Job) threads() int {
	if j.Run.Bidir {
		return 2 * j.Run.Flows
	}
	return j.Run.Flows
}

// carry runs one end with a meter of the machine's CPU time, and the
// end that receives with one of its packets.
func (j Job) carry(receives bool, end func(workload.Workload, workload.Run, netip.AddrPort) (workload.Tally, error)) (tally workload.Tally, err error) {
	kind, known := workload.Find(j.Workload)
	if !known || kind.Cycle != nil {
		return tally, fmt.Errorf("workload %q: unknown to this agent", j.Workload)
	}
	address, err := netip.ParseAddrPort(j.Address)
	if err != nil {
		return tally, fmt.Errorf("read the job's address: %w", err)
	}
	meter, err := newCPUMeter()
	if err != nil {
		return tally, err
	}
	defer func() { err = errors.Join(err, meter.reader.Close()) }()
	meter.spins = j.Run.Mode == catalog.Spinning || j.Run.Tool != ""
	process := probe.NewReader("/", probe.Process)
	defer func() { err = errors.Join(err, process.Close()) }()
	counts := process.Read()
	before, err := probe.NetDevices("/")
	if err != nil {
		return tally, err
	}
	do := func(run workload.Run) (workload.Tally, error) { return end(kind, run, address) }
	if j.apart {
		do = inSteps(do)
	}
	tally, err = meter.around(j.Run, do)
	if err != nil {
		return tally, err
	}
	tally.Readings, tally.Unread = process.Read().Since(counts)
	if receives {
		if err := addPacketSize(&tally, before); err != nil {
			return tally, err
		}
	}
	meter.judge(&tally)
	return tally, nil
}

// room lets a run of so many flows have its processors. It stops the world, so
// no other run may be under way.
func room(flows int) {
	if !hasRoom(flows) {
		runtime.GOMAXPROCS(traffic.Processors(flows))
	}
}

func hasRoom(flows int) bool { return traffic.Processors(flows) <= runtime.GOMAXPROCS(0) }

// bound bounds the memory of a process whose runs have so many flows together, whatever
// else peers do: without a bound, what was refused would never be collected.
func bound(flows int) { debug.SetMemoryLimit(memoryOf + int64(flows)*memoryOfFlow) }

// collect runs the collector between two runs, when there is something worth
// it. It stops the world as well.
func collect() {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	if mem.HeapAlloc > heapLeast {
		runtime.GC()
	}
}

// release gives the kernel what the heap has no use for, where that is much.
func release() {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	if mem.HeapAlloc > memoryIdle || mem.HeapIdle-mem.HeapReleased > memoryIdle {
		debug.FreeOSMemory()
	}
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
