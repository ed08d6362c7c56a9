package traffic

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// SetCongestion sets the congestion control of a socket, if one is named. Set it
// before the connection: what the one before began stays. BBR's pacing is kept by
// whatever replaces it (bbr_init in net/ipv4/tcp_bbr.c sets sk_pacing_status, Linux
// 4.13 to 6.18), and cubic is then paced too.
func SetCongestion(fd int, name string) error {
	if name == "" {
		return nil
	}
	if err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name); err != nil {
		return refusedControl(name, err)
	}
	return nil
}

// refusedControl is why a socket can't have a congestion control, and what would help.
func refusedControl(name string, err error) error {
	help := "net.ipv4.tcp_available_congestion_control lists what the kernel has: choose one of these with --cc"
	if errors.Is(err, unix.EPERM) {
		help = "without CAP_NET_ADMIN, which a container's root lacks too, a process may have those of net.ipv4.tcp_allowed_congestion_control: " +
			"add it there, on the machine itself, or leave out --cc"
	}
	return fmt.Errorf("set congestion control %q: %w; %s", name, err, help)
}

// AcceptFlows accepts n flows of the run and welcomes them, under the named congestion control;
// empty: the machine's, or the route's. Flows take it from the run's listener.
func (a *Acceptor) AcceptFlows(name string, n int) ([]int, error) {
	if a.lent == nil { // one that is lent is another run's, too
		if err := SetCongestion(a.listener, name); err != nil {
			return nil, err
		}
	}
	fds, err := a.acceptFlows(n)
	for _, fd := range fds { // one that waited already has the machine's
		err = errors.Join(err, SetCongestion(fd, name))
	}
	if err != nil {
		CloseSockets(fds)
		return nil, err
	}
	return fds, nil
}

// Congestion reads back the name of the congestion control that fd uses.
func Congestion(fd int) (string, error) {
	name, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err != nil {
		return "", fmt.Errorf("read TCP_CONGESTION: %w", err)
	}
	return name, nil
}

// NoDelay sets TCP_NODELAY on all flows or clears it.
func NoDelay(fds []int, on bool) error {
	value := 0
	if on {
		value = 1
	}
	for _, fd := range fds {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, value); err != nil {
			return fmt.Errorf("set TCP_NODELAY to %d: %w", value, err)
		}
	}
	return nil
}
