package probe

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// GroupRoom is how much the control groups of this process let it take of what a
// controller counts: the least limit of its group and of those above it, less what is used
// there. The files hold a limit, in either version's name, and what is used; no such file:
// nothing is. limited is false where no group has a limit.
func GroupRoom(root, controller, used string, limits ...string) (room int, limited bool) {
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return 0, false
	}
	number := func(folder, file string) (int, bool) {
		text, err := os.ReadFile(filepath.Join(root, folder, file))
		if err != nil {
			return 0, false
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(text))) // "max": there is none
		return n, err == nil
	}
	for _, g := range groupsWith(controller, groups) {
		for _, folder := range g.folders {
			for _, file := range limits {
				most, ok := number(folder, file)
				if !ok {
					continue
				}
				taken, _ := number(folder, used)
				if left := max(most-taken, 0); !limited || left < room {
					room, limited = left, true
				}
			}
		}
	}
	return room, limited
}
