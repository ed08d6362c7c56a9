package lab

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
)

// descendants lists what a process has started, and what that has started, in
// whatever group. Those whose parent has ended are the init's, and no longer
// found.
func descendants(of int) ([]int, error) {
	pids, err := processes()
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, pid := range pids {
		if parent, ok := parentOf(pid); ok {
			children[parent] = append(children[parent], pid)
		}
	}
	var found []int
	for next := children[of]; len(next) > 0; next = next[1:] {
		if !slices.Contains(found, next[0]) {
			found = append(found, next[0])
			next = append(slices.Clone(next), children[next[0]]...)
		}
	}
	return found, nil
}

// parentOf reads a process's parent (proc_pid_stat(5)); false: it has ended. The
// second field, a name in parentheses, may hold anything.
func parentOf(pid int) (parent int, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return parent, err == nil
}
