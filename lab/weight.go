package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// Weights of a control group as of one process: cpu.shares of version 1,
// cpu.weight of version 2 (Documentation/admin-guide/cgroup-v2.rst).
const (
	shares = 1024
	weight = 100
)

// WeighCgroup makes the control group of Cgroup before engines make theirs
// below it, with the weight of one process on each CPU: on a machine of its own
// an engine's group weighs as one process, and this one holds those of all
// hosts. Its removal is in the ledger.
func (h *Host) WeighCgroup() error {
	for _, v := range []struct {
		root, mark, file string // mark is in the root group of such a hierarchy
		each             int
	}{
		{"/sys/fs/cgroup/cpu", "cpu.shares", "cpu.shares", shares},
		{"/sys/fs/cgroup", "cgroup.controllers", "cpu.weight", weight},
	} {
		if _, err := os.Stat(filepath.Join(v.root, v.mark)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		group := filepath.Join(v.root, h.Cgroup())
		if err := os.Mkdir(group, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make control group: %w", err)
		}
		value := strconv.Itoa(v.each * len(h.cluster.lab.All))
		err := os.WriteFile(filepath.Join(group, v.file), []byte(value), 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // version 2 without the controller weighs nothing
			return fmt.Errorf("weigh control group: %w", err)
		}
	}
	return nil
}
