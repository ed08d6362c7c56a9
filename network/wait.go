package network

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// WaitVerb is the hidden command that keeps a real engine's container there.
const WaitVerb = "wait"

// Wait waits until it is told to end. As the init of a container it reaps
// those whose parents have ended before them.
func Wait() {
	told := make(chan os.Signal, 1)
	signal.Notify(told, unix.SIGTERM, unix.SIGINT, unix.SIGCHLD)
	for signal := range told {
		if signal != unix.SIGCHLD {
			return
		}
		for {
			if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); pid <= 0 && err != unix.EINTR {
				break
			}
		}
	}
}
