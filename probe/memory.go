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
	text, err := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "MemAvailable:" {
			if kib, err := strconv.Atoi(words[1]); err == nil {
				return kib >> 10
			}
		}
	}
	return -1
}
