package engine

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"tare/lab"
)

// Seal keeps an engine, which assumes that it has the machine to itself, from
// changing the machine: what it writes into the given folders, which must exist,
// stays in the host's memory, and it can set only the sysctls of the network
// namespace.
func Seal(h *lab.Host, folders ...string) error {
	for _, folder := range folders {
		over := filepath.Join(lab.Scratch, "over", filepath.Base(folder))
		if err := h.WriteFile(filepath.Join(over, "upper", ".new"), nil, 0o600); err != nil {
			return err
		}
		if err := h.WriteFile(filepath.Join(over, "work", ".new"), nil, 0o600); err != nil {
			return err
		}
		options := fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work", folder, over, over)
		err := h.Inside(func() error { return unix.Mount("overlay", folder, "overlay", 0, options) })
		if err != nil {
			return fmt.Errorf("protect %s of the machine from %s: mount overlay: %w", folder, h.Name, err)
		}
	}
	if err := h.Inside(sealSysctls); err != nil {
		return fmt.Errorf("protect the machine's sysctls from %s: %w", h.Name, err)
	}
	return nil
}

func sealSysctls() error {
	const all, network = "/proc/sys", "/proc/sys/net"
	if err := unix.Mount(all, all, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s: %w", all, err)
	}
	if err := unix.Mount("", all, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("write-protect %s: %w", all, err)
	}
	if err := unix.Mount(network, network, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s: %w", network, err)
	}
	if err := unix.Mount("", network, "", unix.MS_REMOUNT|unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("leave %s writable: %w", network, err)
	}
	return nil
}
