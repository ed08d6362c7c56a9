package probe

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// CPUPressure is the share of the last ten seconds, 0 to 1, in which some task
// waited for a CPU: "some avg10" of /proc/pressure/cpu (PSI, Linux 4.20). ok is
// false where the kernel keeps no such account. Read it before a run only: two
// ends that share a CPU raise it by themselves.
func CPUPressure(root string) (ratio float64, ok bool, err error) {
	data, err := os.ReadFile(filepath.Join(root, "proc/pressure/cpu"))
	// With PSI off at boot the file may stand there and refuse (psi_show in kernel/sched/psi.c).
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.EOPNOTSUPP) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	ratio, err = ParsePressure(data)
	return ratio, err == nil, err
}

// ParsePressure reads "some avg10" of a file of /proc/pressure as a ratio.
func ParsePressure(data []byte) (float64, error) {
	for line := range bytes.Lines(data) {
		fields := bytes.Fields(line)
		if len(fields) < 2 || string(fields[0]) != "some" {
			continue
		}
		text, ok := bytes.CutPrefix(fields[1], []byte("avg10="))
		percent, err := strconv.ParseFloat(string(text), 64)
		if !ok || err != nil || !(percent >= 0 && percent <= 100) { // NaN fails both
			return 0, fmt.Errorf("parse pressure: %q is no avg10 of 0 to 100", fields[1])
		}
		return percent / 100, nil
	}
	return 0, errors.New(`parse pressure: no line "some": is this a file of /proc/pressure?`)
}
