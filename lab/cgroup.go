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

// hierarchy is a mount of control groups in which the cpu controller may be.
type hierarchy struct {
	version int
	root    string // where it is mounted
	mark    string // a file that its root has
	weight  string // the file with a group's weight
	each    int    // the weight of one process
}

// hierarchies are those that are mounted below a root folder, "/" but in tests.
func hierarchies(root string) ([]hierarchy, error) {
	var mounted []hierarchy
	for _, h := range []hierarchy{
		{1, filepath.Join(root, "sys/fs/cgroup/cpu"), "cpu.shares", "cpu.shares", shares},
		{2, filepath.Join(root, "sys/fs/cgroup"), "cgroup.controllers", "cpu.weight", weight},
	} {
		_, err := os.Stat(filepath.Join(h.root, h.mark))
		if err == nil {
			mounted = append(mounted, h)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("find control groups: %w", err)
		}
	}
	return mounted, nil
}

// MakeCgroup makes the control group of Config.Cgroup before engines make theirs
// below it. On each CPU it weighs as one process of the machine: it holds what
// all hosts of the lab run, each of which has its own CPUs. Its removal is in
// the ledger.
func (l *Lab) MakeCgroup() error { return makeCgroup("/", l.Cgroup, len(l.All)) }

func makeCgroup(root, name string, cpus int) error {
	all, err := hierarchies(root)
	if err != nil {
		return err
	}
	for _, h := range all {
		if err := h.make(filepath.Join(h.root, name), cpus); err != nil {
			return err
		}
	}
	return nil
}

// make makes a group that weighs as one process on each CPU. A group of version 2
// whose parent has no cpu controller for it weighs nothing.
func (h hierarchy) make(group string, cpus int) error {
	if err := os.Mkdir(group, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make control group: %w", err)
	}
	err := writeExisting(filepath.Join(group, h.weight), strconv.Itoa(h.each*cpus))
	if err != nil && (h.version == 1 || !errors.Is(err, fs.ErrNotExist)) {
		return fmt.Errorf("weigh control group: %w", err)
	}
	return nil
}

// leaf is the group below the lab's that holds its processes in version 2: there
// a group whose groups have controllers holds none itself (cgroups(7), "no
// internal processes").
const leaf = "lab"

// JoinCgroup moves the calling process into the group that MakeCgroup made, and
// with it all that it starts from then on.
//
// A container of an engine is a group below the lab's, next to the lab's
// processes. In version 1 it weighs as one of them; in version 2 they are a group
// too. Each host has its own CPUs, so it is rare that both want one CPU: a
// container and its own host do, and then share it evenly.
func (l *Lab) JoinCgroup() error { return joinCgroup("/", l.Cgroup, len(l.All)) }

func joinCgroup(root, name string, cpus int) error {
	all, err := hierarchies(root)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errors.New("join control group: none is mounted at /sys/fs/cgroup: mount -t cgroup2 none /sys/fs/cgroup")
	}
	for _, h := range all {
		if err := h.join(filepath.Join(h.root, name), cpus); err != nil {
			return fmt.Errorf("join control group: %w", err)
		}
	}
	return nil
}

func (h hierarchy) join(group string, cpus int) error {
	if h.version == 2 {
		if _, err := os.Stat(filepath.Join(group, h.weight)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the machine's groups have no cpu controller: echo +cpu >%s/cgroup.subtree_control", h.root)
		}
		if err := writeExisting(filepath.Join(group, "cgroup.subtree_control"), "+cpu"); err != nil {
			return err
		}
		group = filepath.Join(group, leaf)
		if err := h.make(group, cpus); err != nil {
			return err
		}
	}
	return writeExisting(filepath.Join(group, "cgroup.procs"), "0") // the writer itself
}

// writeExisting writes a file of a control group. The kernel makes those files;
// an attempt to create one fails with another error than that it is absent.
func writeExisting(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}
