package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// steer makes the host pay for its own receive work: packets that arrive on the
// device are handed to the host's CPUs (RPS, scaling.rst), as they would be on a
// separate machine. steered is false where only the machine's root may set it.
func (h *Host) steer(device string) (steered bool, err error) {
	err = onThread(func() error {
		if err := h.enter(); err != nil {
			return err
		}
		queues, err := filepath.Glob("/sys/class/net/" + device + "/queues/rx-*/rps_cpus")
		if err != nil {
			return err
		}
		for _, queue := range queues {
			if err := os.WriteFile(queue, []byte(h.CPUs.mask()), 0); err != nil {
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
