package probe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"tare/result"
)

// CPUTimes is how CPU time was spent, in seconds since boot or between two
// reads, at a resolution of 10 ms. Total = Busy + Idle.
type CPUTimes struct {
	Busy    result.Seconds // everything but idle and iowait, Softirq and Steal included
	Softirq result.Seconds // receive work and timers; what ksoftirqd does is system time in Busy
	Steal   result.Seconds // wanted here, but the hypervisor ran something else
	Idle    result.Seconds // idle and iowait
	Total   result.Seconds
}

// CPU is the CPU time of the whole machine and of each CPU.
type CPU struct {
	CPUTimes
	Each []CPUTimes // by CPU number; a CPU that is offline has a Total of zero
}

const (
	userHz  = 100  // ticks per second of /proc/stat (USER_HZ), whatever the kernel's HZ
	maxCPUs = 8192 // the most that a Linux kernel is built for (NR_CPUS)
)

// CPUSource is where CPU times are read.
const CPUSource = "/proc/stat"

// cpuTimes counts how each CPU spent its time.
func cpuTimes() Probe {
	return Probe{
		Name: "cpu", Doc: "busy, softirq, stolen and idle time of each CPU", Scope: Machine, Source: CPUSource,
		count: parsed("proc/stat", func(data []byte) (map[string]float64, error) {
			cpu, err := parseCPU(data)
			if err != nil {
				return nil, err
			}
			return CPUCounts(cpu.Each), nil
		}),
	}
}

// CPUCounts names the times of each CPU as the results do.
func CPUCounts(all []CPUTimes) map[string]float64 {
	times := map[string]float64{}
	for n, each := range all {
		name := fmt.Sprintf("cpu%d", n)
		times[name+".busy"], times[name+".softirq"] = float64(each.Busy), float64(each.Softirq)
		times[name+".steal"], times[name+".idle"] = float64(each.Steal), float64(each.Idle)
	}
	return times
}

// The columns of a cpu line, proc_stat(5). The two that follow, guest and
// guest_nice, are part of user and nice already (account_guest_time in
// kernel/sched/cputime.c).
const (
	user = iota
	nice
	system
	idle
	iowait
	irq
	softirq
	steal
	columns
)

// parseCPU reads the cpu lines of /proc/stat, which come first in the file.
func parseCPU(data []byte) (CPU, error) {
	var c CPU
	err := c.parse(data)
	return c, err
}

// parse fills c and reuses its memory.
func (c *CPU) parse(data []byte) error {
	c.CPUTimes = CPUTimes{}
	c.Each = c.Each[:0]
	whole := false
	for line := range bytes.Lines(data) {
		label, fields, _ := bytes.Cut(line, []byte(" "))
		number, ok := bytes.CutPrefix(label, []byte("cpu"))
		if !ok {
			break
		}
		times, err := parseTimes(fields)
		if err != nil {
			return fmt.Errorf("parse CPU times: line %q: %w", label, err)
		}
		if len(number) == 0 {
			c.CPUTimes, whole = times, true
			continue
		}
		n, err := strconv.ParseUint(string(number), 10, 64)
		if err != nil || n >= maxCPUs {
			return fmt.Errorf("parse CPU times: line %q: no CPU number below %d", label, maxCPUs)
		}
		for uint64(len(c.Each)) <= n {
			c.Each = append(c.Each, CPUTimes{})
		}
		c.Each[n] = times
	}
	if !whole {
		return errors.New(`parse CPU times: no line "cpu": is this the kernel's /proc/stat?`)
	}
	return nil
}

func parseTimes(fields []byte) (CPUTimes, error) {
	var seconds [columns]result.Seconds
	n := 0
	for field := range bytes.FieldsSeq(fields) {
		if n == columns {
			break
		}
		ticks, err := strconv.ParseUint(string(field), 10, 64)
		if err != nil {
			return CPUTimes{}, err
		}
		seconds[n] = result.Seconds(ticks) / userHz
		n++
	}
	if n < columns {
		return CPUTimes{}, fmt.Errorf("%d columns, want %d or more", n, columns)
	}
	t := CPUTimes{
		Busy: seconds[user] + seconds[nice] + seconds[system] +
			seconds[irq] + seconds[softirq] + seconds[steal],
		Softirq: seconds[softirq],
		Steal:   seconds[steal],
		Idle:    seconds[idle] + seconds[iowait],
	}
	t.Total = t.Busy + t.Idle
	return t, nil
}

