package site_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tare/site"
	"tare/test/labtest"
)

// reachOnce reaches a place that keeps what is sent, and gives the names of what is kept.
func reachOnce(t *testing.T, cache, command string) []string {
	t.Helper()
	place := through("h1", command)
	place.Keep = true
	e, err := site.Reach(t.Context(), placesOf(place), "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	kept, err := os.ReadDir(filepath.Join(cache, "tare", "far"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range kept {
		names = append(names, file.Name())
	}
	return names
}

// What was sent to a place that keeps it is sent once, and is sent again when it has changed.
func TestLabUserPlaceKeepsWhatWasSent(t *testing.T) {
	labtest.NeedsTier(t)
	noneLeft(t)
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	first := reachOnce(t, cache, "")
	labtest.Equal(t, "programs", len(first), 1)

	folder := filepath.Join(cache, "tare", "far")
	older := filepath.Join(folder, strings.Repeat("0", len(first[0])))
	if err := os.WriteFile(older, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	const noMore = "sh -c 'dd bs=65536 count=60 2>/dev/null | \"$@\"' -" // than 60 messages
	again := reachOnce(t, cache, noMore)
	labtest.Equal(t, "programs after the second time", strings.Join(again, " "), first[0])

	kept := filepath.Join(folder, first[0])
	if err := os.WriteFile(kept, []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "programs after one was changed", strings.Join(reachOnce(t, cache, ""), " "), first[0])
	if info, err := os.Stat(kept); err != nil || info.Size() < 1<<20 {
		t.Errorf("the kept program is %v, %v", info, err)
	}
}

// A cache that can't be written, or runs no programs, is done without.
func TestLabUserPlaceThatCanKeepNothing(t *testing.T) {
	labtest.NeedsTier(t)
	noneLeft(t)
	cache := t.TempDir()
	place := through("h1", "env XDG_CACHE_HOME=/proc")
	place.Keep = true
	noExec := through("h1", "unshare -m sh -c 'mount -t tmpfs -o noexec none "+cache+"; XDG_CACHE_HOME="+cache+" exec \"$@\"' -")
	noExec.Keep = true
	for name, place := range map[string]site.Far{"not written": place, "not run": noExec} {
		t.Run(name, func(t *testing.T) {
			e, err := site.Reach(t.Context(), placesOf(place), "test")
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A place whose machine is another gets the program for it, from beside this one: a folder
// that an ordinary user may not write to.
func TestLabPlaceOfAnotherMachineGetsItsProgram(t *testing.T) {
	labtest.NeedsTier(t)
	noneLeft(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	// That it is for this machine lets it run here; that it is longer shows which was sent.
	beside := filepath.Join(filepath.Dir(self), "tare-linux-arm64")
	if err := os.WriteFile(beside, append(text, 0), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(beside); err != nil {
			t.Error(err)
		}
	})
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "uname"), []byte("#!/bin/sh\necho aarch64\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	kept := reachOnce(t, cache, "env PATH="+folder+":$PATH")
	labtest.Equal(t, "programs", len(kept), 1)
	info, err := os.Stat(filepath.Join(cache, "tare", "far", kept[0]))
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "bytes of the program that was sent", info.Size(), int64(len(text)+1))
}
