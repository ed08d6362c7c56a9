package site_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"tare/lab"
	"tare/network"
	"tare/site"
	"tare/test/labtest"
)

// own builds labs, runs something in them, has containers come and go, and takes
// them down, until it is killed.
func own() error {
	ctx := context.Background()
	for {
		l, err := site.Start(ctx)
		if err != nil {
			return err
		}
		if err := l.Build(ctx, specOf("bridge", "vxlan", "proxy", "nat")); err != nil {
			return err
		}
		for _, at := range []string{"bridge.h1", "vxlan.h1/c1", "proxy.h2"} {
			if _, err := l.Agent(ctx, at, "server"); err != nil {
				return err
			}
		}
		for begun := time.Now(); time.Since(begun) < 50*time.Millisecond; {
			_, errAttach := l.Attach(ctx, "proxy", network.PublishedPort)
			_, errLifecycle := l.Lifecycle(ctx, "bridge")
			if err := errors.Join(errAttach, errLifecycle); err != nil {
				return err
			}
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
}

// upAgainAndAgain makes a named lab and takes it down, until it is killed.
func upAgainAndAgain(name string) error {
	ctx := context.Background()
	spec := specOf("bridge", network.Baseline)
	spec.Name = name
	for {
		if _, err := site.Up(ctx, spec); err != nil {
			return err
		}
		if err := site.Down(ctx, name); err != nil {
			return err
		}
	}
}

// killed starts this binary with the arguments and kills it after a while.
func killed(t *testing.T, after time.Duration, arguments ...string) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", arguments...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		t.Fatalf("%v ended by itself: %v", arguments, err)
	case <-time.After(after):
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
}

// longest is beyond what a lab takes from its start to its end.
const longest = 500 * time.Millisecond

// Whatever a lab's owner is doing when it is killed, nothing stays.
func TestLabUserOwnerKilledLeavesNothing(t *testing.T) {
	for range 10 {
		after := rand.N(longest)
		t.Run(after.String(), func(t *testing.T) {
			labtest.NoLeaks(t)
			killed(t, after, "own")
		})
	}
}

// Whatever the maker of a named lab is doing when it is killed, what stays is
// in the ledger and can be taken down.
func TestLabUserMakerKilledLeavesWhatCanBeTakenDown(t *testing.T) {
	name := labName("maker")
	for range 10 {
		after := rand.N(longest / 4)
		t.Run(after.String(), func(t *testing.T) {
			labtest.NoLeaks(t)
			killed(t, after, "up", name)
			if err := site.Down(t.Context(), name); err != nil && !errors.Is(err, site.ErrNoLab) {
				t.Error(err)
			}
		})
	}
}

// A keeper whose owner was killed before the kernel knew that it should end with it ends
// all the same; else it lives as long as the owner.
func TestLabUserKeeperEndsWithItsOwner(t *testing.T) {
	for name, lives := range map[string]time.Duration{"killed at once": 0, "killed later": 300 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			labtest.NoLeaks(t)
			listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: "@" + labName("owner"), Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			file, err := listener.File()
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			cmd := exec.Command("/proc/self/exe", site.KeeperVerb)
			cmd.SysProcAttr = lab.Attributes(false) // as where its owner was gone before it asked
			cmd.ExtraFiles = []*os.File{file}
			owner, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case err := <-ended:
				t.Fatalf("it ended before its owner: %v", err)
			case <-time.After(lives):
			}
			if err := owner.Close(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-ended: // with the status of a keeper that has lost its owner
			case <-time.After(labtest.LeakWait):
				t.Errorf("it lives %v after its owner", labtest.LeakWait)
				if err := cmd.Process.Kill(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
