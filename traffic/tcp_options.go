package traffic

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// setCongestion sets the congestion control of all flows, if one is named, and
// reads it back.
func setCongestion(fds []int, name string) (string, error) {
	if name != "" {
		for _, fd := range fds {
			if err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name); err != nil {
				return "", fmt.Errorf("set congestion control %q: %w; net.ipv4.tcp_available_congestion_control lists what the kernel has, "+
					"tcp_allowed_congestion_control what an ordinary user may set", name, err)
			}
		}
	}
	return congestion(fds[0])
}

// congestion reads back the name of the congestion control that fd uses.
func congestion(fd int) (string, error) {
	name, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err != nil {
		return "", fmt.Errorf("read TCP_CONGESTION: %w", err)
	}
	return name, nil
}

// noDelay sets TCP_NODELAY on all flows or clears it.
func noDelay(fds []int, on bool) error {
	value := asInt(on)
	for _, fd := range fds {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, value); err != nil {
			return fmt.Errorf("set TCP_NODELAY to %d: %w", value, err)
		}
	}
	return nil
}
