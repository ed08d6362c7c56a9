package lab

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// endDaemon kills a daemon and what it has started.
func (h *Host) endDaemon(daemon *Process) error {
	return errors.Join(h.endProcesses(daemon), daemon.Signal(syscall.SIGKILL))
}

// endProcesses kills every process in the host's network namespace and all their
// descendants, wherever they are: a daemon that is killed leaves its containers and
// their shims. On an engine's hosts, which others share, it kills only the daemon
// and its descendants.
func (h *Host) endProcesses(daemon *Process) error {
	pids, err := processes()
	// Where /proc is not that of the lab's PID namespace, its numbers mean other processes.
	if err != nil || pids == nil || os.Getpid() != 1 {
		return err
	}
	info, err := h.net.Stat()
	if err != nil {
		return fmt.Errorf("end processes of %s: %w", h.Name, err)
	}
	children, doomed := map[int][]int{}, []int{}
	for _, pid := range pids {
		parent, ok := parentOf(pid)
		if !ok {
			continue
		}
		children[parent] = append(children[parent], pid)
		in, err := os.Stat(fmt.Sprintf("/proc/%d/ns/net", pid))
		if err == nil && os.SameFile(in, info) && (!h.shared || pid == daemon.PID) {
			doomed = append(doomed, pid)
		}
	}
	var errs []error
	for n := 0; n < len(doomed); n++ {
		doomed = append(doomed, children[doomed[n]]...)
		delete(children, doomed[n])
		if err := syscall.Kill(doomed[n], syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, fmt.Errorf("end process %d of %s: %w", doomed[n], h.Name, err))
		}
	}
	return errors.Join(errs...)
}
