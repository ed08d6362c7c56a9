package site

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tare/lab"
	"tare/probe"
)

// What runs in a lab is in control groups, and engines make more of them below. No
// namespace holds them: they are the one thing of a lab that the kernel does not
// remove by itself. All names of a lab's begin with one that is in the ledger before
// the first is made. The file is locked for as long as the lab's owner lives.

// useCgroups has the lab make control groups and, where the kernel shares the CPUs
// between sessions (autogroup), start in them what it will run: else each session of
// the lab is a group with tasks on several CPUs, and Linux 6.18 lets such a group
// whose task spins in the kernel keep all others from a CPU. Where autogroup is off,
// or the keeper is in a group already, they stay there.
//
// Where that fails and the kernel groups by session, it gives a warning for the
// numbers of networks whose containers a real engine runs: each container is a
// session, and so is each helper that makes one. All else in a lab is one session.
// So the usual lab of an ordinary user, who can make no control group, needs no
// warning.
func (k *keeper) useCgroups() (warning string, err error) {
	bySession, err := probe.Autogrouped("/")
	if err != nil {
		return "", err
	}
	refused := errors.New("only root can make one")
	if k.lab.Cgroup != "" {
		refused = k.lab.UseCgroups(bySession)
	}
	if refused == nil || !bySession {
		return "", nil // engines report themselves that they can't make their groups
	}
	return fmt.Sprintf("autogroup: the kernel weighs the sessions of this network's engine against each other, and each may wait for minutes:"+
		" the lab has no control group: %v; or run sysctl kernel.sched_autogroup_enabled=0", refused), nil
}

// cgroupSuffix is that of a lab's file in the ledger.
const cgroupSuffix = ".cgroup"

// cgroupsWait is how long the kernel gets to end what was in a group.
const cgroupsWait = 10 * time.Second

// cgroupsOf is how the names of a lab's groups begin.
func cgroupsOf(lab string) string { return "tare-" + lab }

// claimTries bounds how often another command's clean-up may take the file
// away before it is locked.
const claimTries = 10

// makesCgroups reports whether a lab of this process's user has a control group: only
// that of the machine's root.
func makesCgroups() bool { return os.Geteuid() == 0 && lab.IsRoot() }

// claimCgroups writes a lab to the ledger and returns the lock. It first removes
// what labs left whose owners were killed.
func claimCgroups(name string) (*os.File, error) {
	_ = Sweep() // each command has warned of what can't be removed
	for range claimTries {
		file, err := lockClaim(name)
		if err != nil || file != nil {
			return file, err
		}
	}
	return nil, fmt.Errorf("lock ledger: other processes keep removing the file of %s", name)
}

// lockClaim makes a lab's file and locks it; nil: another process removed it before
// it was locked.
func lockClaim(name string) (*os.File, error) {
	dir, err := openLedger()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name+cgroupSuffix)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the ledger was removed with its last lab
	}
	if err != nil {
		return nil, fmt.Errorf("write ledger: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock ledger: %w", err), file.Close())
	}
	mine, errMine := file.Stat()
	there, errThere := os.Stat(path)
	if errMine == nil && errThere == nil && os.SameFile(mine, there) {
		return file, nil
	}
	return nil, file.Close()
}

// releaseCgroups removes a lab's groups and its file in the ledger.
func releaseCgroups(file *os.File) error {
	if file == nil {
		return nil
	}
	name := strings.TrimSuffix(filepath.Base(file.Name()), cgroupSuffix)
	err := removeCgroups(cgroupsOf(name))
	if err == nil {
		err = os.Remove(file.Name())
	}
	return errors.Join(err, file.Close(), leave(filepath.Dir(file.Name())))
}

// Sweep removes what labs left that were killed: entries of the ledger that were never
// written to their end, and the control groups of labs whose file no process locks, and of
// named labs whose keepers do not answer.
func Sweep() error {
	dir, err := ledger()
	if err != nil {
		return err
	}
	if err := sweepUnfinished(dir); err != nil || !makesCgroups() {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"+cgroupSuffix))
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range files {
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its owner has just ended
		}
		if err != nil {
			return fmt.Errorf("read ledger: %w", err)
		}
		if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
			errs = append(errs, file.Close()) // its owner lives
			continue
		}
		errs = append(errs, releaseCgroups(file))
	}
	return errors.Join(append(errs, sweepNamed(dir))...)
}

// sweepUnfinished removes the entries that were never written to their end, which their writer
// would lock, and the ledger if it had nothing else.
func sweepUnfinished(dir string) error {
	halves, err := filepath.Glob(filepath.Join(dir, ".*.json.*"))
	if err != nil || len(halves) == 0 {
		return err
	}
	var errs []error
	for _, half := range halves {
		file, err := os.OpenFile(half, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has its name by now
		}
		if err != nil {
			return fmt.Errorf("read ledger: %w", err)
		}
		if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			if err := os.Remove(half); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, fmt.Errorf("write ledger: %w", err))
			}
		}
		errs = append(errs, file.Close())
	}
	return errors.Join(append(errs, leave(dir))...)
}

// sweepNamed removes the groups of named labs whose keepers were killed. The labs stay in
// the ledger, so that they can be listed and taken down.
func sweepNamed(dir string) error {
	sockets, err := filepath.Glob(filepath.Join(dir, "*.sock"))
	if err != nil {
		return err
	}
	var errs []error
	for _, socket := range sockets {
		conn, err := net.DialTimeout("unix", socket, dialWait)
		if err == nil {
			errs = append(errs, conn.Close())
		} else if errors.Is(err, unix.ECONNREFUSED) {
			errs = append(errs, removeCgroups(cgroupsOf("lab-"+strings.TrimSuffix(filepath.Base(socket), ".sock"))))
		}
	}
	return errors.Join(errs...)
}

// removeCgroups removes the groups of a lab, and those in them, from every
// hierarchy. Processes that were killed in them get a moment to end.
func removeCgroups(name string) error {
	for deadline := time.Now().Add(cgroupsWait); ; time.Sleep(10 * time.Millisecond) {
		groups, err := groupsNamed(name) // again: an engine that is being killed makes some yet
		if err != nil || len(groups) == 0 {
			return err
		}
		var errs []error
		for _, group := range groups {
			errs = append(errs, removeTree(group))
		}
		if time.Now().After(deadline) {
			return cmp.Or(errors.Join(errs...), fmt.Errorf("remove control groups %s: they are made again: end what makes them", groups[0]))
		}
	}
}

// groupsNamed are the control groups of a name: first the one that has the lab's processes, which can't be removed
// while they live, then those of containers.
func groupsNamed(name string) (groups []string, err error) {
	for _, each := range []string{name, name + lab.CgroupMark + "*"} {
		for _, pattern := range []string{"/sys/fs/cgroup/*/", "/sys/fs/cgroup/"} {
			found, err := filepath.Glob(pattern + each)
			if err != nil {
				return nil, err
			}
			groups = append(groups, found...)
		}
	}
	return groups, nil
}

// removeTree removes a group and those in it, the innermost first.
func removeTree(group string) error {
	var all []string
	err := filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && entry.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("list control groups: %w", err)
	}
	for _, path := range slices.Backward(all) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove control group: %w", err)
		}
	}
	return nil
}
