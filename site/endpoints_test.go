package site_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tare/agent"
	"tare/protocol"
	"tare/result"
	"tare/site"
	"tare/test/labtest"
	"tare/workload"
)

// through is a place in its own network namespace, whose loopback is up, and into which
// the command goes by another.
func through(name, command string) site.Far {
	return site.Far{Name: name, Command: "unshare -Urn sh -c 'ip link set lo up; exec \"$@\"' - " + command}
}

// placesOf are places that commands reach.
func placesOf(places ...site.Far) site.Way {
	return site.Way{Site: result.SiteEndpoint, Places: places}
}

// noneLeft has programs sent into a folder, and fails where one is there after the test.
func noneLeft(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", folder)
	t.Cleanup(func() {
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	})
}

func TestLabUserPlaceIsReachedByACommand(t *testing.T) {
	labtest.NeedsTier(t)
	for name, command := range map[string]string{
		"nothing":        "",
		"a greeting":     "sh -c 'echo Welcome to this machine; exec \"$@\"' -",
		"a small folder": "env XDG_RUNTIME_DIR=/nonexistent",
		"no exec there":  "unshare -m sh -c 'mount -t tmpfs -o noexec none $XDG_RUNTIME_DIR; exec \"$@\"' -",
	} {
		t.Run(name, func(t *testing.T) {
			noneLeft(t)
			e, err := site.Reach(t.Context(), placesOf(through("h1", command)), "test")
			if err != nil {
				t.Fatal(err)
			}
			server, err := e.Agent(t.Context(), "host.h1", "server")
			if err != nil {
				t.Fatal(err)
			}
			client, err := e.Agent(t.Context(), "host.h1", "client")
			if err != nil {
				t.Fatal(err)
			}
			run := workload.Run{Token: strings.Repeat("07", 16), Mode: "block", Flows: 1, Size: 1, Duration: 20 * time.Millisecond}
			out, err := agent.Measure(t.Context(), server, client, "tcp_rr", run, "127.0.0.1:5220", "127.0.0.1:5220")
			if err != nil || out.Sample().Metrics["rate"] <= 0 {
				t.Errorf("rate %v, %v", out.Sample().Metrics["rate"], err)
			}
			labtest.Equal(t, "boot", e.Topology.Places[0].Boot != "", true)
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLabUserPlaceThatIsNotReached(t *testing.T) {
	labtest.NeedsTier(t)
	folder := t.TempDir()
	other := filepath.Join(folder, "uname")
	if err := os.WriteFile(other, []byte("#!/bin/sh\necho sparc64\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	noFolder := "unshare -Um --map-root-user sh -c 'for d in /dev/shm /tmp /var/tmp; do mount -t tmpfs -o noexec none $d; done; cd /proc; HOME=/proc XDG_RUNTIME_DIR=/dev/shm exec \"$@\"' -"
	for name, c := range map[string]struct {
		place site.Far
		want  []string
	}{
		"no such program": {site.Far{Name: "h1", Command: "/nonexistent"}, []string{"reach h1", "/nonexistent: not found"}},
		"it ends":         {site.Far{Name: "h1", Command: "sh -c 'echo Permission denied >&2; exit 255'"}, []string{"it ended", "Permission denied"}},
		"no shell":        {site.Far{Name: "h1", Command: "true"}, []string{"it ended", "try it: echo echo it works | true sh"}},
		"it loses bytes":  {site.Far{Name: "h1", Command: "sh -c 'dd bs=65536 count=60 2>/dev/null | \"$@\"' -"}, []string{"reach h1", "it ended", "other bytes came than were sent"}},
		"it changes them": {site.Far{Name: "h1", Command: "sh -c '{ head -n 1; tr Q q; } | \"$@\"' -"}, []string{"it ended", "other bytes came than were sent"}},
		"another machine": {site.Far{Name: "h1", Command: "env PATH=" + folder + ":$PATH"}, []string{"sparc64", "make dist", "--far-path"}},
		"no folder":       {site.Far{Name: "h1", Command: noFolder}, []string{"no folder", "--far-path"}},
		"another version": {site.Far{Name: "h1", Program: "/proc/self/exe"}, []string{"h1"}},
	} {
		t.Run(name, func(t *testing.T) {
			noneLeft(t)
			_, err := site.Reach(t.Context(), placesOf(c.place), "test")
			if err == nil {
				t.Fatal("it is reached")
			}
			for _, want := range c.want {
				labtest.Contains(t, "error", err.Error(), want)
			}
		})
	}
}

// A place that goes away is named, and is lost for the run.
func TestLabUserPlaceThatGoesAway(t *testing.T) {
	labtest.NeedsTier(t)
	noneLeft(t)
	pid := filepath.Join(t.TempDir(), "pid")
	e, err := site.Reach(t.Context(), placesOf(through("h1", "sh -c 'echo $$ >"+pid+"; exec \"$@\"' -")), "test")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	h, err := e.Agent(t.Context(), "host.h1", "server")
	if err != nil {
		t.Fatal(err)
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(id, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	labtest.Await(t, "the agent that was there is known to be broken", func() bool { return h.Broken() != nil })
	_, err = e.Agent(t.Context(), "host.h1", "server")
	if err == nil {
		t.Fatal("an agent is there")
	}
	labtest.Contains(t, "error", err.Error(), "outpost at h1: its command ended: signal: killed")
	if broken := new(protocol.BrokenError); !errors.As(err, &broken) {
		t.Errorf("the run goes on to ask there: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
