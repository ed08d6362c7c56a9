package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
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

// cgroupOf names the control group of what is bound to a set of CPUs, by its path
// below the root of every hierarchy: "/tare-ID+0-3", or "/tare-ID" for what is not
// bound.
//
// Each set has its own group, none below another, so that a group whose set is
// one CPU has no tasks elsewhere and always has its whole weight there. The kernel
// divides the weight of others between CPUs by load, anew with each task that sleeps
// or wakes, and since 6.13 it gives a group that runs time back with each change
// (6d71a9c61604 in kernel/sched/fair.c, reverted in 2026): a task of it that spins in
// the kernel keeps all else from its CPU, kernel threads included, for up to a minute.
func (c Config) cgroupOf(cpus CPUSet) string {
	if c.Cgroup == "" || len(cpus) == 0 {
		return c.Cgroup
	}
	return c.Cgroup + CgroupMark + cpus.String()
}

// CgroupMark separates what the names of a lab's groups have in common from the
// CPUs of each. No name of a lab holds it.
const CgroupMark = "+"

// UseCgroups has the lab make control groups: that of what is not bound to CPUs
// now, those of its hosts with them, before engines make theirs below them. Their
// removal is in the ledger. With join, each process that is started in a place of
// the lab starts in the group of that place; the error may then mean that groups
// can be made but not joined.
func (l *Lab) UseCgroups(join bool) error {
	if err := makeCgroup("/", l.Cgroup, len(l.All)); err != nil {
		return err
	}
	l.hasCgroups = true
	if !join {
		return nil
	}
	err := onThread(func() error {
		close, err := joinCgroup("/", l.Cgroup, len(l.All), new(syscall.SysProcAttr))
		if err != nil {
			return err
		}
		return close()
	})
	l.joinsCgroups = err == nil
	return err
}

// prepareCgroup makes the group of a host with these CPUs, where the lab makes any,
// and returns the one that processes of the host start in; empty: none.
func (l *Lab) prepareCgroup(cpus CPUSet) (join string, err error) {
	group := l.cgroupOf(cpus)
	if l.hasCgroups && len(cpus) > 0 {
		err = makeCgroup("/", group, len(cpus))
	}
	if !l.joinsCgroups {
		return "", err
	}
	return group, err
}

// makeCgroup makes a group that weighs as one process on each of its CPUs: each
// host has its own. A group of version 2 whose parent has no cpu controller for it
// weighs nothing: containerd/cgroups would turn it on in the machine's own groups.
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

// leaf is the group below a host's that holds its processes in version 2: there a
// group whose groups have controllers holds none itself (cgroups(7), "no internal
// processes").
const leaf = "lab"

// joinCgroup has what the calling thread starts with these attributes start in a
// group that makeCgroup made. In version 1 the thread itself moves there; version 2
// needs Linux 5.7. The caller closes what it returns once it has started it.
//
// A container of an engine is a group below the host's, next to the host's
// processes. In version 1 it weighs as one of them; in version 2 they are a group
// too.
func joinCgroup(root, name string, cpus int, attr *syscall.SysProcAttr) (close func() error, err error) {
	all, err := hierarchies(root)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("join control group: none is mounted at /sys/fs/cgroup: mount -t cgroup2 none /sys/fs/cgroup")
	}
	close = func() error { return nil }
	for _, h := range all {
		group := filepath.Join(h.root, name)
		if h.version == 1 {
			err = writeExisting(filepath.Join(group, "tasks"), "0") // the writer itself
		} else {
			close, err = h.startIn(group, cpus, attr)
		}
		if err != nil {
			return nil, fmt.Errorf("join control group: %w", err)
		}
	}
	return close, nil
}

// startIn has a process start in the leaf of a group of version 2.
func (h hierarchy) startIn(group string, cpus int, attr *syscall.SysProcAttr) (close func() error, err error) {
	if _, err := os.Stat(filepath.Join(group, h.weight)); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the machine's groups have no cpu controller: echo +cpu >%s/cgroup.subtree_control", h.root)
	}
	if !startsInCgroups() {
		return nil, errors.New("the kernel is older than Linux 5.7")
	}
	if err := writeExisting(filepath.Join(group, "cgroup.subtree_control"), "+cpu"); err != nil {
		return nil, err
	}
	group = filepath.Join(group, leaf)
	if err := h.make(group, cpus); err != nil {
		return nil, err
	}
	folder, err := os.Open(group)
	if err != nil {
		return nil, err
	}
	attr.UseCgroupFD, attr.CgroupFD = true, int(folder.Fd())
	return folder.Close, nil
}

// startsInCgroups asks clone3(2) for a process in a group by a descriptor that is
// not open: kernels that know CLONE_INTO_CGROUP refuse the descriptor, others the flag.
func startsInCgroups() bool {
	args := [11]uint64{0: unix.CLONE_INTO_CGROUP, 10: math.MaxInt32} // struct clone_args: flags, cgroup
	_, _, errno := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
	return errno == unix.EBADF
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
