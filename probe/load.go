package probe

import (
	"errors"
	"time"
)

// Load is how busy a machine is with work that is not ours.
type Load struct {
	ForeignCPU float64  `json:"foreign_cpu"` // CPUs busy with it, in cores
	Pressure   float64  `json:"pressure"`    // share of the time in which a task waited for a CPU (PSI "some"); -1: the kernel has no PSI
	CPU        CPUTimes `json:"cpu"`         // of all CPUs, since boot
}

const (
	loadSample = 300 * time.Millisecond
	loadMuch   = 0.25 // of one CPU, from which it is looked for again
	loadLooks  = 4    // at most
)

// LoadError is what a few ticks of the kernel's counters may add to Load.ForeignCPU, in cores.
func LoadError() float64 { return 2.0 / userHz / loadSample.Seconds() }

// ReadLoad looks at a machine for 0.3 to 1.2 s. It is right only while tare itself idles.
// What keeps CPUs busy for a moment only, as an engine that still works for the previous
// command, counts for little: it looks again, and takes the least.
func ReadLoad(root string) (l Load, err error) {
	start := time.Now()
	before, known, err := CPUPressure(root)
	if err != nil {
		return l, err
	}
	for look := range loadLooks {
		busy, err := ForeignCPU(root, loadSample)
		if err != nil {
			return l, err
		}
		if look == 0 || busy < l.ForeignCPU {
			l.ForeignCPU = busy
		}
		if l.ForeignCPU < loadMuch {
			break
		}
	}
	l.Pressure = -1
	if known {
		after, _, err := CPUPressure(root)
		if err != nil {
			return l, err
		}
		l.Pressure = float64(after-before) / float64(time.Since(start))
	}
	l.CPU, err = ReadCPUTimes(root)
	return l, err
}

// ReadCPUTimes reads how all CPUs have spent their time since boot.
func ReadCPUTimes(root string) (times CPUTimes, err error) {
	reader, err := OpenCPU(root)
	if err != nil {
		return times, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	var now CPU
	err = reader.Read(&now)
	return now.CPUTimes, err
}
