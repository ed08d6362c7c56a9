package kubernetes

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"tare/engine"
)

// WaitVerb is what the container of a pod runs that has an image of tare.
const WaitVerb = "wait-in-pod"

// lookEvery is how often a pod looks whether somebody uses it.
const lookEvery = 5 * time.Second

// Wait waits until no other process has run in the container for so long, or SIGTERM
// or SIGINT. So a pod ends soon after its run, whatever became of the other side.
func Wait(idle time.Duration) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGCHLD)
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	used := time.Now()
	for time.Since(used) < idle {
		select {
		case s := <-signals:
			if s != unix.SIGCHLD {
				return nil
			}
			engine.Reap()
		case <-look.C:
			others, err := others()
			if err != nil {
				return err
			}
			if others {
				used = time.Now()
			}
		}
	}
	return nil
}

// others reports whether the container has processes besides this one.
func others() (bool, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false, fmt.Errorf("look for other processes of the container: %w", err)
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() {
			return true, nil
		}
	}
	return false, nil
}
