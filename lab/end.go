package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	// Where /proc is not that of the lab's PID namespace, its numbers mean other processes.
	if self, err := os.Readlink("/proc/self"); err != nil || self != "1" || os.Getpid() != 1 {
		return err
	}
	info, err := h.net.Stat()
	if err != nil {
		return fmt.Errorf("end processes of %s: %w", h.Name, err)
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return err
	}
	children, doomed := map[int][]int{}, []int{}
	for _, path := range stats {
		pid, parent, ok := family(path)
		if !ok || pid == 1 {
			continue
		}
		children[parent] = append(children[parent], pid)
		in, err := os.Stat(filepath.Join(filepath.Dir(path), "ns/net"))
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

// family reads a process and its parent from its stat (proc(5)); one that has
// just ended has none.
func family(stat string) (pid, parent int, ok bool) {
	text, err := os.ReadFile(stat)
	if err != nil {
		return 0, 0, false
	}
	// The name, in parentheses, may hold anything.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 2 {
		return 0, 0, false
	}
	pid, err1 := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
	parent, err2 := strconv.Atoi(fields[1])
	return pid, parent, err1 == nil && err2 == nil
}
