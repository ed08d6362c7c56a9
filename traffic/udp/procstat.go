package udp

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"tare/traffic"
)

// userHZ is the ticks in a second of /proc/stat (USER_HZ, proc_stat(5)).
const userHZ = 100

// cpuTicks is what the CPUs have spent since the boot, in ticks.
type cpuTicks struct {
	busy    int64   // of all CPUs: all but idle, iowait and steal
	softirq []int64 // of each CPU, in the order of the file
}

// cpuReader reads /proc/stat again and again without allocation.
type cpuReader struct {
	fd   int
	text []byte
}

// openCPUReader makes the reader and room for its readings.
func openCPUReader() (*cpuReader, cpuTicks, error) {
	fd, err := unix.Open("/proc/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, cpuTicks{}, fmt.Errorf("open /proc/stat: %w", err)
	}
	// The lines of the CPUs come first, and no machine has more than 8192.
	c := &cpuReader{fd: fd, text: traffic.Buffer(1 << 20)}
	ticks := cpuTicks{softirq: make([]int64, 0, 8192)}
	if err := c.read(&ticks); err != nil {
		c.close()
		return nil, cpuTicks{}, err
	}
	return c, cpuTicks{busy: ticks.busy, softirq: append([]int64(nil), ticks.softirq...)}, nil
}

func (c *cpuReader) close() { traffic.CloseSocket(c.fd) }

func (c *cpuReader) read(into *cpuTicks) error {
	size := 0
	for size < len(c.text) {
		n, err := unix.Pread(c.fd, c.text[size:], int64(size))
		if err != nil {
			return fmt.Errorf("read /proc/stat: %w", err)
		}
		if n == 0 {
			break
		}
		size += n
	}
	return parseCPUTicks(c.text[:size], into)
}

// Columns of a line of /proc/stat (proc_stat(5)). What follows is in the first
// two already.
const (
	columnIdle    = 3
	columnIOWait  = 4
	columnSoftirq = 6
	columnSteal   = 7
	columns       = 8
)

var errProcStat = errors.New("read /proc/stat: no line of all CPUs at its head")

// parseCPUTicks reads the lines of the CPUs, which come first.
func parseCPUTicks(text []byte, into *cpuTicks) error {
	into.softirq = into.softirq[:0]
	for first := true; ; first = false {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		name, numbers, _ := bytes.Cut(line, []byte{' '})
		switch {
		case first && string(name) != "cpu":
			return errProcStat
		case !bytes.HasPrefix(name, []byte("cpu")):
			return nil
		}
		var ticks [columns]int64
		if !parseColumns(numbers, &ticks) {
			return errProcStat
		}
		if first {
			into.busy = -ticks[columnIdle] - ticks[columnIOWait] - ticks[columnSteal]
			for _, n := range ticks {
				into.busy += n
			}
		} else {
			into.softirq = append(into.softirq, ticks[columnSoftirq])
		}
		text = rest
	}
}

// parseColumns reads the first numbers of a line.
func parseColumns(text []byte, into *[columns]int64) bool {
	at, digits := 0, 0
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9' && digits < 18:
			into[at] = into[at]*10 + int64(c-'0')
			digits++
		case c != ' ':
			return false
		case digits > 0:
			if at, digits = at+1, 0; at == columns {
				return true
			}
		}
	}
	return at == columns-1 && digits > 0
}
