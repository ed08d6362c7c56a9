package site_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A shell's descriptors, as that of flock, are open in what it starts: a keeper that held them
// would hold the lock until the lab is down.
func TestLabKeeperHoldsNoDescriptorOfItsCaller(t *testing.T) {
	var ends [2]int
	if err := unix.Pipe(ends[:]); err != nil { // without close-on-exec, as a shell's
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(ends[0]); unix.Close(ends[1]) })
	l := start(t)
	shells, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", ends[1]))
	if err != nil {
		t.Fatal(err)
	}
	held, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", l.KeeperPID()))
	if err != nil || len(held) == 0 {
		t.Fatalf("the keeper holds %v, %v", held, err)
	}
	for _, file := range held {
		if is, err := os.Readlink(file); err == nil && is == shells {
			t.Errorf("the keeper holds %s of its caller, as %s", is, filepath.Base(file))
		}
	}
}
