package lab

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Attributes are those with which the lab's init must be started: new
// namespaces of every kind that the lab changes, and, without root, a user
// namespace in which the caller is root. With dieWithParent the kernel kills it
// when the starting thread ends, so that thread must be locked and kept alive.
func Attributes(dieWithParent bool) *syscall.SysProcAttr {
	sys := &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
	}
	if dieWithParent {
		sys.Pdeathsig = syscall.SIGKILL
		sys.Setpgid = true // Ctrl-C reaches the tool only, which then takes the lab down
	} else {
		sys.Setsid = true
	}
	if !privileged() {
		sys.Cloneflags |= unix.CLONE_NEWUSER
		sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return sys
}

// privileged reports whether this process may make namespaces without a user
// namespace: it has CAP_SYS_ADMIN and CAP_NET_ADMIN.
func privileged() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return false
	}
	need := uint32(1<<unix.CAP_SYS_ADMIN | 1<<unix.CAP_NET_ADMIN)
	return data[0].Effective&need == need
}

// IsRoot reports, inside the lab, whether it belongs to the machine's root: its
// user namespace is the initial one, which maps every user to itself.
func IsRoot() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return false
	}
	fields := strings.Fields(string(text))
	return len(fields) == 3 && fields[0] == "0" && fields[1] == "0" && fields[2] == "4294967295"
}

// ErrNamespaces means that this machine refuses namespaces to this user.
var ErrNamespaces = errors.New("namespaces are refused")

// Explain turns a failure to start the lab's init into what is missing and
// how to get it.
func Explain(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EUSERS):
		return fmt.Errorf("%w: %w: raise the sysctls user.max_user_namespaces and user.max_net_namespaces, or run as root", ErrNamespaces, err)
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOSYS):
		return fmt.Errorf("%w: %w: run as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0); in a container add --privileged", ErrNamespaces, err)
	}
	return err
}

// Enter prepares the lab's init: its mounts follow the machine's, and /proc shows its
// PID namespace. Where the kernel refuses a new /proc to a user namespace (the old
// one is partly masked, as in a container), /proc stays as it was.
func Enter() error {
	if os.Getpid() != 1 {
		return errors.New("enter lab: not the init of a PID namespace: this command is started by tare itself")
	}
	// What the machine unmounts goes here too, and nothing goes the other way.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("make mounts follow the machine's: %w", err)
	}
	err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if err != nil && !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return nil
}
