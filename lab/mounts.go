package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// enter moves the calling thread into the namespace, its mounts included. It must
// be called inside onThread.
func (ns *Namespace) enter() error {
	if err := ns.ensureMounts(); err != nil {
		return err
	}
	// A thread shares its root and working folder with the process until it unshares
	// them, and the kernel refuses setns to one that shares.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("enter %s: %w", ns.Name, err)
	}
	if err := unix.Setns(int(ns.mount.Fd()), unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("enter mount namespace of %s: %w", ns.Name, err)
	}
	if err := unix.Setns(int(ns.net.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter network namespace %s: %w", ns.Name, err)
	}
	return nil
}

// ensureMounts makes the namespace's mounts at first use.
func (ns *Namespace) ensureMounts() error {
	ns.mounting.Lock()
	defer ns.mounting.Unlock()
	if ns.mount != nil {
		return nil
	}
	return ns.makeMounts()
}

// makeMounts gives the namespace its own mounts: /sys shows its links, and a host
// has its own /run and /var/run, so that each host can run the same daemon. A
// container starts from its host's mounts.
func (ns *Namespace) makeMounts() error {
	return onThread(func() error {
		if ns.from != nil {
			if err := ns.from.enter(); err != nil {
				return err
			}
		}
		if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
			return fmt.Errorf("create mount namespace of %s: %w", ns.Name, err)
		}
		if err := unix.Setns(int(ns.net.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter network namespace %s: %w", ns.Name, err)
		}
		if err := mountSys(); err != nil {
			return fmt.Errorf("mount /sys of %s: %w", ns.Name, err)
		}
		if ns.from == nil {
			if err := unix.Mount("tmpfs", "/run", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
				return fmt.Errorf("mount /run of %s: %w", ns.Name, err)
			}
		}
		file, err := os.Open("/proc/thread-self/ns/mnt")
		if err != nil {
			return fmt.Errorf("hold mount namespace of %s: %w", ns.Name, err)
		}
		ns.mount = file
		ns.Push(file.Close)
		return nil
	})
}

// BindNamespace names the container's network namespace in its host, as
// `ip netns` does, and returns the path. The name is removed with the container.
func (c *Container) BindNamespace() (path string, err error) {
	path = filepath.Join("/run/netns", c.Short)
	err = c.Host.Inside(func() error {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, nil, 0o444); err != nil {
			return err
		}
		return unix.Mount(fmt.Sprintf("/proc/self/fd/%d", c.net.Fd()), path, "", unix.MS_BIND, "")
	})
	if err != nil {
		return "", fmt.Errorf("name network namespace of %s: %w", c.Name, err)
	}
	c.Detach.Push(func() error {
		return c.Host.Inside(func() error { return errors.Join(unix.Unmount(path, unix.MNT_DETACH), os.Remove(path)) })
	})
	return path, nil
}

// mountSys mounts a /sys that shows the thread's network namespace, with the
// cgroups of the old one: a daemon that can't see its cgroups does not start.
// Where the kernel refuses a new /sys to a user namespace (a container whose
// /sys is partly masked), the old one stays; so does one that shows the
// namespace already (a container on its host's network).
func mountSys() error {
	cgroups, err := unix.OpenTree(unix.AT_FDCWD, "/sys/fs/cgroup", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	hasCgroups := err == nil
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("hold /sys/fs/cgroup: %w", err)
	}
	err = unix.Mount("sysfs", "/sys", "sysfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if err == nil && hasCgroups {
		err = unix.MoveMount(cgroups, "", unix.AT_FDCWD, "/sys/fs/cgroup", unix.MOVE_MOUNT_F_EMPTY_PATH)
	} else if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EBUSY) {
		err = nil
	}
	if hasCgroups {
		err = errors.Join(err, unix.Close(cgroups))
	}
	return err
}
