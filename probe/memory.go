package probe

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// AvailableMiB is how much memory programs can still take, in MiB (MemAvailable,
// proc_meminfo(5)); -1: it is not known.
func AvailableMiB(root string) int {
	if size, known := parseMemory(contents(root, "proc/meminfo"))["MemAvailable"]; known {
		return int(size >> 20)
	}
	return -1
}

// meminfo is the memory that programs can't have, and what the kernel holds of it.
func meminfo(root string) (map[string]any, error) {
	text, err := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return nil, err
	}
	sizes, values := parseMemory(text), map[string]any{}
	for _, name := range []string{"MemTotal", "MemAvailable", "SUnreclaim", "Percpu", "KernelStack"} {
		if size, known := sizes[name]; known {
			values[name] = float64(size)
		}
	}
	return values, nil
}

// parseMemory reads the sizes of /proc/meminfo, in bytes; the file counts in KiB, which it
// calls kB.
func parseMemory(data []byte) map[string]uint64 {
	sizes := map[string]uint64{}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[2] != "kB" {
			continue
		}
		if kib, err := strconv.ParseUint(fields[1], 10, 64-10); err == nil {
			sizes[strings.TrimSuffix(fields[0], ":")] = kib << 10
		}
	}
	return sizes
}
