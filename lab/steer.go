package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// defaultSteering is the mask of CPUs that the devices of a namespace begin with: since
// Linux 6.3 (net/core/sysctl_net_core.c), and also an ordinary user may set it in a
// namespace of theirs.
const defaultSteering = "net/core/rps_default_mask"

// steerNew has the devices that are created in the host from now on begin with its CPUs,
// or with none. Where the kernel has no such setting, or this user may not change it,
// nothing is done.
func (h *Host) steerNew(on bool) error {
	mask := "0"
	if on {
		mask = h.CPUs.mask()
	}
	err := h.Sysctl(defaultSteering, mask)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return nil
	}
	return err
}

// steer makes the host pay for its own receive work: packets that arrive on the
// device are handed to the host's CPUs (RPS, scaling.rst), as they would be on a
// separate machine. A device that began with them needs nothing. steered is false where
// it did not, and only the machine's root may change it.
func (h *Host) steer(device string) (steered bool, err error) {
	err = onThread(func() error {
		if err := h.enter(); err != nil {
			return err
		}
		queues, err := filepath.Glob("/sys/class/net/" + device + "/queues/rx-*/rps_cpus")
		if err != nil {
			return err
		}
		mask := h.CPUs.mask()
		for _, queue := range queues {
			has, err := os.ReadFile(queue)
			if err != nil {
				return err
			}
			if sameMask(string(has), mask) {
				continue
			}
			if err := os.WriteFile(queue, []byte(mask), 0); err != nil {
				return err
			}
		}
		steered = len(queues) > 0
		return nil
	})
	if errors.Is(err, os.ErrPermission) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("steer packets of %s in %s: %w", device, h.Name, err)
	}
	return steered, nil
}

// sameMask compares two masks of CPUs, of which the kernel writes all words.
func sameMask(a, b string) bool {
	short := func(mask string) string { return strings.TrimLeft(strings.TrimSpace(mask), "0,") }
	return short(a) == short(b)
}
