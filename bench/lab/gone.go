package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	allowance = "/proc/sys/user/max_net_namespaces"
	// held is what this user namespace holds without a lab: the network
	// namespace that the bench itself runs in.
	held = 1
	// unlimited is enough for any lab.
	unlimited = 1 << 20
	pollStep  = 200 * time.Microsecond
	goneWait  = time.Minute
)

// waitUntilGone waits until the kernel has freed every namespace but the
// bench's own, and returns when it had.
func waitUntilGone() (time.Time, error) {
	if err := allow(held + 1); err != nil {
		return time.Time{}, err
	}
	gone, err := waitUntilGranted()
	if err != nil {
		return gone, err
	}
	// The one that was granted must be gone too before the next round.
	if _, err = waitUntilGranted(); err != nil {
		return gone, err
	}
	return gone, allow(unlimited)
}

// waitUntilGranted asks for a namespace until there is one.
func waitUntilGranted() (time.Time, error) {
	for deadline := time.Now().Add(goneWait); ; time.Sleep(pollStep) {
		asked := time.Now()
		err := onThread(func() error { return unix.Unshare(unix.CLONE_NEWNET) })
		if err == nil {
			return asked, nil
		}
		if !errors.Is(err, unix.ENOSPC) {
			return asked, fmt.Errorf("ask for a namespace: %w", err)
		}
		if asked.After(deadline) {
			return asked, fmt.Errorf("namespaces are still there after %s: something else holds them", goneWait)
		}
	}
}

func allow(namespaces int) error {
	if err := os.WriteFile(allowance, fmt.Appendf(nil, "%d", namespaces), 0); err != nil {
		return fmt.Errorf("limit network namespaces: %w", err)
	}
	return nil
}
