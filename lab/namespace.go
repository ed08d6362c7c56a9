package lab

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// Namespace is a network namespace, and the mount namespace of what runs in
// it. It exists as long as it is open.
type Namespace struct {
	Undo
	Name string // the lab's name for it, as "vxlan.h1/c1"
	CPUs CPUSet // what runs in it is bound there; empty: not bound
	CC   string // congestion control of every route in it

	cgroup string // that what runs in it starts in; empty: that of the keeper

	net      *os.File
	nft      *sync.Mutex // held while rules of nftables are changed
	mounting sync.Mutex  // the first user makes the mounts
	mount    *os.File    // nil until something runs in it
	links    *netlink.Handle
	devices  *devices
	ipv6     bool       // it has IPv6 besides: see enableIPv6
	from     *Namespace // whose mounts it starts from; nil: the lab's
	via      []string   // the engine's command line that starts a process in it, run in from; nil: setns enters it

	sandboxed bool // a sandbox has what the namespace had: see EnterBy
}

// emptyNamespace is one for which nothing has been created in the kernel yet.
func emptyNamespace(name, cc string) *Namespace {
	return &Namespace{Name: name, CC: cc, nft: new(sync.Mutex), devices: &devices{index: map[string]int{}}}
}

// connectionSysctls are those of every namespace with sockets: no state carried
// from one connection to the next, and none lost in a connection's pauses, since
// runs take turns.
func connectionSysctls() []sysctl {
	return []sysctl{{"net/ipv4/tcp_no_metrics_save", "1"}, {"net/ipv4/tcp_slow_start_after_idle", "0"}}
}

// sysctls of every namespace of a lab, besides those of connections: no IPv6
// autoconfiguration (most of the cost of a thousand containers), and none of the machine's own settings, which a new namespace
// inherits for IPv4.
func sysctls() []sysctl {
	return []sysctl{
		{"net/ipv6/conf/default/disable_ipv6", "1"},
		{"net/ipv6/conf/all/disable_ipv6", "1"},
		{"net/ipv4/conf/all/rp_filter", "0"},
		{"net/ipv4/conf/default/rp_filter", "0"},
		{"net/ipv4/conf/all/send_redirects", "0"},
		{"net/ipv4/conf/default/send_redirects", "0"},
	}
}

// sysctl is a value below /proc/sys.
type sysctl struct{ path, value string }

// newNamespace makes a network namespace with its loopback up.
func newNamespace(name, cc string) (*Namespace, error) {
	ns := emptyNamespace(name, cc)
	if err := ns.create(); err != nil {
		return nil, errors.Join(err, ns.Close())
	}
	return ns, nil
}

// create makes the network namespace, its loopback up. After a failure Close
// removes what was made.
func (ns *Namespace) create() error {
	err := onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("create network namespace %s: %w", ns.Name, err)
		}
		file, err := os.Open("/proc/thread-self/ns/net")
		if err != nil {
			return fmt.Errorf("hold network namespace %s: %w", ns.Name, err)
		}
		ns.net = file
		ns.Push(file.Close)
		return writeSysctls(append(connectionSysctls(), sysctls()...))
	})
	if err != nil {
		return err
	}
	return ns.openLinks()
}

// Try tries something in a namespace that is then thrown away.
func Try(ask func(ns *Namespace) error) error {
	ns, err := newNamespace("a trial", "")
	if err != nil {
		return err
	}
	return errors.Join(ask(ns), ns.Close())
}

// openLinks opens the namespace's netlink socket and brings its loopback up.
func (ns *Namespace) openLinks() error {
	handle, err := netlink.NewHandleAt(netns.NsHandle(ns.net.Fd()), unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("open netlink in %s: %w", ns.Name, err)
	}
	ns.links = handle
	ns.Push(func() error { handle.Close(); return nil })
	return ns.SetUp("lo")
}

// Do runs work on a thread that is inside the namespace.
func (ns *Namespace) Do(work func() error) error {
	return onThread(func() error {
		if err := unix.Setns(int(ns.net.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter network namespace %s: %w", ns.Name, err)
		}
		return work()
	})
}

// onThread runs work on a new thread, on the CPUs of the calling one. The thread is
// never unlocked: having entered other namespaces it must not run other
// goroutines, and ends with its own.
func onThread(work func() error) error {
	var cpus unix.CPUSet
	if err := unix.SchedGetaffinity(0, &cpus); err != nil {
		return fmt.Errorf("read CPU affinity: %w", err)
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if err := unix.SchedSetaffinity(0, &cpus); err != nil {
			done <- fmt.Errorf("keep CPU affinity: %w", err)
			return
		}
		done <- work()
	}()
	return <-done
}

// Sysctl writes a value below /proc/sys, in the namespace.
func (ns *Namespace) Sysctl(path, value string) error {
	return ns.Do(func() error { return writeSysctl(path, value) })
}

// ReadSysctl reads a value below /proc/sys, in the namespace.
func (ns *Namespace) ReadSysctl(path string) (string, error) {
	var value string
	err := ns.Do(func() error {
		text, err := os.ReadFile("/proc/sys/" + path)
		value = strings.TrimSpace(string(text))
		return err
	})
	return value, err
}

// writeSysctls writes values for the namespace of the calling thread.
func writeSysctls(all []sysctl) error {
	for _, s := range all {
		if err := writeSysctl(s.path, s.value); err != nil {
			return err
		}
	}
	return nil
}

// writeSysctl writes a value for the namespace of the calling thread. A setting of
// IPv6 may be absent: IPv6 is then compiled out or switched off, which is what the
// lab asks for.
func writeSysctl(path, value string) error {
	err := os.WriteFile("/proc/sys/"+path, []byte(value), 0)
	if errors.Is(err, os.ErrNotExist) && strings.HasPrefix(path, "net/ipv6/") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("set sysctl %s=%s: %w", path, value, err)
	}
	return nil
}
