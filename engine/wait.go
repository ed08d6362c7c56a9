package engine

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"tare/lab"
)

// WaitVerb is the hidden command that a container's first process runs.
const WaitVerb = "wait"

// WaitCommand is the first process of a lab's container.
func WaitCommand() []string { return []string{lab.SelfInImage, WaitVerb} }

// Wait waits for SIGTERM or SIGINT. As the init of a container it reaps the
// processes whose parents have ended.
func Wait() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGCHLD)
	for signal := range signals {
		if signal != unix.SIGCHLD {
			return
		}
		Reap()
	}
}

// Reap waits for the children that have ended: those of the init of a container are
// whoever lost its parent.
func Reap() {
	for {
		if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); pid <= 0 && err != unix.EINTR {
			return
		}
	}
}
