package network

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"tare/lab"
)

// seal keeps an engine, which believes that it has the machine to itself, from
// changing it: what it writes into the folders given stays in the host's own
// memory, and of the sysctls it may set those of the network namespace only.
// They must be there.
func seal(h *lab.Host, folders ...string) error {
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
			return fmt.Errorf("keep %s of the machine as it is in %s: mount overlay: %w", folder, h.Name, err)
		}
	}
	if err := h.Inside(sealSysctls); err != nil {
		return fmt.Errorf("keep sysctls of the machine as they are in %s: %w", h.Name, err)
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
