package site

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tare/catalog"
	"tare/network/kinds"
	"tare/probe"
)

// LimitError reports that a lab would not fit into what the machine allows.
type LimitError struct {
	What        string
	Need, Limit int
	Raise       string // the command that raises the limit
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the lab needs %d %s, and this machine allows %d: %s", e.Need, e.What, e.Limit, e.Raise)
}

// What a lab takes, about: measured on labs of a thousand containers, and rounded up.
const (
	descriptorsOf = 2         // of a namespace, in the keeper
	descriptors   = 100       // of the keeper besides
	memoryOf      = 512 << 10 // bytes of a namespace
	threadsOf     = 12        // of a container that an engine runs
	threads       = 100       // of the agents and the keeper
	neighboursOf  = 8         // of a cluster: its two hosts and their first containers; the rest of a mesh is permanent
)

// fits compares what a lab takes with the limits of the machine below a root, before
// anything is built. The first that it would exceed is a *LimitError; a limit that can't be
// read is none.
func (s Spec) fits(root string, mostDescriptors int) error {
	namespaces, running := 0, 0
	for _, c := range s.Clusters {
		containers := c.Hosts * c.Containers
		if c.Network == catalog.Baseline { // it has none
			containers = 0
		}
		namespaces += c.Hosts + containers
		if c.Hosts > 2 || c.Switch {
			namespaces++
		}
		if n, _ := kinds.Find(c.Network); n.Runtime != "" {
			running += containers
		}
	}
	for _, l := range []LimitError{
		{"network namespaces", namespaces, limitIn(root, "proc/sys/user/max_net_namespaces"), "sysctl user.max_net_namespaces=%d"},
		{"open files", descriptors + descriptorsOf*namespaces, mostDescriptors, "ulimit -Hn %d, as root"},
		{"threads", threads + threadsOf*running, limitIn(root, "proc/sys/kernel/threads-max"), "sysctl kernel.threads-max=%d"},
		{"threads", threads + threadsOf*running, limitIn(root, "proc/sys/kernel/pid_max"), "sysctl kernel.pid_max=%d"},
		{"threads in its control group", threads + threadsOf*running, groupRoom(root, "pids", "pids.current", "pids.max"), "let the group of this shell have %d more (pids.max; with systemd TasksMax)"},
		{"entries in the table of neighbours", neighboursOf * len(s.Clusters), neighbours(root), "sysctl net.ipv4.neigh.default.gc_thresh3=%d"},
		{"MiB of memory", namespaces * memoryOf >> 20, probe.AvailableMiB(root), "use fewer --hosts or --containers than for %d MiB"},
		{"MiB of memory in its control group", namespaces * memoryOf >> 20, groupRoom(root, "memory", "", "memory.max", "memory.limit_in_bytes") >> 20, "let the group of this shell have %d MiB more"},
	} {
		if l.Limit >= 0 && l.Need > l.Limit {
			l.Raise = fmt.Sprintf(l.Raise, l.Need)
			return &l
		}
	}
	return nil
}

// limitIn is the number in a file; -1: there is none.
func limitIn(root, path string) int {
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return -1
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return -1
	}
	return n
}

// groupRoom is what the control groups of this process let it take; -1: they have no limit.
func groupRoom(root, controller, used string, limits ...string) int {
	room, limited := probe.GroupRoom(root, controller, used, limits...)
	if !limited {
		return -1
	}
	return room
}

// neighbours is the room in the table of neighbours, which all namespaces share; -1: it is
// not known. Those that are there are not subtracted: the kernel drops old ones for room.
func neighbours(root string) int {
	return limitIn(root, "proc/sys/net/ipv4/neigh/default/gc_thresh3")
}

// mostFiles is how many files a process may have open: Go raises its limit to the most.
func mostFiles() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil || limit.Max > 1<<31 {
		return -1
	}
	return int(limit.Max)
}