// Since is the time spent from an earlier read to this one. A CPU that was
// offline at either end has zero times. Idle, and Total with it, may come out
// slightly negative over a short span: the kernel's iowait can fall.
func (c CPU) Since(earlier CPU) CPU {
	return CPU{CPUTimes: c.CPUTimes.Since(earlier.CPUTimes), Each: c.AddSince(&earlier, nil)}
}

// UsedSince is how long CPUs were busy since an earlier read, so long ago: the time
// of all CPUs without what they idled and without what was stolen. The kernel measures
// idle time in microseconds where idle CPUs have no tick (get_cpu_idle_time_us in
// kernel/time/tick-sched.c), and gives it in steps of 10 ms; Busy is what ticks have
// found. So a short span is off by up to 10 ms, and the sum of many is not: it may be
// slightly negative. It allocates nothing.
func (c *CPU) UsedSince(earlier *CPU, elapsed result.Seconds) (busy, steal result.Seconds) {
	spent := c.CPUTimes.Since(earlier.CPUTimes)
	online := 0
	for n := range min(len(c.Each), len(earlier.Each)) {
		if c.Each[n].Total > 0 && earlier.Each[n].Total > 0 {
			online++
		}
	}
	return result.Seconds(online)*elapsed - spent.Idle - spent.Steal, spent.Steal
}

// AddSince adds to sums what each CPU spent since an earlier read. It allocates nothing
// where sums has room for all CPUs.
func (c *CPU) AddSince(earlier *CPU, sums []CPUTimes) []CPUTimes {
	for len(sums) < len(c.Each) {
		sums = append(sums, CPUTimes{})
	}
	for n := range min(len(c.Each), len(earlier.Each)) {
		if c.Each[n].Total > 0 && earlier.Each[n].Total > 0 {
			sums[n] = sums[n].plus(c.Each[n].Since(earlier.Each[n]))
		}
	}
	return sums
}

func (t CPUTimes) plus(o CPUTimes) CPUTimes {
	return CPUTimes{
		Busy: t.Busy + o.Busy, Softirq: t.Softirq + o.Softirq, Steal: t.Steal + o.Steal,
		Idle: t.Idle + o.Idle, Total: t.Total + o.Total,
	}
}

// Since is what was spent after an earlier read.
func (t CPUTimes) Since(earlier CPUTimes) CPUTimes {
	return CPUTimes{
		Busy:    t.Busy - earlier.Busy,
		Softirq: t.Softirq - earlier.Softirq,
		Steal:   t.Steal - earlier.Steal,
		Idle:    t.Idle - earlier.Idle,
		Total:   t.Total - earlier.Total,
	}
}

// CPUReader reads /proc/stat again and again at the edges of a window. It is
// for one goroutine at a time.
type CPUReader struct {
	file *os.File
	buf  []byte
}

// OpenCPU opens /proc/stat below root and reads it once, so that what is wrong
// with it shows before a window starts.
func OpenCPU(root string) (*CPUReader, error) {
	file, err := os.Open(filepath.Join(root, "proc/stat"))
	if err != nil {
		return nil, fmt.Errorf("%w: is /proc mounted?", err)
	}
	r := &CPUReader{file: file, buf: make([]byte, 16<<10)}
	if err := r.Read(new(CPU)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

// Read reads the CPU times into memory that the caller keeps, one CPU for each
// edge. It allocates nothing once into.Each has room for every CPU, as after an
// earlier Read into the same CPU.
func (r *CPUReader) Read(into *CPU) error {
	for {
		// ReadAt starts over at offset 0, where the kernel makes the text anew.
		n, err := r.file.ReadAt(r.buf, 0)
		switch {
		case err == io.EOF:
			if err := into.parse(r.buf[:n]); err != nil {
				return fmt.Errorf("read %s: %w", r.file.Name(), err)
			}
			return nil
		case err != nil:
			return err
		}
		r.buf = make([]byte, 2*len(r.buf)) // the file may be longer: see it whole
	}
}

// Close closes the file.
func (r *CPUReader) Close() error { return r.file.Close() }
