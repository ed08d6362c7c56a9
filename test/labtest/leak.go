// Package labtest is what tests share: checks of single values, the footprint
// that a lab must not leave behind, a port for a server, and running the tests
// again as an ordinary user.
package labtest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Mark is the environment variable that every process of a test carries, so
// that what it leaves behind is distinguished from what others do on the machine.
// A test's TestMain sets it to a word that no other test uses.
const Mark = "TARE_TEST"

// LeakWait is how long the kernel gets to remove what no process holds any more, on a machine that
// other tests keep busy.
const LeakWait = time.Minute

// footprint is what a lab must not leave behind.
type footprint struct {
	Links       []string // of this process's network namespace
	Mounts      string   // of its mount namespace
	Processes   []string // that carry its mark
	Namespaces  []string // network namespaces of those, and of this process's threads
	Descriptors int      // that it holds open
}

// NoLeaks compares the footprint before and after a test.
func NoLeaks(t testing.TB) {
	t.Helper()
	NeedsTier(t)
	before := look(t)
	t.Cleanup(func() {
		left := look(t).beyond(before)
		for deadline := time.Now().Add(LeakWait); len(left) > 0 && time.Now().Before(deadline); left = look(t).beyond(before) {
			time.Sleep(10 * time.Millisecond)
		}
		if len(left) > 0 {
			t.Errorf("the lab leaves behind: %s", strings.Join(left, "; "))
		}
	})
}

// beyond lists what f has more than an earlier footprint. What ended in
// between, as the rest of an earlier test, is no leak; links and mounts must
// be as before.
func (f footprint) beyond(before footprint) []string {
	var left []string
	for what, lists := range map[string][2][]string{
		"process": {before.Processes, f.Processes}, "network namespace": {before.Namespaces, f.Namespaces},
	} {
		for _, name := range lists[1] {
			if !slices.Contains(lists[0], name) {
				left = append(left, what+" "+name)
			}
		}
	}
	if !slices.Equal(f.Links, before.Links) {
		left = append(left, fmt.Sprintf("links %v, before %v", f.Links, before.Links))
	}
	if f.Mounts != before.Mounts {
		left = append(left, fmt.Sprintf("mounts\n%s\nbefore\n%s", f.Mounts, before.Mounts))
	}
	if f.Descriptors > before.Descriptors {
		left = append(left, fmt.Sprintf("%d descriptors, before %d", f.Descriptors, before.Descriptors))
	}
	return left
}

func look(t testing.TB) footprint {
	t.Helper()
	var f footprint
	links, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		f.Links = append(f.Links, link.Name)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	f.Mounts = string(mounts)
	namespaces := map[string]bool{}
	for _, pid := range Marked(t) {
		f.Processes = append(f.Processes, pid)
		// A process or thread that ends meanwhile is none that was left.
		threads, err := filepath.Glob("/proc/" + pid + "/task/*/ns/net")
		if err != nil {
			t.Fatal(err)
		}
		for _, thread := range threads {
			if name, err := os.Readlink(thread); err == nil {
				namespaces[name] = true
			}
		}
	}
	for name := range namespaces {
		f.Namespaces = append(f.Namespaces, name)
	}
	sort.Strings(f.Namespaces)
	f.Descriptors = Descriptors(t)
	return f
}

// Marked lists the processes of this test, itself included.
func Marked(t testing.TB) []string {
	t.Helper()
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	ours := []byte(Mark + "=" + os.Getenv(Mark) + "\x00")
	self := strconv.Itoa(os.Getpid())
	var pids []string
	for _, path := range environments {
		pid := filepath.Base(filepath.Dir(path))
		text, err := os.ReadFile(path) // of others' processes: refused
		if pid == self || err == nil && bytes.Contains(text, ours) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Descriptors counts the open files, without those of Go's own poller.
func Descriptors(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, entry := range entries {
		target, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%s", entry.Name()))
		if err == nil && !strings.HasPrefix(target, "anon_inode:[event") {
			count++
		}
	}
	return count
}
