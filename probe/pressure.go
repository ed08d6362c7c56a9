package probe

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// pressure counts how long tasks waited for what the machine was short of.
func pressure() Probe {
	return Probe{
		Name: "pressure", Doc: "time in which some task, or all, waited for CPU, memory or I/O (PSI)", Scope: Machine, Source: "/proc/pressure",
		count: func(v *view) (map[string]float64, error) {
			waited := map[string]float64{}
			for _, of := range []string{"cpu", "memory", "io"} {
				data, err := v.read("proc/pressure/" + of)
				if err != nil {
					return nil, err
				}
				for _, who := range []string{"some", "full"} {
					total, err := parsePressure(data, who)
					if err != nil {
						return nil, err
					}
					waited[of+"."+who] = total.Seconds()
				}
			}
			return waited, nil
		},
	}
}

// CPUPressure is how long, since boot, some task waited for a CPU: "some
// total" of /proc/pressure/cpu (PSI, Linux 4.20). The difference of two reads
// over the time between them is the share of it in which one waited; the
// averages in the file would also hold what ended seconds ago. ok is false
// where the kernel keeps no such account.
func CPUPressure(root string) (waited time.Duration, ok bool, err error) {
	data, err := os.ReadFile(filepath.Join(root, "proc/pressure/cpu"))
	// With PSI off at boot the file may exist and refuse reads (psi_show in kernel/sched/psi.c).
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.EOPNOTSUPP) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	waited, err = parsePressure(data, "some")
	return waited, err == nil, err
}

// parsePressure reads the total of the line that begins with who.
func parsePressure(data []byte, who string) (time.Duration, error) {
	for line := range bytes.Lines(data) {
		fields := bytes.Fields(line)
		if len(fields) < 2 || string(fields[0]) != who {
			continue
		}
		last := fields[len(fields)-1]
		text, ok := bytes.CutPrefix(last, []byte("total="))
		us, err := strconv.ParseInt(string(text), 10, 64)
		if !ok || err != nil || us < 0 || us > int64(1<<63-1)/int64(time.Microsecond) {
			return 0, fmt.Errorf("parse pressure: %q is no total of microseconds", last)
		}
		return time.Duration(us) * time.Microsecond, nil
	}
	return 0, fmt.Errorf("parse pressure: no line %q: is this a file of /proc/pressure?", who)
}
