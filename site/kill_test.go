package site_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"

	"tare/catalog"
	"tare/lab"
	"tare/site"
	"tare/test/labtest"
)

// own builds labs, runs something in them, has containers come and go, and takes
// them down, until it is killed. It says each step before it.
func own() error {
	ctx := context.Background()
	var l *site.Lab
	return again([]step{
		{"starts", func() (err error) { l, err = site.Start(ctx); return err }},
		{"builds", func() error { return l.Build(ctx, specOf("bridge", "vxlan", "proxy", "nat")) }},
		{"runs", func() error {
			for _, at := range []string{"bridge.h1", "vxlan.h1/c1", "proxy.h2"} {
				if _, err := l.Agent(ctx, at, "server"); err != nil {
					return err
				}
			}
			return nil
		}},
		{"makes a container", func() error { _, err := l.Attach(ctx, "proxy", catalog.PublishedPort); return err }},
		{"makes a process", func() error { _, err := l.Lifecycle(ctx, "bridge"); return err }},
		{"closes", func() error { return l.Close() }},
	})
}

// upAgainAndAgain makes a named lab and takes it down, until it is killed.
func upAgainAndAgain(name string) error {
	ctx := context.Background()
	spec := specOf("bridge", catalog.Baseline)
	spec.Name = name
	return again([]step{
		{"up", func() error { _, err := site.Up(ctx, spec); return err }},
		{"down", func() error { return site.Down(ctx, name) }},
	})
}

type step struct {
	name string
	do   func() error
}

// again does steps until it is killed, and says each before it.
func again(steps []step) error {
	for {
		for _, s := range steps {
			fmt.Println(s.name)
			if err := s.do(); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
}

// killed starts this binary with the arguments and kills it in a step.
func killed(t *testing.T, in string, arguments ...string) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", arguments...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	at := ""
	for said := bufio.NewScanner(out); at != in && said.Scan(); {
		at = said.Text()
	}
	labtest.Equal(t, "the last step", at, in)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Errorf("%v ended by itself", arguments)
	}
}

// Whatever a lab's owner is doing when it is killed, nothing stays. test/chaos kills at any
// other moment.
func TestLabUserOwnerKilledLeavesNothing(t *testing.T) {
	for _, in := range []string{"starts", "builds", "runs", "makes a container", "makes a process", "closes"} {
		t.Run(in, func(t *testing.T) {
			labtest.NoLeaks(t)
			killed(t, in, "own")
		})
	}
}

// Whatever the maker of a named lab is doing when it is killed, what stays is
// in the ledger and can be taken down.
func TestLabUserMakerKilledLeavesWhatCanBeTakenDown(t *testing.T) {
	name := labName("maker")
	for _, in := range []string{"up", "down"} {
		t.Run(in, func(t *testing.T) {
			labtest.NoLeaks(t)
			killed(t, in, "up", name)
			if err := site.Down(t.Context(), name); err != nil && !errors.Is(err, site.ErrNoLab) {
				t.Error(err)
			}
		})
	}
}

// A keeper whose owner was killed before the kernel knew that it should end with it ends
// all the same; else it lives as long as the owner.
func TestLabUserKeeperEndsWithItsOwner(t *testing.T) {
	t.Run("killed at once", func(t *testing.T) { keeperEndsWithItsOwner(t, false) })
	t.Run("killed later", func(t *testing.T) { keeperEndsWithItsOwner(t, true) })
}

func keeperEndsWithItsOwner(t *testing.T, later bool) {
	labtest.NoLeaks(t)
	address := "@" + labName("owner")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: address, Net: "unix"})
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
	if later {
		labtest.Contains(t, "answer", sendRaw(t, address, `{"do":"show"}`+"\n", 0), "topology")
	}
	if err := owner.Close(); err != nil {
		t.Fatal(err)
	}
	var ended *exec.ExitError // with the status of a keeper that has lost its owner
	if err := cmd.Wait(); err != nil && !errors.As(err, &ended) {
		t.Error(err)
	}
}
