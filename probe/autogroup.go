package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Autogrouped reports whether the kernel shares the CPUs between the sessions that
// the calling process and those that it starts belong to: autogroup is on, and they
// are in the root task group (task_wants_autogroup in kernel/sched/autogroup.c).
func Autogrouped(root string) (bool, error) {
	on, err := os.ReadFile(filepath.Join(root, "proc/sys/kernel/sched_autogroup_enabled"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // the kernel was built without it
	}
	if err != nil {
		return false, fmt.Errorf("read autogroup: %w", err)
	}
	if strings.TrimSpace(string(on)) != "1" {
		return false, nil
	}
	return InRootTaskGroup(root)
}

// InRootTaskGroup reports whether no control group with the cpu controller holds
// the calling process, so that the scheduler has it in its root task group.
func InRootTaskGroup(root string) (bool, error) {
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil // the kernel was built without control groups
	}
	if err != nil {
		return false, fmt.Errorf("read control group: %w", err)
	}
	own := func(group group) bool { return group.isTaskGroup(root) }
	return !slices.ContainsFunc(groupsWith("cpu", groups), own), nil
}

// isTaskGroup reports whether the scheduler has a task group other than the root
// one for a control group. In a control group namespace the root that a process
// sees may be such a group too.
func (group group) isTaskGroup(root string) bool {
	has := func(folder, file string) bool {
		_, err := os.Stat(filepath.Join(root, folder, file))
		return err == nil
	}
	if group.version == 2 { // a group without the controller is in the task group of one above it
		return slices.ContainsFunc(group.folders, func(folder string) bool { return has(folder, "cpu.weight") })
	}
	top := group.folders[len(group.folders)-1]
	return len(group.folders) > 1 || has(top, "cpu.shares") && !has(top, "release_agent")
}
