package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// clockRate is how often the clock ticks on each CPU, in 1/s: no divisor of
// what else ticks there.
const clockRate = 1999

// mostFrames is PERF_MAX_STACK_DEPTH.
const mostFrames = 127

// Stack is a place in the kernel at which CPUs were found.
type Stack struct {
	Frames []string // functions, the innermost first; none: not in the kernel
	Lab    bool     // a process of the lab was on the CPU
	Ticks  uint64
}

// Profile is where the CPUs were.
type Profile struct {
	Stacks []Stack // those that concern the lab
	Lasted time.Duration
}

// Add adds what another tracer saw of the same run on its machine.
func (p *Profile) Add(q Profile) {
	p.Stacks, p.Lasted = append(p.Stacks, q.Stacks...), max(p.Lasted, q.Lasted)
}

// place is a key of the map places.
type place struct {
	Stack int32
	Lab   uint32
}

// Profile looks at every CPU while run runs: the processes of these namespaces
// are the lab's. It needs tier Stacks.
func (t *Tracer) Profile(networks []Network, run func() error) (p Profile, err error) {
	if err := t.within(t.cpu, networks); err != nil {
		return p, err
	}
	for _, name := range []string{"places", "stacks"} {
		if err := empty(t.cpu.Maps[name]); err != nil {
			return p, fmt.Errorf("empty map %s: %w", name, err)
		}
	}
	clocks, err := t.startClocks()
	if err != nil {
		return p, err
	}
	begun := time.Now()
	err = errors.Join(during(t.cpu, run), stopClocks(clocks))
	p.Lasted = time.Since(begun)
	if err != nil {
		return p, err
	}
	p.Stacks, err = t.readStacks()
	return p, err
}

// tryClock reports whether this machine has the clock.
func (t *Tracer) tryClock() error {
	clocks, err := t.startClocks()
	if err != nil {
		return err
	}
	return stopClocks(clocks)
}

// startClocks lets a clock tick on each CPU that is online.
func (t *Tracer) startClocks() ([]int, error) {
	attributes := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK,
		Size: unix.PERF_ATTR_SIZE_VER5, Sample: clockRate, Bits: unix.PerfBitFreq,
	}
	possible, err := ebpf.PossibleCPU()
	if err != nil {
		return nil, err
	}
	var clocks []int
	for cpu := range possible {
		fd, err := unix.PerfEventOpen(&attributes, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if errors.Is(err, unix.ENODEV) {
			continue // it is offline
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open clock of CPU %d: %w", cpu, err), stopClocks(clocks))
		}
		clocks = append(clocks, fd)
		err = unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, t.cpu.Programs["tick"].FD())
		if err != nil {
			return nil, errors.Join(fmt.Errorf("attach to the clock of CPU %d: %w", cpu, err), stopClocks(clocks))
		}
	}
	return clocks, nil
}

func stopClocks(clocks []int) error {
	var errs []error
	for _, fd := range clocks {
		errs = append(errs, unix.Close(fd))
	}
	return errors.Join(errs...)
}

func (t *Tracer) readStacks() ([]Stack, error) {
	var stacks []Stack
	var key place
	var ticks uint64
	entries := t.cpu.Maps["places"].Iterate()
	for entries.Next(&key, &ticks) {
		s := Stack{Lab: key.Lab == 1, Ticks: ticks}
		if key.Stack >= 0 {
			raw, err := t.cpu.Maps["stacks"].LookupBytes(uint32(key.Stack))
			if err != nil {
				return nil, fmt.Errorf("read stack: %w", err)
			}
			for n := 0; n+8 <= len(raw) && n < 8*mostFrames; n += 8 {
				address := binary.NativeEndian.Uint64(raw[n:])
				if address == 0 {
					break
				}
				s.Frames = append(s.Frames, t.symbols.of(address))
			}
		}
		stacks = append(stacks, s)
	}
	if err := entries.Err(); err != nil {
		return nil, fmt.Errorf("read stacks: %w", err)
	}
	return concerning(stacks), nil
}
